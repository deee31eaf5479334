"""Times mlip/dd/kk against mlip/dd in one LAMMPS with KOKKOS, in turns, with as many threads.

    python bench/kokkos.py --kokkos PREFIX [--model 7net-0/spec.json] [--threads 1] [--ranks 1] [--rounds 3]

PREFIX is a LAMMPS with KOKKOS, and the plugin for it is in build/lammps-plugin/kokkos (docs/kokkos.md). Prints
milliseconds per step, the smallest of all rounds, and the median of the rounds' ratios, whose two runs change places
from one round to the next: in the pair style, which is what the plugin answers for, and of the whole step, which has
LAMMPS's own neighbour lists, communication and integration, too. Argon with the potential lj, and with LAMMPS's own
lj/cut for what Kokkos costs by itself; with --model, NaCl with that model.
"""

import argparse
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "lammps"))
from lj import LJ_INPUT, LJ_PAIR  # noqa: E402
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


@dataclass
class StepTimes:
    """Of the last run, milliseconds per step: in the pair style, averaged over ranks, and of all."""

    pair: float
    step: float


def timed(script: str, ranks: int, program: Program, folder: Path) -> StepTimes:
    output = run(script, folder, ranks, limit=LIMIT, program=program).output
    seconds, steps = re.findall(r"Loop time of (\S+) on \d+ procs for (\d+) steps", output)[-1]
    pair = re.findall(r"^Pair +\| *\S+ +\| *(\S+)", output, re.MULTILINE)[-1]
    return StepTimes(1e3 * float(pair) / int(steps), 1e3 * float(seconds) / int(steps))


def compared(title: str, plain: list[float], kk: list[float]) -> str:
    ratio = median(there / here for here, there in zip(plain, kk))
    return f"{title} {min(plain):.3f} ms, /kk {min(kk):.3f} ms, ratio {ratio:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kokkos", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    lammps = KokkosLammps(arguments.kokkos.resolve())
    programs = (lammps.plain(), lammps.kk(arguments.threads))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lj.json").write_text(json.dumps(native_spec("lj", ["Ar"], 8.5, epsilon=0.0104, sigma=3.4)))

        def mlip(spec: Path, elements: str) -> str:
            return f"pair_style mlip/dd {spec} threads {arguments.threads}\npair_coeff * * {elements}"

        work = [("mlip/dd lj", LJ_INPUT, LJ_SIZE, mlip(folder / "lj.json", "Ar")),
                ("lj/cut", LJ_INPUT, LJ_SIZE, LJ_PAIR)]
        if arguments.model:
            work.append((f"mlip/dd {arguments.model}", NACL_INPUT, NACL_SIZE, mlip(arguments.model.resolve(), "Na Cl")))
        for title, text, (n, steps), pair in work:
            script = text.format(n=n, cells=(n, n, n), steps=steps, pair=pair)
            plain, kk = times = [], []
            for turn in range(arguments.rounds):
                for who in (0, 1) if turn % 2 == 0 else (1, 0):
                    times[who].append(timed(script, arguments.ranks, programs[who], folder / "run"))
            print(f"{title}, {arguments.ranks} ranks of {arguments.threads} threads: "
                  + compared("pair style", [t.pair for t in plain], [t.pair for t in kk]) + "; "
                  + compared("whole step", [t.step for t in plain], [t.step for t in kk]), flush=True)


if __name__ == "__main__":
    main()
