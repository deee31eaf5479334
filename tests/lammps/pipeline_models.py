"""Scripted models that make per-atom fields and take them, and the files of pipelines made of them."""

import json
from pathlib import Path

import torch
from models import Model

GEOMETRY = ("types", "edge_index", "edge_vectors")


class Charges(torch.nn.Module):
    """Charges from the surroundings within 5 A, and an energy of what they differ from +1 and -1 by."""

    def __init__(self, strength: float = 0.02):
        super().__init__()
        self.strength = strength

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor):
        receivers, senders = edge_index[0], edge_index[1]
        sign = 1.0 - 2.0 * types.to(torch.float64)
        squared = (edge_vectors * edge_vectors).sum(1)
        weight = self.strength * (1.0 - squared / 25.0) ** 3 * (1.0 + 0.3 * torch.sqrt(squared))
        change = torch.zeros_like(sign).index_add(0, receivers, weight * sign[senders])
        return 0.3 * change * change, sign + change


class Pairs(torch.nn.Module):
    """An energy of pairs within 4 A of atoms that carry `strength`."""

    def forward(self, edge_index: torch.Tensor, edge_vectors: torch.Tensor, strength: torch.Tensor):
        receivers, senders = edge_index[0], edge_index[1]
        weight = (1.0 - (edge_vectors * edge_vectors).sum(1) / 16.0) ** 3
        pair = weight * strength[receivers] * strength[senders]
        return torch.zeros_like(strength).index_add(0, receivers, pair)


def scripted_spec(folder: Path, name: str, module: torch.nn.Module, cutoff: float, inputs, outputs) -> dict:
    file = folder / f"{name}.pt"
    torch.jit.script(module).save(str(file))
    return {"spec": "SPEC_MPNN_HALO", "model": {
        "potential": "torchscript", "file": str(file), "cutoff": cutoff, "layers": 1,
        "dtype": "float64", "elements": ["Na", "Cl"],
        "inputs": {name: name for name in inputs}, "outputs": {name: str(k) for k, name in enumerate(outputs)}}}


def charges_spec(folder: Path) -> dict:
    return scripted_spec(folder, "charges", Charges(), 5.0, GEOMETRY, ("node_energy", "charges"))


def native_spec(potential: str, cutoff: float, elements=("Na", "Cl"), **parameters) -> dict:
    return {"spec": f"SPEC_{potential.upper()}_HALO", "model": {
        "potential": potential, "cutoff": cutoff, "elements": list(elements), "parameters": parameters}}


def pipeline(folder: Path, name: str, models: dict, *groups: dict) -> Model:
    """A file of these groups; without any, one that adds up all models."""
    spec = folder / f"{name}.json"
    groups = groups or ({"steps": list(models)},)
    spec.write_text(json.dumps({"pipeline": {"models": models, "groups": list(groups)}}))
    return Model(spec, double=True)


def single(folder: Path, name: str, spec: dict) -> Model:
    file = folder / f"{name}.json"
    file.write_text(json.dumps(spec))
    return Model(file, double=True)


def committee_of(export, folder: Path) -> tuple[Model, list[Model]]:
    """Three models, and the three as one."""
    seeds = [Model(export("toy", "--layers", "2", "--seed", str(k)), True) for k in (1, 2, 3)]
    spec = json.loads(seeds[0].spec.read_text())
    spec["model"]["file"] = [str(model.file) for model in seeds]
    return single(folder, "committee", spec), seeds
