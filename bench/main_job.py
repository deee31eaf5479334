"""The main job in ratios: SevenNet-0 on NaCl through the pair style, against the bare model in a C++ loop,
two ranks against one, and per-layer exchange against a wide halo. Called by bench/run.sh."""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LATTICE = 5.64      # NaCl, Angstrom
RATTLE = 0.08       # Angstrom, standard deviation
SKIN = 1.0          # Angstrom
TARGETS = {"overhead": 1.05, "speedup": 1.8}


def crystal(cells: int):
    """Positions, types (1 Na, 2 Cl) and box length of a rattled rock-salt crystal."""
    basis = np.array([[0, 0, 0], [.5, .5, 0], [.5, 0, .5], [0, .5, .5]])
    corners = np.array(list(np.ndindex(cells, cells, cells)))
    sodium = (corners[:, None] + basis).reshape(-1, 3)
    positions = np.concatenate([sodium, sodium + [.5, 0, 0]]) * LATTICE
    positions += np.random.default_rng(3).normal(0, RATTLE, positions.shape)
    types = np.repeat([1, 2], len(sodium))
    return positions, types, cells * LATTICE


def write_data(path: Path, positions, types, length: float) -> None:
    lines = ["NaCl", "", f"{len(types)} atoms", "2 atom types", ""]
    lines += [f"0 {length} {a}lo {a}hi" for a in "xyz"] + ["", "Masses", "", "1 22.99", "2 35.45", "", "Atoms", ""]
    lines += [f"{k + 1} {t} {x[0]:.12f} {x[1]:.12f} {x[2]:.12f}" for k, (t, x) in enumerate(zip(types, positions))]
    path.write_text("\n".join(lines) + "\n")


def write_graph(path: Path, positions, types, length: float, cutoff: float, type_index) -> int:
    receivers, senders, vectors = [], [], []
    reach = range(-int(np.ceil(cutoff / length)), int(np.ceil(cutoff / length)) + 1)
    for shift in np.array([[a, b, c] for a in reach for b in reach for c in reach]) * length:
        r = positions[None] + shift - positions[:, None]
        d = np.linalg.norm(r, axis=2)
        i, j = np.nonzero((d < cutoff) & (d > 0))
        receivers.append(i)
        senders.append(j)
        vectors.append(r[i, j])
    i, j, r = np.concatenate(receivers), np.concatenate(senders), np.concatenate(vectors)
    order = np.argsort(i, kind="stable")
    with open(path, "w") as file:
        file.write(f"{len(types)} {len(i)}\n" + " ".join(str(type_index[t]) for t in types) + "\n")
        for e in order:
            file.write(f"{i[e]} {j[e]} {r[e][0]:.12f} {r[e][1]:.12f} {r[e][2]:.12f}\n")
    return len(i)


INPUT = """
units metal
atom_style atomic
read_data {data}
pair_style mlip/dd {spec} device cpu threads 1 halo {halo} log yes
pair_coeff * * Na Cl
neighbor {skin} bin
velocity all create 300 1
fix 1 all nve
thermo 1
thermo_style custom step pe cpu
thermo_modify flush yes
timestep 0.001
run {steps}
"""


def run_lammps(folder: Path, ranks: int, **values) -> dict:
    script = folder / "in.bench"
    script.write_text(INPUT.format(skin=SKIN, **values))
    result = subprocess.run(["mpirun", "-np", str(ranks), "lmp", "-in", str(script), "-log", str(folder / "log")],
                            capture_output=True, text=True, cwd=folder)
    if result.returncode:
        sys.exit(f"bench: LAMMPS failed:\n{result.stdout[-3000:]}\n{result.stderr[-2000:]}")
    rows = re.findall(r"^ +(\d+) +(-?[\d.e+-]+) +([\d.e+-]+) *$", result.stdout, re.M)
    cpu = [float(row[2]) for row in rows]
    # The first steps pay for page faults of the allocator.
    warm = min(2, len(cpu) - 2)
    steps = np.diff(cpu)[warm:]
    table = {name: [float(v) for v in numbers.split()] for name, numbers in
             re.findall(r"^mlip/dd:   (\S[^\d]*?) +([\d.e+-]+ +[\d.e+-]+ +[\d.e+-]+)$", result.stdout, re.M)}
    return {"step": statistics.median(steps), "energy": float(rows[0][1]), "table": table,
            "evaluations": len(rows)}


