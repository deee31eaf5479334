"""Times the native pair potentials against LAMMPS's own styles, in turns, in one run.

    python bench/lj.py [lj|dftd3] [--ranks 1 2] [--rounds 3]

Needs `lmp` with the plugin (LAMMPS_PLUGIN_PATH or an installed mlip-dd) and, for dftd3, the file of reference values.
Prints seconds per step of both, the smallest of all rounds, and their ratio; then what travels between ranks. `--cost`
times mlip/dd alone on 4,000 and 64,000 atoms, and prints the exponent with which its cost grows.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

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
D3_INPUT = """units metal
atom_style atomic
lattice custom 5.64 a1 1 0 0 a2 0 1 0 a3 0 0 1 basis 0 0 0 basis 0.5 0.5 0 basis 0.5 0 0.5 basis 0 0.5 0.5 &
  basis 0.5 0 0 basis 0 0.5 0 basis 0 0 0.5 basis 0.5 0.5 0.5
region box block 0 {n} 0 {n} 0 {n}
create_box 2 box
create_atoms 1 box basis 5 2 basis 6 2 basis 7 2 basis 8 2
mass 1 22.99
mass 2 35.45
displace_atoms all random 0.1 0.1 0.1 12
{pair}
neighbor 1.0 bin
neigh_modify one 5000 page 100000
timestep 0.001
fix 1 all nve
thermo 100
run {steps}
"""
LJ_SPEC = {"potential": "lj", "elements": ["Ar"], "cutoff": 8.5, "parameters": {"epsilon": 0.0104, "sigma": 3.4}}
D3_SPEC = {"potential": "dftd3", "elements": ["Na", "Cl"], "cutoff": 15.0,
           "parameters": {"functional": "pbe", "damping": "bj"}}
WORK = {
    # input, spec, preset, elements, pair commands of the peer, (cells along each axis, steps)
    "lj": (LJ_INPUT, LJ_SPEC, "SPEC_LJ_HALO", "Ar", "pair_style lj/cut 8.5\npair_coeff 1 1 0.0104 3.4",
           [(10, 400), (20, 100), (25, 100)]),
    "dftd3": (D3_INPUT, D3_SPEC, "SPEC_DFTD3_HALO", "Na Cl",
              "pair_style dispersion/d3 bj pbe 15.0 15.0\npair_coeff * * Na Cl", [(4, 20), (8, 4)]),
}


def seconds_per_step(script: str, ranks: int, folder: Path) -> tuple[float, int, str]:
    (folder / "in.lammps").write_text(script)
    programs = Path(sys.prefix, "bin")
    done = subprocess.run([programs / "mpirun", "-np", str(ranks), programs / "lmp", "-in", "in.lammps", "-log", "none",
                           "-nocite"], cwd=folder, text=True, capture_output=True)
    found = re.search(r"Loop time of (\S+) on \d+ procs for (\d+) steps with (\d+) atoms", done.stdout)
    if done.returncode or not found:
        sys.exit(done.stdout[-2000:] + done.stderr)
    return float(found[1]) / int(found[2]), int(found[3]), done.stdout


COST_SIZES = {"lj": [(10, 400), (25, 40)], "dftd3": [(8, 4), (20, 2)]}


def print_cost(potential: str, rounds: int, folder: Path) -> None:
    script, _, _, elements, _, _ = WORK[potential]
    pair = f"pair_style mlip/dd spec.json\npair_coeff * * {elements}"
    found = []
    for n, steps in COST_SIZES[potential]:
        runs = [seconds_per_step(script.format(n=n, steps=steps, pair=pair), 1, folder) for _ in range(rounds)]
        found.append((runs[0][1], min(time for time, _, _ in runs)))
        print(f"{potential} {found[-1][0]} atoms: {1e3 * found[-1][1]:.2f} ms per step", flush=True)
    (few, short), (many, long) = found
    print(f"cost exponent of {potential}: {math.log(long / short) / math.log(many / few):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("potential", nargs="?", choices=WORK, default="lj")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cost", action="store_true")
    arguments = parser.parse_args()
    script, model, preset, elements, peer, sizes = WORK[arguments.potential]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spec.json").write_text(json.dumps({"spec": preset, "model": model}))
        if arguments.cost:
            print_cost(arguments.potential, arguments.rounds, folder)
            return
        ours = f"pair_style mlip/dd spec.json log yes\npair_coeff * * {elements}"
        for ranks in arguments.ranks:
            for n, steps in sizes:
                best: dict[str, float] = {}
                for _ in range(arguments.rounds):
                    for who, pair in (("peer", peer), ("mlip/dd", ours)):
                        commands = script.format(n=n, steps=steps, pair=pair)
                        time, atoms, output = seconds_per_step(commands, ranks, folder)
                        best[who] = min(time, best.get(who, time))
                mine, theirs = 1e3 * best["mlip/dd"], 1e3 * best["peer"]
                print(f"{arguments.potential} {atoms} atoms, {ranks} ranks: mlip/dd {mine:.2f} ms, "
                      f"peer {theirs:.2f} ms per step, ratio {mine / theirs:.2f}", flush=True)
                for line in output.splitlines():    # the last run of the last round was ours
                    if re.match("mlip/dd: +(after|halo rows|gathers|scatters|messages|bytes)", line):
                        print("   ", line)


if __name__ == "__main__":
    main()
