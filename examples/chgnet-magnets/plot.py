"""Energy and magnetic moments of MnO against the lattice constant, with measured values.

    python plot.py results.txt -o oxide.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

LATTICE = 4.446    # Angstrom at room temperature; Sasaki et al., Proc. Japan Acad. 55, 43 (1979)
MOMENT = 4.58      # Bohr magnetons of Mn; Cheetham and Hope, Phys. Rev. B 27, 6964 (1983)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    lattice, energy, pressure, moment = np.loadtxt(arguments.results, unpack=True)

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    left.plot(lattice, energy, "o-", color="#1f6f8b", label="CHGNet")
    left.axvline(LATTICE, color="#c8553d", linewidth=1, label="measured lattice constant")
    left.set_ylabel("energy (eV per MnO)")
    right.plot(lattice, moment, "o-", color="#1f6f8b", label="CHGNet")
    right.plot(LATTICE, MOMENT, "o", color="#c8553d", label="measured")
    right.set_ylabel("moment of Mn (Bohr magnetons)")
    for axes in (left, right):
        axes.set_xlabel("lattice constant (Å)")
        axes.legend(frameon=False)
    figure.savefig(arguments.output, dpi=100)

    # Where the pressure is zero, the energy is lowest: pressure and energy of the model belong together.
    lowest = np.roots(np.polyder(np.polyfit(lattice, energy, 4)))
    lowest = lowest[(np.abs(lowest.imag) < 1e-9) & (lowest.real > lattice[0]) & (lowest.real < lattice[-1])].real[0]
    print(f"Lattice constant: {lowest:.3f} A by the energy, {np.interp(0, -pressure, lattice):.3f} A by the pressure; "
          f"measured {LATTICE}. Moment there {np.interp(lowest, lattice, moment):.2f}, measured {MOMENT}.")


if __name__ == "__main__":
    main()
