"""MACE (package `mace-torch`): a model file of the package, over edge vectors or as the package exports it."""

import argparse
import copy
from pathlib import Path

from mlip_dd.errors import UserError, nearest
from mlip_dd.export.package_work import package_work
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "MACE: a model file written by its package (.model)"
REQUIREMENTS = {"mace": "mace-torch==0.3.16", "e3nn": "e3nn"}
FORMS = ("edges", "lammps")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="path of a model file (.model)")
    parser.add_argument("--head", help="readout to speak for, in models with several")
    parser.add_argument("--dtype", choices=("float32", "float64"), help="(that of the file)")
    parser.add_argument("--form", choices=FORMS, default="edges",
                        help="edges: energies by edge vectors (default); lammps: the package's LAMMPS_MACE, which makes "
                             "forces inside")


def _load(path: Path):
    import torch

    if not path.is_file():
        raise UserError(f"There is no MACE model file '{path}'. Give the path of a file written by `mace`.")
    try:
        model = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as error:  # a pickle can fail in any way
        if isinstance(error, ImportError):
            raise
        raise UserError(f"'{path}' can't be read as a MACE model ({error}). Give a file written by `mace`.") from error
    if not hasattr(model, "interactions") or not hasattr(model, "r_max"):
        raise UserError(f"'{path}' holds a {type(model).__name__}, which is no MACE model of energies.")
    return model


def _head_index(model, head: str | None) -> int:
    heads = [str(name) for name in getattr(model, "heads", ["Default"])]
    if head is None:
        return len(heads) - 1
    if head not in heads:
        raise UserError(f"The model has no head '{head}'. The nearest is '{nearest(head, heads)}'; all of them: "
                        f"{', '.join(heads)}.")
    return heads.index(head)


def export_model(model, folder: Path, name: str, form: str, head: str | None = None) -> ExportedModel:
    """`model`: a module of the package, in the dtype wanted."""
    import torch
    from ase.data import chemical_symbols
    from e3nn.util import jit

    from mlip_dd.export.mace_model import UNSUPPORTED, EdgeMace

    index = _head_index(model, head)
    model = copy.deepcopy(model).to("cpu").eval()
    dtype = next(model.parameters()).dtype
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        if form == "edges":
            for attribute, what in UNSUPPORTED.items():
                if hasattr(model, attribute):
                    raise UserError(f"The model uses {what}, which this form lacks. Use --form lammps.")
            scripted = jit.compile(EdgeMace(model, index))
        else:
            from mace.calculators import LAMMPS_MACE
            scripted = jit.compile(LAMMPS_MACE(model, head=list(getattr(model, "heads", ["Default"]))[index]))
    finally:
        torch.set_default_dtype(before)
    file = prepare_folder(folder) / f"{name}-{form}.pt"
    scripted.save(str(file))

    elements = [chemical_symbols[int(number)] for number in model.atomic_numbers]
    cutoff, layers, width = float(model.r_max), int(model.num_interactions), str(dtype).removeprefix("torch.")
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": "mace" if form == "edges" else "mace_lammps", "file": file.name,
                "cutoff": cutoff, "layers": layers, "elements": elements, "units": "metal", "dtype": width},
        summary=f"MACE {name}, {len(elements)} elements, cutoff {cutoff:g} A, {layers} layers, {width}")


def run(arguments: argparse.Namespace) -> ExportedModel:
    with package_work("Exporting MACE", REQUIREMENTS):
        import torch

        model = _load(arguments.model)
        if arguments.dtype:
            model = model.to(getattr(torch, arguments.dtype))
        return export_model(model, arguments.output, arguments.model.stem, arguments.form, arguments.head)
