"""CHGNet (package `chgnet`): its layers and weights, applied over edges by a scripted module of ours."""

import argparse
import contextlib
import io

from mlip_dd.export.package_work import package_work
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "CHGNet: a pretrained model that comes with the package chgnet"
REQUIREMENTS = {"chgnet": "chgnet==0.4.2", "pymatgen": "pymatgen", "pynvml": "nvidia-ml-py3"}
MODELS = ("0.3.0", "r2scan")
PLACES = 32    # bonds of an atom: closest packing has 18 within 1.4 times the nearest distance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", choices=MODELS, default="0.3.0", help="version of the package's model (0.3.0)")
    parser.add_argument("--places", type=int, default=PLACES,
                        help=f"the most bonds that an atom may have within the shorter cutoff ({PLACES})")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32",
                        help="float64 takes the same weights to double (float32)")


def pretrained(name: str, dtype: str):
    """The package's model in evaluation mode, in this dtype, on the CPU."""
    import torch
    from chgnet.model.model import CHGNet

    with contextlib.redirect_stdout(io.StringIO()):
        model = CHGNet.load(model_name=name, use_device="cpu", verbose=False)
    model = model.eval().to(getattr(torch, dtype))
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = float(module.p)    # scripting takes no whole number
    return model


def _export(arguments: argparse.Namespace) -> ExportedModel:
    import torch
    from ase.data import chemical_symbols

    from mlip_dd.export.chgnet_model import CHGNetEdges

    model = pretrained(arguments.model, arguments.dtype)
    module = CHGNetEdges(model, arguments.places).eval()
    file = prepare_folder(arguments.output) / f"chgnet-{arguments.model}-{arguments.dtype}.pt"
    torch.jit.save(torch.jit.freeze(torch.jit.script(module)), str(file))
    elements = chemical_symbols[1:1 + model.atom_embedding.embedding.num_embeddings]
    # A bond's feature takes one more round of neighbours than its atoms': what a wide halo must hold.
    layers = 2 * len(model.atom_conv_layers) - 1
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": "chgnet", "file": file.name, "cutoff": module.cutoff, "layers": layers,
                "elements": elements, "units": "metal", "dtype": arguments.dtype},
        summary=f"CHGNet {arguments.model}, {len(elements)} elements, cutoffs {module.near_cutoff:g} and "
                f"{module.cutoff:g} A, {arguments.dtype}")


def run(arguments: argparse.Namespace) -> ExportedModel:
    with package_work("Exporting CHGNet", REQUIREMENTS):
        return _export(arguments)
