"""The time of pipelines against the sum of the times of their models, in turns, in one run; and two ranks against one.

    python bench/pipeline.py [--rounds 3] [--spec 7net-0/spec.json]

Needs `lmp` with the plugin (LAMMPS_PLUGIN_PATH or an installed mlip-dd) and the file of DFT-D3 reference values. With
--spec also a pretrained model beside dispersion. Prints seconds per step, the smallest of all rounds, and ratios.
"""

import argparse
import json
import re
import tempfile
from pathlib import Path

from native_peers import SALT_CRYSTAL, lammps, native_spec, seconds_per_step

TARGET = 1.02    # of the sum of the models' own times
INPUT = SALT_CRYSTAL + """pair_style mlip/dd {spec} log yes
pair_coeff * * Na Cl
neighbor 1.0 bin
neigh_modify one 5000 page 100000 every 10 delay 0 check no
velocity all create 300 1
fix 1 all nve
timestep 0.001
thermo 100
run {steps}
"""
ELEMENTS = ["Na", "Cl"]
MODELS = {
    "lj": native_spec("lj", ELEMENTS, 10.0, epsilon=0.01, sigma=2.6),
    "pme": native_spec("pme", ELEMENTS, 10.0, accuracy=1e-5),
    "d3": native_spec("dftd3", ELEMENTS, 12.0, functional="pbe", damping="bj"),
}


def compare(names: list[str], n: int, steps: int, rounds: int, folder: Path) -> None:
    files = {name: folder / f"{name}.json" for name in names}
    for name, file in files.items():
        file.write_text(json.dumps(MODELS[name]))
    whole = folder / "sum.json"
    whole.write_text(json.dumps({"pipeline": {"models": {name: str(file) for name, file in files.items()},
                                              "groups": [{"steps": names}]}}))
    sums = {}
    for ranks in (1, 2):
        best: dict[str, float] = {}
        for _ in range(rounds):
            for name, spec in {**files, "sum": whole}.items():
                output = lammps(INPUT.format(spec=spec, cells=(n, n, n), steps=steps), ranks, folder)
                time = seconds_per_step(output)
                best[name] = min(time, best.get(name, time))
        parts = sum(best[name] for name in names)
        sums[ranks] = best["sum"]
        times = ", ".join(f"{name} {1e3 * best[name]:.2f}" for name in names)
        print(f"{' + '.join(names)}, {8 * n ** 3} atoms, {ranks} ranks: {1e3 * best['sum']:.2f} ms per step; alone, in "
              f"ms: {times}; ratio {best['sum'] / parts:.3f} (target {TARGET})", flush=True)
        for line in output.splitlines():    # of the last pipeline
            if re.match("mlip/dd: (step|  halo rows|  edges|  s building)", line):
                print("   ", line)
    print(f"    2 ranks {sums[1] / sums[2]:.2f} times faster than 1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--spec", type=Path, help="spec file of a pretrained model that knows Na and Cl")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        compare(["lj", "pme"], 8, 40, arguments.rounds, Path(name))    # one cutoff: graph and halo are built once
        compare(["lj", "pme", "d3"], 8, 20, arguments.rounds, Path(name))
        if arguments.spec:
            MODELS["mlp"] = json.loads(arguments.spec.read_text())
            MODELS["mlp"]["model"]["file"] = str(arguments.spec.parent.resolve() / MODELS["mlp"]["model"]["file"])
            compare(["mlp", "d3"], 2, 10, arguments.rounds, Path(name))


if __name__ == "__main__":
    main()
