"""ANI (package `torchani`): its networks, applied over edges by a scripted module of ours."""

import argparse
from pathlib import Path

from mlip_dd.export.package_work import package_work
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "ANI: the pretrained ensemble ANI-1x that comes with the package torchani"
REQUIREMENTS = {"torchani": "torchani==2.2.4", "pkg_resources": "setuptools<81", "lark": "lark-parser",
                "importlib_metadata": "importlib-metadata"}
# Folder of the package's resources, and its symmetry functions; the other ensembles are not in the package.
MODELS = {"ani1x": ("ani-1x_8x", "rHCNO-5.2R_16-3.5A_a4-8.params")}
MEMBERS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", choices=tuple(MODELS), help="name of the ensemble")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32",
                        help="float64 takes the same weights to double (float32)")


def ensemble(name: str, dtype: str):
    """The package's ensemble of networks as its BuiltinEnsemble, in this dtype; types count H C N O from 0."""
    import torch
    import torchani

    folder, constants_file = MODELS[name]
    # The package would look for a list of these files on the network.
    resources = Path(torchani.__file__).parent / "resources" / folder
    constants = torchani.neurochem.Constants(str(resources / constants_file))
    shifter, energies = torchani.neurochem.load_sae(str(resources / "sae_linfit.dat"), return_dict=True)
    networks = torchani.neurochem.load_model_ensemble(constants.species, str(resources / "train"), MEMBERS)
    model = torchani.models.BuiltinEnsemble(
        torchani.SpeciesConverter(constants.species), torchani.AEVComputer(**constants), networks, shifter,
        constants.species_to_tensor, constants, energies, False).eval().to(getattr(torch, dtype))
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model


def _export(arguments: argparse.Namespace) -> ExportedModel:
    import torch

    from mlip_dd.export.ani_model import ANIEdges

    model = ensemble(arguments.model, arguments.dtype)
    module = ANIEdges(model).eval()
    file = prepare_folder(arguments.output) / f"{arguments.model}-{arguments.dtype}.pt"
    torch.jit.save(torch.jit.freeze(torch.jit.script(module)), str(file))
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": "ani", "file": file.name, "cutoff": module.cutoff, "layers": 0,
                "elements": list(model.species), "units": "metal", "dtype": arguments.dtype},
        summary=f"{arguments.model}, {len(model.species)} elements, cutoffs {module.near_cutoff:g} and "
                f"{module.cutoff:g} A, {arguments.dtype}")


def run(arguments: argparse.Namespace) -> ExportedModel:
    with package_work("Exporting ANI", REQUIREMENTS):
        return _export(arguments)
