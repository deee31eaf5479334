"""Times the native pair potentials against LAMMPS's own styles, in turns, in one run.

    python bench/lj.py [lj|dftd3] [--ranks 1 2] [--rounds 3]

Needs `lmp` with the plugin (LAMMPS_PLUGIN_PATH or an installed mlip-dd) and, for dftd3, the file of reference values.
Prints seconds per step of both, the smallest of all rounds, and their ratio; then what travels between ranks. `--cost`
prints the exponent with which the cost of both grows from 4,000 to 64,000 atoms.
"""

import argparse
import json
import math
import re
import tempfile
from pathlib import Path

from native_peers import SALT_CRYSTAL, atoms, lammps, native_spec, seconds_per_step

# An argon liquid-to-be: density, cutoff and skin of LAMMPS's own Lennard-Jones benchmark, in metal units.
LJ_INPUT = """units metal
atom_style atomic
lattice fcc 5.7109
region box block 0 {n} 0 {n} 0 {n}
create_box 1 box
create_atoms 1 box
mass 1 39.95
velocity all create 173.8 87287
{pair}
neighbor 1.02 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
timestep 0.0107
thermo 100
run {steps}
"""
LJ_PAIR = "pair_style lj/cut 8.5\npair_coeff 1 1 0.0104 3.4"
D3_INPUT = SALT_CRYSTAL + """{pair}
neighbor 1.0 bin
neigh_modify one 5000 page 100000
timestep 0.001
fix 1 all nve
thermo 100
run {steps}
"""
WORK = {
    # input, spec, pair commands of the peer, (cells along each axis, steps)
    "lj": (LJ_INPUT, native_spec("lj", ["Ar"], 8.5, epsilon=0.0104, sigma=3.4), LJ_PAIR,
           [(10, 400), (20, 100), (25, 100)]),
    "dftd3": (D3_INPUT, native_spec("dftd3", ["Na", "Cl"], 15.0, functional="pbe", damping="bj"),
              "pair_style dispersion/d3 bj pbe 15.0 15.0\npair_coeff * * Na Cl", [(4, 20), (8, 4)]),
}


# (cells along each axis, steps): as many steps of both sizes, so that the crystal has melted as far.
COST_SIZES = {"lj": [(10, 100), (25, 100)], "dftd3": [(8, 3), (20, 3)]}


def pair_commands(spec: dict, options: str = "") -> str:
    return f"pair_style mlip/dd spec.json {options}\npair_coeff * * {' '.join(spec['model']['elements'])}"


def print_cost(potential: str, rounds: int, folder: Path) -> None:
    script, spec, peer, _ = WORK[potential]
    best: dict[tuple[str, int], float] = {}
    for _ in range(rounds):
        for n, steps in COST_SIZES[potential]:
            for who, pair in (("mlip/dd", pair_commands(spec)), ("peer", peer)):
                output = lammps(script.format(n=n, cells=(n, n, n), steps=steps, pair=pair), 1, folder)
                key = who, atoms(output)
                best[key] = min(seconds_per_step(output), best.get(key, math.inf))
    few, many = sorted({count for _, count in best})
    for who in ("mlip/dd", "peer"):
        exponent = math.log(best[who, many] / best[who, few]) / math.log(many / few)
        print(f"{potential} by {who}: {few} atoms {1e3 * best[who, few]:.2f} ms, {many} atoms {1e3 * best[who, many]:.2f} ms "
              f"per step, cost exponent {exponent:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("potential", nargs="?", choices=WORK, default="lj")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cost", action="store_true")
    arguments = parser.parse_args()
    script, spec, peer, sizes = WORK[arguments.potential]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec.json").write_text(json.dumps(spec))
        if arguments.cost:
            print_cost(arguments.potential, arguments.rounds, folder)
            return
        ours = pair_commands(spec, "log yes")
        for ranks in arguments.ranks:
            for n, steps in sizes:
                best: dict[str, float] = {}
                for _ in range(arguments.rounds):
                    for who, pair in (("peer", peer), ("mlip/dd", ours)):
                        output = lammps(script.format(n=n, cells=(n, n, n), steps=steps, pair=pair), ranks, folder)
                        time = seconds_per_step(output)
                        best[who] = min(time, best.get(who, time))
                mine, theirs = 1e3 * best["mlip/dd"], 1e3 * best["peer"]
                print(f"{arguments.potential} {atoms(output)} atoms, {ranks} ranks: mlip/dd {mine:.2f} ms, "
                      f"peer {theirs:.2f} ms per step, ratio {mine / theirs:.2f}", flush=True)
                for line in output.splitlines():    # the last run of the last round was ours
                    if re.match("mlip/dd: +(after|halo rows|gathers|scatters|messages|bytes)", line):
                        print("   ", line)


if __name__ == "__main__":
    main()
