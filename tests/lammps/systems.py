"""Configurations of atoms, and the data files LAMMPS reads them from. numpy only."""

from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import numpy as np

LATTICE = 5.64    # Angstrom, cubic cell of NaCl
MASSES = {"H": 1.008, "C": 12.011, "O": 15.999, "Na": 22.99, "Cl": 35.45, "Ar": 39.95, "Si": 28.09,
          "H": 1.008, "C": 12.011, "N": 14.007, "O": 15.999}
# Cubic cell: four Na, four Cl.
_SITES = np.array([[0, 0, 0], [.5, .5, 0], [.5, 0, .5], [0, .5, .5],
                   [.5, 0, 0], [0, .5, 0], [0, 0, .5], [.5, .5, .5]])
_SITE_TYPES = np.array([1, 1, 1, 1, 2, 2, 2, 2])


@dataclass
class System:
    """Rows of `cell` are the box vectors in LAMMPS's form: a along x, b in the xy plane. Types count from 1."""

    positions: np.ndarray                 # [n, 3] Angstrom
    types: np.ndarray                     # [n]
    cell: np.ndarray                      # [3, 3] Angstrom
    origin: np.ndarray = field(default_factory=lambda: np.zeros(3))
    boundary: str = "p p p"
    elements: tuple[str, ...] = ("Na", "Cl")    # by type
    bonds: tuple[tuple[int, int], ...] = ()     # atom IDs, from 1

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def volume(self) -> float:
        return float(np.linalg.det(self.cell))

    @property
    def triclinic(self) -> bool:
        return bool(np.any(self.cell - np.diag(np.diag(self.cell))))

    @property
    def periodic(self) -> tuple[bool, ...]:
        return tuple(word == "p" for word in self.boundary.split())

    def moved(self, shift) -> "System":
        """The same atoms in the same box, box and atoms moved together."""
        return replace(self, positions=self.positions + shift, origin=self.origin + shift)

    def atoms_moved(self, shift) -> "System":
        """Atoms moved in a box that stays; they may end outside."""
        return replace(self, positions=self.positions + shift)

    def part(self, mask) -> "System":
        return replace(self, positions=self.positions[mask], types=self.types[mask], bonds=())


def rattled(system: System, amplitude: float, seed: int) -> System:
    noise = np.random.default_rng(seed).normal(0.0, amplitude, system.positions.shape)
    return replace(system, positions=system.positions + noise)


def crystal(cell, amplitude: float = 0.08, seed: int = 1) -> System:
    """The eight-atom NaCl cell, bent into `cell`, with its atoms off their sites."""
    cell = np.asarray(cell, float)
    return rattled(System(_SITES @ cell, _SITE_TYPES, cell), amplitude, seed)


def supercell(base: System, matrix) -> tuple[System, np.ndarray]:
    """The same infinite crystal with box vectors `matrix` @ base.cell, and each atom's index in `base`.

    matrix: [3, 3] integers, lower triangular with positive diagonal, so that the box keeps LAMMPS's form.
    """
    matrix = np.asarray(matrix)
    inverse = np.linalg.inv(matrix)
    reach = range(-int(abs(matrix).sum()), int(abs(matrix).sum()) + 1)
    # Lattice points whose coordinates in the new cell lie in [0, 1).
    shifts = [s for s in product(reach, repeat=3)
              if np.all(np.round(s @ inverse, 9) >= 0) and np.all(np.round(s @ inverse, 9) < 1)]
    assert len(shifts) == round(np.linalg.det(matrix))
    positions = np.concatenate([base.positions + s @ base.cell for s in shifts])
    parents = np.tile(np.arange(len(base)), len(shifts))
    return replace(base, positions=positions, types=base.types[parents], cell=matrix @ base.cell), parents


def rock_salt(repeat, amplitude: float = 0.08, seed: int = 1, lattice: float = LATTICE) -> System:
    """NaCl, `repeat` cubic cells along each axis (one number or three), every atom off its site."""
    repeat = (repeat,) * 3 if isinstance(repeat, int) else repeat
    ideal, _ = supercell(System(_SITES * lattice, _SITE_TYPES, np.eye(3) * lattice), np.diag(repeat))
    return rattled(ideal, amplitude, seed)


def molecule(box: float = 40.0, n: int = 12, seed: int = 5, boundary: str = "p p p") -> System:
    """A loose cluster of n atoms around the middle of a large cubic box, no two closer than 2.2 A."""
    rng = np.random.default_rng(seed)
    positions: list[np.ndarray] = []
    while len(positions) < n:
        candidate = rng.uniform(-4.0, 4.0, 3)
        if all(np.linalg.norm(candidate - other) > 2.2 for other in positions):
            positions.append(candidate)
    return System(np.array(positions) + box / 2, np.arange(n) % 2 + 1, np.eye(3) * box, boundary=boundary)


def write_data(system: System, path: Path, style: str = "atomic") -> Path:
    """A data file for atom_style `style`; charges and molecule IDs, where the style has them, are not zero."""
    lines = ["made for a test", "", f"{len(system)} atoms", f"{len(system.elements)} atom types"]
    if system.bonds:
        lines += [f"{len(system.bonds)} bonds", "1 bond types"]
    low, high = system.origin, system.origin + np.diag(system.cell)
    lines += [f"{low[d]:.17g} {high[d]:.17g} {axis}lo {axis}hi" for d, axis in enumerate("xyz")]
    if system.triclinic:
        lines += [f"{system.cell[1, 0]:.17g} {system.cell[2, 0]:.17g} {system.cell[2, 1]:.17g} xy xz yz"]
    lines += ["", "Masses", ""]
    lines += [f"{k} {MASSES[name]}" for k, name in enumerate(system.elements, 1)]
    if len(system):
        lines += ["", f"Atoms # {style}", ""]
    for k, (position, kind) in enumerate(zip(system.positions, system.types), 1):
        charge = 0.5 if kind == 1 else -0.5
        columns = {"atomic": f"{kind}", "charge": f"{kind} {charge}", "molecular": f"1 {kind}",
                   "bond": f"1 {kind}", "full": f"1 {kind} {charge}"}[style]
        lines.append(f"{k} {columns} " + " ".join(f"{value:.17g}" for value in position))
    if system.bonds:
        lines += ["", "Bonds", ""] + [f"{k} 1 {i} {j}" for k, (i, j) in enumerate(system.bonds, 1)]
    path.write_text("\n".join(lines) + "\n")
    return path
