"""The models of the suite: how pair_style names them, and what they give without LAMMPS."""

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import torch
from systems import System


@dataclass(frozen=True)
class Model:
    spec: Path
    double: bool    # which tolerances hold

    @cached_property
    def fields(self) -> dict:
        return json.loads(self.spec.read_text())["model"]

    @property
    def cutoff(self) -> float:
        return self.fields["cutoff"]

    @property
    def layers(self) -> int:
        return self.fields["layers"]

    @property
    def file(self) -> Path:
        return self.spec.parent / self.fields["file"]


def pairs_within(system: System, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Receivers, senders [E] and vectors [E, 3] of all pairs closer than `reach`, images included; by brute force."""
    heights = system.volume / np.linalg.norm(np.cross(np.roll(system.cell, -1, 0), np.roll(system.cell, -2, 0)), axis=1)
    # Atoms may lie outside the box, by less than one box vector.
    images = [range(-m, m + 1) if p else range(1)
              for m, p in zip(np.ceil(reach / heights).astype(int) + 1, system.periodic)]
    found = []
    for image in product(*images):
        shift = image @ system.cell
        vectors = system.positions[None] + shift - system.positions[:, None]
        near = (vectors ** 2).sum(2) < reach ** 2
        if not any(image):
            np.fill_diagonal(near, False)
        receivers, senders = np.nonzero(near)
        found.append((receivers, senders, vectors[near]))
    return tuple(np.concatenate(parts) for parts in zip(*found))


@dataclass
class Evaluation:
    energy: float               # eV
    node_energy: np.ndarray     # [n]
    forces: np.ndarray          # [n, 3] eV/A
    virial: np.ndarray          # [3, 3] eV, sum of x_a F_b
    node_virial: np.ndarray     # [n, 3, 3] eV, half of each edge to each end
    centroid_virial: np.ndarray    # [n, 3, 3] eV, each edge to its sender


def evaluate_bare(model: Model, system: System) -> Evaluation:
    """A model of family generic on all atoms at once: no LAMMPS, no ranks, no ghosts."""
    receivers, senders, vectors = pairs_within(system, model.cutoff)
    module = torch.jit.load(str(model.file)).eval()
    names = model.fields["inputs"]
    edge_vectors = torch.tensor(vectors, dtype=getattr(torch, model.fields["dtype"]), requires_grad=True)
    of_type = [model.fields["elements"].index(name) for name in system.elements]
    types = torch.tensor([of_type[kind - 1] for kind in system.types])
    node_energy = module(**{names["types"]: types, names["edge_index"]: torch.tensor(np.stack([receivers, senders])),
                            names["edge_vectors"]: edge_vectors})
    gradient = torch.autograd.grad(node_energy.sum(), edge_vectors)[0].double().numpy()
    forces = np.zeros((len(system), 3))
    node_virial, centroid_virial = np.zeros((2, len(system), 3, 3))
    np.add.at(forces, receivers, gradient)
    np.add.at(forces, senders, -gradient)
    moments = -vectors[:, :, None] * gradient[:, None, :]
    np.add.at(node_virial, receivers, 0.5 * moments)
    np.add.at(node_virial, senders, 0.5 * moments)
    np.add.at(centroid_virial, senders, moments)
    values = node_energy.detach().double().numpy()
    return Evaluation(float(values.sum()), values, forces, moments.sum(0), node_virial, centroid_virial)
