"""Configurations of NaCl, displaced and strained at random, with SevenNet-0's energies, forces and stresses.

    python label.py FRAMES frames.xyz
"""

import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
from ase.build import bulk  # noqa: E402
from ase.calculators.singlepoint import SinglePointCalculator  # noqa: E402
from ase.io import write  # noqa: E402
from sevenn.calculator import SevenNetCalculator  # noqa: E402

STRAIN, DISPLACEMENT = 0.02, (0.05, 0.2)    # standard deviations; Angstrom, from and to


def main(count: int, output: Path) -> None:
    rng = np.random.default_rng(1)
    calculator = SevenNetCalculator("7net-0", device="cpu")
    frames = []
    for _ in range(count):
        atoms = bulk("NaCl", "rocksalt", a=5.7, cubic=True) * (2, 1, 1)
        strain = rng.normal(0, STRAIN, (3, 3))
        atoms.set_cell(atoms.cell @ (np.eye(3) + 0.5 * (strain + strain.T)), scale_atoms=True)
        atoms.positions += rng.normal(0, rng.uniform(*DISPLACEMENT), atoms.positions.shape)
        calculator.calculate(atoms, ["energy"])
        atoms.calc = SinglePointCalculator(atoms, **{name: calculator.results[name]
                                                     for name in ("energy", "forces", "stress")})
        frames.append(atoms)
    write(output, frames, format="extxyz")


main(int(sys.argv[1]), Path(sys.argv[2]))
