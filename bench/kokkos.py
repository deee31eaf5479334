"""Times mlip/dd/kk against mlip/dd in one LAMMPS with KOKKOS, in turns, with as many threads.

    python bench/kokkos.py --kokkos PREFIX [--model 7net-0/spec.json] [--threads 1] [--ranks 1] [--rounds 3]

PREFIX is a LAMMPS with KOKKOS, and the plugin for it is in build/lammps-plugin/kokkos (docs/kokkos.md). Prints
milliseconds per step in the pair style of both, the smallest of all rounds, and their ratio: argon with the potential
lj, and, with --model, NaCl with that model.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "lammps"))
from lj import LJ_INPUT  # noqa: E402
from native_peers import SALT_CRYSTAL, native_spec  # noqa: E402
from program import KokkosLammps, Program  # noqa: E402
from run import run  # noqa: E402

# Cells along each axis, and steps.
LJ_SIZE = (20, 100)
NACL_SIZE = (3, 5)
NACL_INPUT = SALT_CRYSTAL + """{pair}
neighbor 1.0 bin
timestep 0.001
fix 1 all nve
thermo 100
run 2
run {steps}
"""
LIMIT = 1200.0    # s


def pair_ms(script: str, ranks: int, program: Program, folder: Path) -> float:
    """Of the last run, milliseconds per step in the pair style, averaged over ranks."""
    output = run(script, folder, ranks, limit=LIMIT, program=program).output
    steps = int(re.findall(r"Loop time of \S+ on \d+ procs for (\d+) steps", output)[-1])
    return 1e3 * float(re.findall(r"^Pair +\| *\S+ +\| *(\S+)", output, re.MULTILINE)[-1]) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kokkos", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    lammps = KokkosLammps(arguments.kokkos.resolve())
    programs = {"mlip/dd": lammps.plain(), "mlip/dd/kk": lammps.kk(arguments.threads)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lj.json").write_text(json.dumps(native_spec("lj", ["Ar"], 8.5, epsilon=0.0104, sigma=3.4)))
        work = [("lj", LJ_INPUT, LJ_SIZE, str(folder / "lj.json"), "Ar")]
        if arguments.model:
            work.append((str(arguments.model), NACL_INPUT, NACL_SIZE, str(arguments.model.resolve()), "Na Cl"))
        for title, text, (n, steps), spec, elements in work:
            pair = f"pair_style mlip/dd {spec} threads {arguments.threads}\npair_coeff * * {elements}"
            script = text.format(n=n, cells=(n, n, n), steps=steps, pair=pair)
            best = {style: min(times) for style, times in zip(programs, zip(*(
                [pair_ms(script, arguments.ranks, program, folder / "run") for program in programs.values()]
                for _ in range(arguments.rounds))))}
            plain, kk = best.values()
            print(f"{title}, {arguments.ranks} ranks of {arguments.threads} threads: mlip/dd {plain:.3f} ms, "
                  f"mlip/dd/kk {kk:.3f} ms per step, ratio {kk / plain:.3f}", flush=True)


if __name__ == "__main__":
    main()
