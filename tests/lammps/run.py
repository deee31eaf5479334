"""Runs the real `lmp` under `mpirun`, and reads what it prints and dumps."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from program import Program, own
from tolerances import RUN_LIMIT


@dataclass
class Outcome:
    status: int        # exit status of mpirun
    output: str        # stdout and stderr of all ranks
    seconds: float
    folder: Path

    @property
    def error_lines(self) -> list[str]:
        return [line for line in self.output.splitlines() if line.startswith("ERROR")]


# What runs scripts where a test does not say: replaced by the option --kokkos.
usual = own


def launch(script: str, folder: Path, ranks: int = 1, arguments: Sequence[str] = (), limit: float = RUN_LIMIT,
           watch: Callable[[int], None] | None = None, variables: dict[str, str] | None = None,
           program: Program | None = None) -> Outcome:
    """Runs `script`; any exit status. Fails where the run does not end within `limit` seconds.

    `watch` is called with mpirun's process ID every 0.1 s while it runs. `variables` join the environment.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "in.lammps").write_text(script)
    log = folder / "output.txt"
    program = program or usual()
    quiet = () if "-cite" in arguments else ("-nocite",)
    command = [*program.command(ranks), "-in", "in.lammps", "-log", "log.lammps", *quiet, *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **program.variables, **(variables or {})}
    start = time.monotonic()
    with log.open("w") as sink:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=sink,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            while process.poll() is None and time.monotonic() - start < limit:
                if watch:
                    watch(process.pid)
                try:
                    process.wait(0.1 if watch else limit - (time.monotonic() - start))
                except subprocess.TimeoutExpired:
                    pass
        finally:
            hung = process.poll() is None
            if hung:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    seconds = time.monotonic() - start
    output = log.read_text(errors="replace")
    assert not hung, f"{ranks} ranks did not end within {limit} s in {folder}:\n{_tail(output)}"
    return Outcome(process.returncode, output, seconds, folder)


def run(script: str, folder: Path, ranks: int = 1, **options) -> Outcome:
    """As launch(), for a run that must succeed."""
    outcome = launch(script, folder, ranks, **options)
    assert outcome.status == 0 and not outcome.error_lines, \
        f"exit status {outcome.status} on {ranks} ranks in {folder}:\n{_tail(outcome.output)}"
    return outcome


def _tail(output: str) -> str:
    return "\n".join(output.splitlines()[-25:])


def read_thermo(output: str) -> list[dict[str, np.ndarray]]:
    """The tables that thermo_style custom printed, one for each run, by column."""
    tables = []
    lines = iter(output.splitlines())
    for line in lines:
        if not line.lstrip().startswith("Step "):
            continue
        names, rows = line.split(), []
        for row in lines:
            try:
                values = [float(word) for word in row.split()]
            except ValueError:
                if row.startswith("Loop time"):
                    break
                continue    # a warning between two steps
            if len(values) == len(names):
                rows.append(values)
        tables.append(dict(zip(names, np.array(rows).reshape(-1, len(names)).T)))
    return tables


@dataclass
class Frame:
    step: int
    columns: dict[str, np.ndarray]    # by name, atoms ordered by ID
    box: np.ndarray                   # [3, 2 or 3] as dumped

    def vectors(self, *names: str) -> np.ndarray:
        return np.stack([self.columns[name] for name in names], axis=1)


def read_dump(path: Path) -> list[Frame]:
    frames = []
    for text in path.read_text().split("ITEM: TIMESTEP\n")[1:]:
        step, rest = text.split("\n", 1)
        box = np.array([line.split() for line in rest.split("ITEM: BOX BOUNDS")[1].split("\n")[1:4]], float)
        header, _, body = rest.split("ITEM: ATOMS ")[1].partition("\n")
        names = header.split()
        rows = np.array(body.split(), float).reshape(-1, len(names))
        rows = rows[np.argsort(rows[:, names.index("id")])]
        frames.append(Frame(int(step), dict(zip(names, rows.T)), box))
    return frames


def spread(output: str, name: str) -> list[tuple[float, float, float]]:
    """Minimum, average and maximum over ranks in each line `name` of `log yes`."""
    found = re.findall(rf"^mlip/dd:   {re.escape(name)} +(\S+) +(\S+) +(\S+)$", output, re.MULTILINE)
    return [tuple(float(word) for word in words) for words in found]
