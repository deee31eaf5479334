"""The binding energy of two molecules against their distance, and the charge that passes between them.

    python binding.py both.txt first.txt second.txt -o dimer.png

Ends with a non-zero status if the package's own calculator says otherwise.
"""

import argparse
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from ase import Atoms
from ase.units import kcal, mol

# CCSD(T) at the limit of large basis sets: S22, Jurecka et al., Phys. Chem. Chem. Phys. 8, 1985 (2006).
REFERENCE = (2.91, -5.02)    # Angstrom, kcal/mol
GEOMETRY = np.array([[-1.551007, -0.114520, 0], [-1.934259, 0.762503, 0], [-0.599677, 0.040712, 0],
                     [1.350625, 0.111469, 0], [1.680398, -0.373741, -0.758561], [1.680398, -0.373741, 0.758561]])
AGREEMENT = 1e-6    # eV of 992: the package counts in another order


def package_energies(distances: np.ndarray) -> np.ndarray:
    """eV, by the calculator that the model comes with."""
    warnings.simplefilter("ignore")
    from so3krates_torch.calculator.so3 import SO3LRCalculator
    calculator = SO3LRCalculator(device="cpu", default_dtype="float64")
    between = GEOMETRY[3] - GEOMETRY[0]
    between, equilibrium = between / np.linalg.norm(between), np.linalg.norm(between)
    energies = []
    for distance in distances:
        atoms = Atoms("OH2OH2", GEOMETRY)
        atoms.positions[3:] += (distance - equilibrium) * between
        atoms.info.update(charge=0.0, total_spin=0.0)
        atoms.calc = calculator
        energies.append(atoms.get_potential_energy())
    return np.array(energies)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("both", type=Path)
    parser.add_argument("parts", type=Path, nargs=2)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    distance, together, charge = np.loadtxt(arguments.both, unpack=True)
    apart = sum(np.loadtxt(part)[1] for part in arguments.parts)
    binding = (together - apart) / (kcal / mol)
    some = slice(0, len(distance), 4)
    expected = package_energies(distance[some])
    difference = np.abs(together[some] - expected).max()

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (energy, passed) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    energy.axhline(0, color="0.8", linewidth=0.8)
    energy.plot(distance, binding, color="#1f6f8b", label="SO3LR in LAMMPS")
    energy.plot(distance[some], (expected - apart) / (kcal / mol), "o", markerfacecolor="none", color="#1f6f8b",
                label="the package's calculator")
    energy.plot(*REFERENCE, "o", color="#c8553d", label="CCSD(T)")
    energy.set_ylim(-8, 4)
    energy.set_ylabel("binding energy (kcal/mol)")
    energy.legend(frameon=False)
    passed.plot(distance, charge, color="#1f6f8b")
    passed.set_ylabel("charge of the donor (e)")
    for axes in (energy, passed):
        axes.set_xlabel("O–O distance (Å)")
    figure.savefig(arguments.output, dpi=100)

    lowest = binding.argmin()
    there = np.abs(distance - REFERENCE[0]).argmin()
    print(f"Lowest: {binding[lowest]:.2f} kcal/mol at {distance[lowest]:.1f} A; at {distance[there]:.1f} A "
          f"{binding[there]:.2f}, CCSD(T) {REFERENCE[1]} at {REFERENCE[0]}. "
          f"The package's calculator differs by {difference:.1e} eV.")
    if not difference <= AGREEMENT:
        print("That is more than rounding explains.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
