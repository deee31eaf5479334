"""Compares forces on one rank, on several, and by differences of the energy.

    python compare.py one.dump many.dump -o water.png

Ends with a non-zero status if the ranks, or the differences, do not agree.
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

# eV/A. Sums in another order in float64; and second-order differences over 0.001 A, of forces that PME gives to 1e-8 of
# 14 eV/A.
RANKS, DIFFERENCES = 1e-9, 1e-4


def columns(dump: Path) -> np.ndarray:
    lines = dump.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    return np.array([[float(word) for word in line.split()[1:]] for line in lines[start:]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one", type=Path)
    parser.add_argument("many", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    one, many = columns(arguments.one), columns(arguments.many)
    forces, differences = one[:, :3], one[:, 3:]
    between_ranks = np.abs(forces - many[:, :3]).max()
    from_energy = np.abs(forces - differences).max()

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
    reach = 1.05 * np.abs(forces).max()
    for axes, other, label, worst in ((panels[0], many[:, :3], "on four ranks", between_ranks),
                                      (panels[1], differences, "differences of the energy", from_energy)):
        axes.plot([-reach, reach], [-reach, reach], color="0.75", linewidth=1)
        axes.plot(forces.ravel(), other.ravel(), ".", markersize=4, color="#1f6f8b")
        axes.set_xlabel("force on one rank (eV/Å)")
        axes.set_ylabel(label + " (eV/Å)")
        axes.set_title(f"largest difference {worst:.1e} eV/Å", fontsize=9)
        axes.set_aspect("equal")
    figure.savefig(arguments.output, dpi=100)
    print(f"Largest force {np.abs(forces).max():.2f} eV/A; ranks differ by {between_ranks:.1e}, differences of the energy "
          f"by {from_energy:.1e}")
    if not (between_ranks <= RANKS and from_energy <= DIFFERENCES):
        print("That is more than rounding explains.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
