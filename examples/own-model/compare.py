"""Forces of the trained model beside those that it was trained on, and on several ranks beside those on one.

    python compare.py teacher.dump one.dump many.dump -o own-model.png

Ends with a non-zero status if ranks do not agree.
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

RANKS = 1e-9    # eV/A: sums in another order, in float64


def forces(dump: Path) -> np.ndarray:
    lines = dump.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    return np.array([[float(word) for word in line.split()[2:5]] for line in lines[start:]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teacher", type=Path)
    parser.add_argument("one", type=Path)
    parser.add_argument("many", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    teacher, one, many = forces(arguments.teacher), forces(arguments.one), forces(arguments.many)
    error, between_ranks = np.sqrt(((one - teacher) ** 2).mean()), np.abs(one - many).max()

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
    reach = 1.05 * np.abs(teacher).max()
    for axes, x, y, labels, title in (
            (panels[0], teacher, one, ("SevenNet-0", "the trained model"), f"root mean square difference {error:.3f} eV/Å"),
            (panels[1], one, many, ("one rank", "several ranks"), f"largest difference {between_ranks:.0e} eV/Å")):
        axes.plot([-reach, reach], [-reach, reach], color="0.75", linewidth=1)
        axes.plot(x.ravel(), y.ravel(), ".", markersize=4, color="#1f6f8b")
        axes.set_xlabel(f"force, {labels[0]} (eV/Å)")
        axes.set_ylabel(f"force, {labels[1]} (eV/Å)")
        axes.set_title(title, fontsize=9)
        axes.set_aspect("equal")
    figure.savefig(arguments.output, dpi=100)
    print(f"Forces of {np.sqrt((teacher ** 2).mean()):.3f} eV/A (root mean square) are met to {error:.3f}; "
          f"ranks differ by {between_ranks:.1e}")
    if not (between_ranks <= RANKS and np.abs(one).max() > 0.01):
        print("That is more than rounding explains, or there are no forces.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
