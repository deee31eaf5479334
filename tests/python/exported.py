"""An exported model run in Python from its two files alone; crystals; the command line."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from ase.build import bulk
from ase.neighborlist import neighbor_list


@dataclass
class Result:
    energy: float
    node_energy: np.ndarray    # [n]
    forces: np.ndarray         # [n, 3]
    stress: np.ndarray         # [3, 3], tensile positive


class SpecModel:
    """A model as its spec file describes it: only what a user of the two files can know."""

    def __init__(self, spec: Path):
        self.fields = json.loads(spec.read_text())["model"]
        self.module = torch.jit.load(str(spec.parent / self.fields["file"])).eval()
        self.dtype = getattr(torch, self.fields["dtype"])

    def types(self, atoms):
        return torch.tensor([self.fields["elements"].index(s) for s in atoms.get_chemical_symbols()],
                            dtype=torch.int64)

    def node_energy(self, types, edge_index, edge_vectors):
        if self.fields["family"] == "sevennet":
            count = torch.tensor([len(types)])
            return self.module({"x": types, "edge_index": edge_index, "edge_vec": edge_vectors,
                                "num_atoms": count, "nlocal": count})["atomic_energy"].squeeze(1)
        return self.module(**{self.fields["inputs"]["types"]: types,
                              self.fields["inputs"]["edge_index"]: edge_index,
                              self.fields["inputs"]["edge_vectors"]: edge_vectors})

    def __call__(self, atoms) -> Result:
        receivers, senders, vectors = neighbor_list("ijD", atoms, self.fields["cutoff"])
        edge_vectors = torch.tensor(vectors.reshape(-1, 3), dtype=self.dtype, requires_grad=True)
        edge_index = torch.tensor(np.stack([receivers, senders]), dtype=torch.int64)
        node_energy = self.node_energy(self.types(atoms), edge_index, edge_vectors)
        energy = node_energy.sum()
        gradient, = torch.autograd.grad(energy, edge_vectors)
        forces = torch.zeros(len(atoms), 3, dtype=self.dtype)
        forces.index_add_(0, edge_index[0], gradient).index_add_(0, edge_index[1], -gradient)
        strain = (edge_vectors.detach().T @ gradient).double().numpy()
        volume = atoms.get_volume() if atoms.cell.rank == 3 else np.inf
        return Result(energy.item(), node_energy.detach().double().numpy(),
                      forces.double().numpy(), strain / volume)


def rock_salt(repeat: int = 2, rattle: float = 0.08, seed: int = 0):
    atoms = bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat(repeat)
    atoms.rattle(rattle, seed=seed)
    return atoms


def run_command(*arguments, expect: int = 0) -> str:
    """Runs `python -m mlip_dd` and returns what it printed, both streams together."""
    done = subprocess.run([sys.executable, "-m", "mlip_dd", *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == expect, done.stdout
    return done.stdout
