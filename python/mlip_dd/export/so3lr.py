"""SO3LR (package `so3krates_torch`): the package's own layers, traced over a list of edges."""

import argparse
import os
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

from mlip_dd.errors import UserError
from mlip_dd.export.package_work import package_work
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "SO3LR: the pretrained model that comes with the package so3krates_torch, or a checkpoint file of it"
REQUIREMENTS = {"so3krates_torch": "so3krates-torch==0.2.1", "torch_ema": "torch-ema", "h5py": "h5py"}
# What the published model was trained on (Kabylda et al., J. Am. Chem. Soc. 147, 33723 (2025)).
PRETRAINED_ELEMENTS = ("H", "C", "N", "O", "F", "P", "S", "Cl")
# The package's defaults for its calculator: where the long-range terms end, and over what width they fade.
LONG_CUTOFF, LONG_FADE = 12.0, 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", default="so3lr", help="path of a checkpoint (.model), or so3lr (the default)")
    parser.add_argument("--long-cutoff", type=float, default=LONG_CUTOFF, help="of charges and dispersion, Angstrom (12)")
    parser.add_argument("--no-electrostatics", dest="electrostatics", action="store_false",
                        help="leave out the energy of its charges, for a pipeline that feeds them into ewald or pme")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="(float32)")


def load(model: str, long_cutoff: float):
    """The package's model in evaluation mode, with the long-range cutoff (Angstrom) set."""
    import torch

    path = model
    if not os.path.isfile(model):
        if model != "so3lr":
            raise UserError(f"There is no checkpoint '{model}'. Give a file, or so3lr for the pretrained model.")
        path = str(resources.files("so3krates_torch.pretrained.so3lr") / "so3lr.model")
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=False)
    except ImportError:
        raise
    except Exception as error:    # a pickle can fail in any way
        raise UserError(f"'{path}' can't be read as a checkpoint of SO3LR ({error}). Give a .model file.") from error
    if not getattr(loaded, "use_lr", False) or getattr(loaded, "use_pme", False) or hasattr(loaded, "num_output_heads"):
        raise UserError(f"'{path}' is no SO3LR model with charges and dispersion summed to a cutoff and one energy, which "
                        "is what is exported. Give another checkpoint.")
    loaded.r_max_lr = long_cutoff
    loaded.dispersion_energy_cutoff_lr_damping = LONG_FADE
    return loaded.eval()


