"""The picture of the quickstart: energy and temperature against time, and forces on two rank counts.

    python plot.py --log log.lammps --forces 1:forces-1.dump 2:forces-2.dump -o quickstart.png

Ends with a non-zero status if the forces differ by more than the rounding of a float32 model.
"""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from read_run import Stage, read_forces, read_stages

# eV/A. A float32 model sums in another order on another number of ranks; that gives some 1e-7 times a few eV/A.
FORCE_TOLERANCE = 1e-5
NAMES = ["NVT", "NPT"]
COLORS = ["#1f6f8b", "#c8553d"]


def forces_of(text: str) -> tuple[int, np.ndarray]:
    ranks, dump = text.split(":", 1)
    return int(ranks), read_forces(Path(dump))


def against_time(axes, stages: list[Stage], column: str, per_atom: bool, label: str) -> None:
    for stage, name, color in zip(stages, NAMES, COLORS, strict=True):
        values = stage.thermo[column] / (stage.atoms if per_atom else 1)
        axes.plot(stage.thermo["Time"], values, color=color, label=name)
    axes.set_xlabel("time (ps)")
    axes.set_ylabel(label)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.legend(frameon=False)


def force_against_force(axes, one: tuple[int, np.ndarray], other: tuple[int, np.ndarray]) -> float:
    (ranks_one, forces_one), (ranks_other, forces_other) = one, other
    difference = float(abs(forces_one - forces_other).max())
    reach = 1.05 * abs(forces_one).max()
    axes.plot([-reach, reach], [-reach, reach], color="0.75", linewidth=1)
    axes.plot(forces_one.ravel(), forces_other.ravel(), ".", markersize=4, color="#333333")
    axes.set_xlabel(f"force on {ranks_one} rank{'s' * (ranks_one > 1)} (eV/Å)")
    axes.set_ylabel(f"force on {ranks_other} ranks (eV/Å)")
    axes.set_title(f"largest difference {difference:.1e} eV/Å", fontsize=9)
    axes.set_aspect("equal")
    return difference


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--forces", type=forces_of, nargs=2, required=True, metavar="RANKS:DUMP")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()

    stages = read_stages(arguments.log)
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    figure, (energy, temperature, forces) = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    against_time(energy, stages, "PotEng", True, "potential energy (eV/atom)")
    against_time(temperature, stages, "Temp", False, "temperature (K)")
    difference = force_against_force(forces, *arguments.forces)
    figure.savefig(arguments.output, dpi=100)

    (ranks_one, forces_one), (ranks_other, _) = arguments.forces
    print(f"Forces of the last configuration on {ranks_one} and on {ranks_other} ranks: largest difference "
          f"{difference:.1e} eV/A, largest force {abs(forces_one).max():.2f} eV/A")
    if not difference <= FORCE_TOLERANCE:
        print(f"That is more than rounding explains ({FORCE_TOLERANCE:.0e} eV/A): the runs don't agree.",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