def run_bare(program: str, spec: Path, graph: Path, steps: int) -> tuple[float, float]:
    result = subprocess.run([program, str(spec), str(graph), str(steps)], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"bench: {result.stderr}")
    seconds = [float(line) for line in result.stdout.split("\n") if line and not line.startswith("#")]
    return statistics.median(seconds[min(2, len(seconds) - 1):]), float(re.search(r"energy (\S+)", result.stdout)[1])


def per_step(run: dict, name: str) -> float:
    return run["table"][name][1] / run["evaluations"]


def row(title: str, run: dict, reference: float) -> str:
    return (f"  {title:28s} {run['step']:8.3f} s/step  ratio {reference / run['step']:5.2f}x"
            f"  rows/rank {run['table']['rows the model sees'][1]:7.1f}  halo rows {run['table']['halo rows'][1]:7.1f}"
            f"  sent {per_step(run, 'bytes sent') / 1024:9.1f} KiB/step/rank")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bare", required=True, help="the program mlip_dd_bench_bare")
    parser.add_argument("--quick", action="store_true", help="small and short, to see that it works")
    arguments = parser.parse_args()
    steps, rounds, cells = (4, 1, 2) if arguments.quick else (10, 3, 3)

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        subprocess.run([sys.executable, "-m", "mlip_dd", "export", "sevennet", "7net-0", "-o", str(folder / "model")],
                       check=True, stdout=subprocess.DEVNULL)
        spec = folder / "model" / "spec.json"
        model = json.loads(spec.read_text())["model"]
        positions, types, length = crystal(cells)
        write_data(folder / "data", positions, types, length)
        index = {1: model["elements"].index("Na"), 2: model["elements"].index("Cl")}
        edges = write_graph(folder / "graph", positions, types, length, model["cutoff"], index)
        print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores; SevenNet-0, "
              f"{len(types)} atoms, {edges} edges, float32, 1 thread per rank, medians of {steps} steps x {rounds}")

        common = {"data": folder / "data", "spec": spec, "steps": steps}
        # A B A B: the machine's speed may drift.
        ones, bares, twos = [], [], []
        for _ in range(rounds):
            bares.append(run_bare(arguments.bare, spec, folder / "graph", steps))
            ones.append(run_lammps(folder, 1, halo="auto", **common))
            twos.append(run_lammps(folder, 2, halo="auto", **common))
        if abs(ones[0]["energy"] - bares[0][1]) > 1e-5 * abs(bares[0][1]):
            sys.exit(f"bench: energies differ: {ones[0]['energy']} against {bares[0][1]} eV")
        overhead = statistics.median(one["step"] / bare[0] for one, bare in zip(ones, bares))
        speedup = statistics.median(one["step"] / two["step"] for one, two in zip(ones, twos))
        one, bare, two = statistics.median(o["step"] for o in ones), statistics.median(b[0] for b in bares), twos[0]
        print(f"(a) pair style on 1 rank / bare model in a C++ loop: {one:.3f} / {bare:.3f} s = {overhead:.3f}"
              f"  (target: at most {TARGETS['overhead']})")
        print(f"(b) 1 rank / 2 ranks: {one:.3f} / {statistics.median(t['step'] for t in twos):.3f} s = {speedup:.2f}x"
              f"  (target on 2 free cores: {TARGETS['speedup']}x)")
        print("(c) per-layer exchange against a wide halo (ghosts to layers x cutoff), time relative to the exchange")
        for ranks in (2, 4):
            exchange = two if ranks == 2 else run_lammps(folder, ranks, halo="exchange", **common)
            wide = run_lammps(folder, ranks, halo="wide", **common)
            print(row(f"{ranks} ranks, exchange", exchange, exchange["step"]))
            print(row(f"{ranks} ranks, wide", wide, exchange["step"]))


if __name__ == "__main__":
    main()