def edges_module(model, dtype, electrostatics: bool = True):
    """The traced module: per-atom energies, charges and Hirshfeld ratios from the edges within the long cutoff."""
    import torch

    class NoEnergy(torch.nn.Module):
        """In place of the package's sum over pairs of charges."""

        def forward(self, partial_charges, *_, **__):
            return torch.zeros_like(partial_charges).view(-1, 1)

    class SharedCharges(torch.nn.Module):
        """Charges, what they miss of the total dealt out evenly; `head` is the package's.

        The package's own division of whole numbers would be done in whatever dtype is torch's default then.
        """

        def __init__(self, head):
            super().__init__()
            self.embedding, self.transform = head.atomic_embedding, head.transform_inv_features

        def forward(self, inv_features, atomic_numbers, total_charge, batch_segments, num_graphs):
            charges = self.transform(inv_features).squeeze(-1) + self.embedding(atomic_numbers).squeeze(-1)
            nothing = torch.zeros([num_graphs], dtype=dtype, device=charges.device)
            atoms = nothing.index_add(0, batch_segments, torch.ones_like(batch_segments, dtype=dtype))
            missing = total_charge - nothing.index_add(0, batch_segments, charges)
            return charges + (missing / atoms)[batch_segments]

    class OverEdges(torch.nn.Module):
        """Hands the package's layers a graph that is made already, so that edge vectors are what they depend on."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, atomic_numbers, edge_index, edge_vectors, batch, total_charge, total_spin):
            lengths = torch.linalg.vector_norm(edge_vectors, dim=1, keepdim=True)
            near = torch.nonzero(lengths.squeeze(1) < model.r_max).squeeze(1)
            one_hot = torch.zeros([atomic_numbers.size(0), model.num_elements], dtype=dtype,
                                  device=atomic_numbers.device).scatter(
                1, (atomic_numbers - 1).unsqueeze(1), torch.ones_like(atomic_numbers, dtype=dtype).unsqueeze(1))
            graph = SimpleNamespace(
                is_lammps=False, num_atoms_arange=None, num_graphs=1, displacement=None, vectors_all=None, cell=None,
                node_heads=None, interaction_kwargs=SimpleNamespace(lammps_natoms=(0, 0), lammps_class=None),
                positions=torch.zeros([atomic_numbers.size(0), 3], dtype=dtype, device=atomic_numbers.device),
                vectors=edge_vectors.index_select(0, near), lengths=lengths.index_select(0, near),
                vectors_lr=edge_vectors, lengths_lr=lengths)
            # Attributes of a module can't be set while it is traced; the instance's own dictionary can.
            object.__setattr__(model, "_get_graph", lambda **_: object.__setattr__(model, "ctx", graph))
            found = model({
                "node_attrs": one_hot, "atomic_numbers": atomic_numbers, "edge_index": edge_index.index_select(1, near),
                "edge_index_lr": edge_index, "batch": batch, "ptr": torch.zeros(2, dtype=torch.int64),
                "head": torch.zeros(1, dtype=torch.int64), "total_charge": total_charge, "total_spin": total_spin,
            }, compute_force=False)
            return found["node_energy"].view(-1), found["partial_charges"].view(-1), found["hirshfeld_ratios"].view(-1)

    if not electrostatics:
        model.electrostatic_potential = NoEnergy()
    model.partial_charges_output_block = SharedCharges(model.partial_charges_output_block)
    model.to(dtype)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    # Water whose second hydrogen is far from the rest: sizes are all different.
    numbers = torch.tensor([8, 1, 1])
    positions = torch.tensor([[0.0, 0.0, 0.0], [0.757, 0.586, 0.0], [-6.0, 0.586, 0.0]], dtype=dtype)
    index = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]])
    vectors = (positions[index[1]] - positions[index[0]]).requires_grad_(True)
    nothing = torch.zeros(1, dtype=dtype)
    inputs = (numbers, index, vectors, torch.zeros(3, dtype=torch.int64), nothing, nothing.clone())
    return torch.jit.freeze(torch.jit.trace(OverEdges().eval(), inputs, check_trace=False).eval())


def _export(arguments: argparse.Namespace) -> ExportedModel:
    import torch

    dtype = getattr(torch, arguments.dtype)
    model = load(arguments.model, arguments.long_cutoff)
    near_cutoff, layers = float(model.r_max), int(model.num_layers)
    if arguments.long_cutoff <= near_cutoff:
        raise UserError(f"--long-cutoff {arguments.long_cutoff:g} must be above the model's own cutoff, {near_cutoff:g} A.")
    name = "so3lr" if not os.path.isfile(arguments.model) else Path(arguments.model).stem
    name += "" if arguments.electrostatics else "-no-electrostatics"
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)    # the package makes some of its tensors by the default
    try:
        module = edges_module(model, dtype, arguments.electrostatics)
    finally:
        torch.set_default_dtype(before)
    file = prepare_folder(arguments.output) / f"{name}-{arguments.dtype}.pt"
    torch.jit.save(module, str(file))
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": "so3lr", "file": file.name, "cutoff": arguments.long_cutoff,
                "layers": layers, "elements": list(PRETRAINED_ELEMENTS), "units": "metal", "dtype": arguments.dtype},
        summary=f"SO3LR {name}, {len(PRETRAINED_ELEMENTS)} elements, cutoffs {near_cutoff:g} and "
                f"{arguments.long_cutoff:g} A, {layers} layers, {arguments.dtype}")


def run(arguments: argparse.Namespace) -> ExportedModel:
    with package_work("Exporting SO3LR", REQUIREMENTS):
        return _export(arguments)
