"""What the native potentials send between ranks: measured on a small crystal beside the formula that it follows, and
what the formula predicts for a million atoms.

    python bench/communication.py [--ranks 2 4] [--reference FILE]

Bytes sent per rank and evaluation. LAMMPS's own messages (positions of ghosts, and their forces with newton on) come
on top for any pair style. Needs `lmp` with the plugin.

  lj      nothing: each pair is computed at both its ends
  dftd3   2 numbers of 8 bytes (coordination number, dE/dCN) per copied atom
  ewald   one sum over all ranks of 16 bytes per wave vector, and a charge per copied atom
  pme     a charge per copied atom; the patch of the mesh around a rank's atoms, less the part in the rank's own block,
          there and back; 2 transpositions of the transformed mesh between slabs, or 4 between pencils
Copied atoms are those within cutoff + skin of the rank's brick: `halo_rows` of native_peers.py.
"""

import argparse
import json
import math
import re
import tempfile
from pathlib import Path

from native_peers import DENSITY, SALT, brick_grid, halo_rows, lammps, logged, native_spec

LATTICE, SKIN, ORDER, MARGIN = 5.64, 1.0, 6, 2
CELLS, STEPS = 8, 9
MODELS = {      # cutoff, parameters
    "lj": (8.5, {"epsilon": 0.01, "sigma": 2.5}),
    "dftd3": (12.0, {"functional": "pbe", "damping": "bj"}),
    "ewald": (9.0, {"accuracy": 1e-5}),
    "pme": (9.0, {"accuracy": 1e-5, "order": ORDER}),
}
MILLION = 50        # cells along each axis of the system that is predicted


def mesh_bytes(points: float, grid, ranks: int) -> float:
    side = points ** (1 / 3)
    slabs = ranks <= side
    used = ranks if slabs else min(ranks, round(side * (side / 2 + 1)))
    half = 16 * side * side * (side / 2 + 1)    # bytes of the transformed mesh
    transpositions = (2 if slabs else 4) * half / used * (1 - 1 / (used if slabs else math.sqrt(used)))
    widths = [min(side, side / parts + ORDER - 1 + 2 * MARGIN) if parts > 1 else side for parts in grid]
    patch = math.prod(widths)
    # Ranks have blocks of the mesh in their order, wherever their atoms are.
    return 2 * 8 * patch * (1 - 1 / ranks) + transpositions


def predicted(name: str, cells: int, ranks: int, grid, size: float) -> float:
    """On two ranks and more. `size`: wave vectors or mesh points of the whole system."""
    lengths = (cells * LATTICE,) * 3
    copies = halo_rows(lengths, grid, MODELS[name][0] + SKIN)
    if name == "lj":
        return 0.0
    if name == "dftd3":
        return 16 * copies
    shared = 16 * size if name == "ewald" else mesh_bytes(size, grid, ranks)
    return 8 * copies + shared


def system_size(name: str, output: str) -> float:
    if name == "ewald":
        return float(re.search(r"ewald: (\d+) wave vectors", output)[1])
    if name == "pme":
        return float(math.prod(map(int, re.search(r"mesh (\d+) x (\d+) x (\d+)", output).groups())))
    return 0.0


def measure(name: str, ranks: int, folder: Path, reference: str | None) -> tuple[float, float, tuple[int, ...]]:
    cutoff, parameters = MODELS[name]
    if name == "dftd3" and reference:
        parameters = parameters | {"reference": str(Path(reference).resolve())}
    (folder / "spec.json").write_text(json.dumps(native_spec(name, ["Na", "Cl"], cutoff, **parameters)))
    pair = "pair_style mlip/dd spec.json log yes\npair_coeff * * Na Cl"
    output = lammps(SALT.format(cells=(CELLS,) * 3, pair=pair, task=f"run {STEPS}"), ranks, folder)
    grid = tuple(map(int, re.search(r"(\d+) by (\d+) by (\d+) MPI processor grid", output).groups()))
    return logged(output)["bytes sent"] / (STEPS + 1), system_size(name, output), grid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--reference", help="file of DFT-D3 reference values, where it is not in its usual place")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            for ranks in arguments.ranks:
                found, size, grid = measure(name, ranks, Path(folder), arguments.reference)
                expected = predicted(name, CELLS, ranks, grid, size)
                print(f"{name}, {8 * CELLS ** 3} atoms, {ranks} ranks: {found / 1024:.1f} KiB per rank and evaluation, "
                      f"formula {expected / 1024:.1f} KiB", flush=True)
            atoms = 8 * MILLION ** 3
            for ranks in (64, 512, 4096):
                grid = brick_grid(ranks)
                scaled = size * (MILLION / CELLS) ** 3
                volume = predicted(name, MILLION, ranks, grid, scaled)
                print(f"    {atoms} atoms, {ranks} ranks: {volume / 1024:.1f} KiB predicted, "
                      f"{DENSITY * (MILLION * LATTICE) ** 3 / ranks:.0f} atoms per rank")


if __name__ == "__main__":
    main()
