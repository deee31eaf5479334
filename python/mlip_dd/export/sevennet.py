"""SevenNet (package `sevenn`): its serial TorchScript deployment, made by its own code, unmodified."""

import argparse
import os
from pathlib import Path

from mlip_dd.errors import UserError, nearest
from mlip_dd.export.package_work import package_work
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "SevenNet: a pretrained model by name (7net-0, 7net-l3i5, 7net-mf-0, ...), or a checkpoint file"
REQUIREMENTS = {"sevenn": "sevenn==0.13.0"}
DTYPES = {"single": "float32", "double": "float64"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="name of a pretrained model, or path of a checkpoint (.pth)")
    parser.add_argument("--modal", help="data set to speak for, in models trained on several (7net-mf-0: PBE)")


def _load(model: str):
    from sevenn.util import get_available_pretrained_models, load_checkpoint, pretrained_name_to_path

    if not os.path.isfile(model):
        try:
            pretrained_name_to_path(model)
        except ValueError:
            names = get_available_pretrained_models()
            raise UserError(f"'{model}' is neither a file nor a SevenNet model. The nearest name is "
                            f"'{nearest(model, names)}'; all of them: {', '.join(names)}.") from None
        except (OSError, FileNotFoundError) as error:
            raise UserError(f"The checkpoint of '{model}' does not come with the package and could not be "
                            f"fetched ({error}). Download it and give its path instead.") from error
    checkpoint = load_checkpoint(model)
    try:
        checkpoint.config
    except Exception as error:  # a pickle can fail in any way
        raise UserError(f"'{model}' can't be read as a SevenNet checkpoint ({error}). "
                        "Give a checkpoint written by `sevenn`, or the name of a pretrained model.") from error
    return checkpoint


def _check_modal(model: str, modal: str | None, known: list[str]) -> None:
    if modal is None and known:
        raise UserError(f"'{model}' was trained on several data sets; say which one to speak for: "
                        f"--modal {' or --modal '.join(known)}.")
    if modal is not None and not known:
        raise UserError(f"'{model}' was trained on one data set, so --modal {modal} has no meaning. Leave it out.")
    if modal is not None and modal not in known:
        raise UserError(f"'{model}' knows no data set '{modal}'. The nearest is '{nearest(modal, known)}'; "
                        f"all of them: {', '.join(known)}.")


def _export(arguments: argparse.Namespace) -> ExportedModel:
    from ase.data import chemical_symbols
    from sevenn.scripts.deploy import deploy

    checkpoint = _load(arguments.model)
    config = checkpoint.config
    _check_modal(arguments.model, arguments.modal, list(config.get("_modal_map") or {}))

    stem = Path(arguments.model).stem if os.path.isfile(arguments.model) else arguments.model
    name = stem if arguments.modal is None else f"{stem}-{arguments.modal}"
    file = prepare_folder(arguments.output) / f"{name}.pt"
    deploy(checkpoint.checkpoint_path, str(file), modal=arguments.modal)

    index_of_number = config["_type_map"]
    elements = [chemical_symbols[number] for number in sorted(index_of_number, key=index_of_number.get)]
    cutoff, layers = float(config["cutoff"]), int(config["num_convolution_layer"])
    dtype = DTYPES[config.get("dtype", "single")]
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": "sevennet", "file": file.name, "cutoff": cutoff,
                "layers": layers, "elements": elements, "units": "metal", "dtype": dtype},
        summary=f"SevenNet {name}, {len(elements)} elements, cutoff {cutoff:g} A, {layers} layers, {dtype}")


def run(arguments: argparse.Namespace) -> ExportedModel:
    with package_work("Exporting SevenNet", REQUIREMENTS):
        return _export(arguments)
