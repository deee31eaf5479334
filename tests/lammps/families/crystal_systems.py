"""Rock-salt systems of the families' tests, and what a model's own package gives for them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from models import Model
from systems import System, crystal, molecule, rock_salt

# A cell narrower than the cutoff and oblique, the same squeezed, and a cluster in vacuum.
SMALL = {
    "skewed": crystal([[5.64, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]], amplitude=0.1),
    "squeezed": rock_salt(1, amplitude=0.25, lattice=5.3),
    "cluster": molecule(20.0, n=6, boundary="f f f"),
}
LARGE = rock_salt((3, 2, 2), amplitude=0.1)
EVERY = SMALL | {"large": LARGE}
# What packages/*.py make of each family.
FORMS = {"mace": ("edges", "lammps"), "nequip": ("edges", "forces"), "allegro": ("edges", "forces")}


@dataclass
class PackageResults:
    energy: float                 # eV
    forces: np.ndarray            # [n, 3] eV/A
    stress: np.ndarray | None     # [3, 3] eV/A^3, positive under tension; none without a volume


@dataclass
class Packaged:
    models: dict[str, Model]                  # by form
    results: dict[str, PackageResults]        # by name of system


def symbols(system: System) -> list[str]:
    return [system.elements[kind - 1] for kind in system.types]


def atoms(system: System):
    from ase import Atoms
    return Atoms(symbols(system), system.positions, cell=system.cell, pbc=system.periodic)


def save_results(folder: Path, results: dict[str, PackageResults]) -> None:
    arrays = {}
    for name, found in results.items():
        arrays |= {f"{name}.energy": np.array(found.energy), f"{name}.forces": found.forces}
        if found.stress is not None:
            arrays[f"{name}.stress"] = found.stress
    np.savez(folder / "package.npz", **arrays)


def load_results(folder: Path) -> dict[str, PackageResults]:
    with np.load(folder / "package.npz") as arrays:
        return {name: PackageResults(float(arrays[f"{name}.energy"]), arrays[f"{name}.forces"],
                                     arrays[f"{name}.stress"] if f"{name}.stress" in arrays else None)
                for name in EVERY}
