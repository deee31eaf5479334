"""AIMNet2 (package `aimnet`): its weights, applied over edges by a scripted module of ours."""

import argparse
import os
from pathlib import Path

from mlip_dd.errors import UserError
from mlip_dd.export.package_work import package_work
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "AIMNet2: a model file of the package aimnet (.pt), or an untrained one (--untrained SEED)"
REQUIREMENTS = {"aimnet": "aimnet==0.2.6", "nvalchemiops": "nvalchemi-toolkit-ops==0.4.1",
                "warp": "warp-lang==1.19.0", "h5py": "h5py", "click": "click"}
# Of the package's untrained configuration: what its published models are made for.
UNTRAINED_ELEMENTS = (1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 33, 34, 35, 53)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("model", nargs="?", help="path of a model file of format 2, as the package fetches or exports it")
    source.add_argument("--untrained", metavar="SEED", type=int, help="the package's own configuration with random weights")
    parser.add_argument("--open-shell", action="store_true",
                        help="with --untrained: the form with charges of either spin, which takes the total spin")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32",
                        help="float64 takes the same weights to double (float32)")


def untrained(seed: int, open_shell: bool = False):
    """The package's AIMNet2 of its own configuration file, long-range sums left to others, weights drawn from `seed`."""
    import aimnet.models
    import torch
    import yaml
    from aimnet.config import build_module
    from aimnet.models.utils import strip_lr_modules_from_yaml

    text = (Path(aimnet.models.__file__).parent / "aimnet2.yaml").read_text(encoding="utf-8")
    config = strip_lr_modules_from_yaml(yaml.safe_load(text), {})[0]
    config["kwargs"]["num_charge_channels"] = 2 if open_shell else 1
    before, state = torch.get_default_dtype(), torch.get_rng_state()
    torch.set_default_dtype(torch.float32)
    try:
        torch.manual_seed(seed)
        return build_module(config).eval()
    finally:
        torch.set_default_dtype(before)
        torch.set_rng_state(state)


def _load(arguments: argparse.Namespace):
    if arguments.untrained is not None:
        form = "aimnet2-open-shell-untrained" if arguments.open_shell else "aimnet2-untrained"
        return untrained(arguments.untrained, arguments.open_shell), UNTRAINED_ELEMENTS, f"{form}-{arguments.untrained}"
    if arguments.open_shell:
        raise UserError("--open-shell belongs to --untrained: a model file is of one form or the other. Leave it out.")
    from aimnet.models.base import load_model

    if not os.path.isfile(arguments.model):
        raise UserError(f"There is no model file '{arguments.model}'. Give the path of a .pt file of the package aimnet.")
    try:
        model, metadata = load_model(arguments.model)
    except Exception as error:    # the package's checks raise many kinds
        raise UserError(f"'{arguments.model}' can't be read as an AIMNet2 model ({error}). Give a .pt file of format 2; "
                        "`aimnet` converts older ones.") from error
    if metadata["format_version"] != 2:
        raise UserError(f"'{arguments.model}' is of format {metadata['format_version']}, whose layers can't be told apart. "
                        "Convert it with the package to format 2 (.pt).")
    return model, tuple(metadata["implemented_species"]), Path(arguments.model).stem


def edges_module(model):
    """The scripted module of ours with the weights of the package's `model`."""
    import torch
    from aimnet.modules import AtomicShift, AtomicSum, Output, SRCoulomb

    from mlip_dd.export.aimnet2_model import AIMNet2Edges

    found: dict[type, torch.nn.Module] = {}
    for name, module in model.outputs.named_children():
        kind = next((kind for kind in (Output, AtomicShift, AtomicSum, SRCoulomb) if type(module) is kind), None)
        if kind is None or kind in found:
            raise UserError(f"The model computes '{name}' ({type(module).__name__}), which is not exported. Long-range "
                            "and dispersion energies are added by a pipeline; use a model without this output.")
        found[kind] = module
    if Output not in found or getattr(model.aev, "_dual_basis", False):
        raise UserError("The model has no energy per atom, or two sets of radial functions, which is not exported. "
                        "Use a model of the published AIMNet2 form.")
    module = AIMNet2Edges(model, found[Output].mlp, found.get(AtomicShift), found.get(SRCoulomb)).eval()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return torch.jit.freeze(torch.jit.script(module))


def _export(arguments: argparse.Namespace) -> ExportedModel:
    import torch
    from ase.data import chemical_symbols

    model, numbers, name = _load(arguments)
    if arguments.dtype == "float64":
        model = model.double()
    module = edges_module(model)
    file = prepare_folder(arguments.output) / f"{name}-{arguments.dtype}.pt"
    torch.jit.save(module, str(file))
    elements = [chemical_symbols[number] for number in numbers]
    cutoff, layers = float(model.aev.rc_s), len(model.mlps)
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": "aimnet2", "file": file.name, "cutoff": cutoff, "layers": layers,
                "elements": elements, "units": "metal", "dtype": arguments.dtype},
        summary=f"AIMNet2 {name}, {len(elements)} elements, cutoff {cutoff:g} A, {layers} layers, {arguments.dtype}")


def run(arguments: argparse.Namespace) -> ExportedModel:
    with package_work("Exporting AIMNet2", REQUIREMENTS):
        return _export(arguments)
