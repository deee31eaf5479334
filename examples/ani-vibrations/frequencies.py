"""Frequencies of methane from the second derivatives that LAMMPS wrote, beside measured ones.

    python frequencies.py hessian.dat -o methane.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.constants import atomic_mass, c, electron_volt

# Fundamentals of CH4: Shimanouchi, Tables of Molecular Vibrational Frequencies, NSRDS-NBS 39 (1972), with how many
# modes share each. They include what the harmonic approximation leaves out, some 3 to 5 %.
MEASURED = [(1306, 3), (1534, 2), (2917, 1), (3019, 3)]    # 1/cm
RIGID = 6    # translations and rotations
BANDS = ((1200, 1650), (2800, 3250))    # 1/cm: what bends, what stretches


def wave_numbers(hessian: Path) -> np.ndarray:
    """1/cm, ascending, imaginary ones negative. The file holds second derivatives over masses, eV/A^2 per g/mol."""
    values = np.loadtxt(hessian).ravel()
    size = int(round(values.size ** 0.5))
    matrix = values.reshape(size, size)
    squares = np.linalg.eigvalsh(0.5 * (matrix + matrix.T)) * electron_volt * 1e20 / atomic_mass
    return np.sign(squares) * np.sqrt(np.abs(squares)) / (2 * np.pi * c * 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hessian", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    found = wave_numbers(arguments.hessian)
    rigid = np.argsort(np.abs(found))[:RIGID]
    modes = np.delete(found, rigid)
    measured = np.concatenate([[value] * count for value, count in MEASURED])

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = plt.subplots(1, 2, figsize=(7, 2.2), layout="constrained", sharey=True)
    for axes, reach in zip(panels, BANDS):
        for row, (values, color) in enumerate(((measured, "#999999"), (modes, "#1f6f8b"))):
            inside = np.round(values[(values > reach[0]) & (values < reach[1])])
            axes.vlines(inside, row, row + 0.7, color=color, linewidth=2)
            for value, count in zip(*np.unique(inside, return_counts=True)):
                axes.annotate(f"{value:.0f}" + (f" ×{count}" if count > 1 else ""), (value, row + 0.74), ha="center")
        axes.set_xlim(reach)
        axes.set_xlabel("wave number (1/cm)")
    panels[0].set_yticks([0.35, 1.35], ["measured", "ANI-1x"])
    panels[0].set_ylim(0, 2)
    figure.savefig(arguments.output, dpi=100)

    print("Modes, 1/cm:     " + " ".join(f"{value:7.1f}" for value in modes))
    print("measured:        " + " ".join(f"{value:7.1f}" for value in measured))
    print(f"Translations and rotations, 0 of which is exact: at most {np.abs(found[rigid]).max():.1f} 1/cm")


if __name__ == "__main__":
    main()
