"""NequIP and Allegro (packages `nequip`, `nequip-allegro`): TorchScript made by the package's own code, as energies
by edge vectors, or with the forces that the package's model makes inside."""

import argparse
import copy
from pathlib import Path

from mlip_dd.errors import UserError
from mlip_dd.export.package_work import package_work
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "NequIP or Allegro: a checkpoint (.ckpt) or package (.nequip.zip) of the package nequip"
REQUIREMENTS = {"nequip": "nequip==0.19.1", "allegro": "nequip-allegro==0.8.3"}
FORMS = ("edges", "forces")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="path of a checkpoint (.ckpt) or a packaged model (.nequip.zip)")
    parser.add_argument("--form", choices=FORMS, default="edges",
                        help="edges: energies by edge vectors (default); forces: the package's deployed model, which "
                             "makes forces inside")


def _load(path: Path):
    from nequip.model.saved_models import load_utils
    from nequip.utils.global_state import set_global_state

    if not path.exists():
        raise UserError(f"There is no NequIP model '{path}'. Give the path of a .ckpt or .nequip.zip file.")
    set_global_state(allow_tf32=False)
    try:
        return load_utils.load_saved_model(path)
    except ImportError:
        raise
    except Exception as error:  # archives fail in many ways
        raise UserError(f"'{path}' can't be read as a NequIP model ({error}). "
                        "Give a checkpoint or package written by `nequip`.") from error


def _is_allegro(model) -> bool:
    return any(type(module).__module__.split(".")[0] == "allegro" for module in model.modules())


def _layers(model) -> int:
    """Rounds of message passing; none in Allegro, which is strictly local."""
    return sum(type(module).__name__ == "ConvNetLayer" for module in model.modules())


def export_model(model, folder: Path, name: str, form: str) -> ExportedModel:
    """`model`: the package's GraphModel on the CPU. Its energies are differentiated inside with form "forces" alone."""
    from nequip.model.inference_models.torchscript import save_torchscript_model

    model = copy.deepcopy(model).eval()    # the package scripts its modules in place
    derivatives = [module for module in model.modules() if hasattr(module, "do_derivatives")]
    for module in derivatives:
        module.do_derivatives = form == "forces"
    if form == "forces" and not derivatives:
        raise UserError("The model makes no forces of its own. Use --form edges.")
    allegro, layers = _is_allegro(model), _layers(model)
    if not allegro and layers == 0:
        raise UserError("The model is neither an Allegro nor has it layers of NequIP that could be counted, and a wide "
                        "halo has to know how many there are. Only models of these two families are exported.")
    # The package writes whether its matrix products may be rounded; they may not.
    metadata = {**model.metadata, "allow_tf32": "0"}
    file = prepare_folder(folder) / f"{name}-{form}.nequip.pth"
    save_torchscript_model(model, metadata, str(file), "cpu")

    family = ("allegro" if allegro else "nequip") if form == "edges" else "nequip_forces"
    elements, cutoff = metadata["type_names"].split(), float(metadata["r_max"])
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": family, "file": file.name, "cutoff": cutoff, "layers": layers,
                "elements": elements, "units": "metal", "dtype": metadata["model_dtype"]},
        summary=f"{'Allegro' if allegro else 'NequIP'} {name}, {len(elements)} elements, cutoff {cutoff:g} A, "
                f"{layers} layers, {metadata['model_dtype']}")


def run(arguments: argparse.Namespace) -> ExportedModel:
    with package_work("Exporting NequIP or Allegro", REQUIREMENTS):
        name = arguments.model.name.removesuffix(".zip").removesuffix(".nequip").removesuffix(".ckpt")
        return export_model(_load(arguments.model), arguments.output, name, arguments.form)
