"""One evaluation of atoms by LAMMPS, many cases in one call of lmp, and what equal means for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tolerances as tol
from models import Evaluation, Model
from program import Program
from run import read_dump, run, spread
from systems import System, write_data

VOIGT = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@dataclass
class Case:
    system: System
    model: Model
    name: str = "case"
    style: str = "atomic"        # atom_style
    settings: str = ""           # commands before the box: newton, processors, comm_style, ...
    changes: str = ""            # commands between reading the atoms and the pair style
    options: str = ""            # of pair_style
    pair: str = ""               # pair commands in place of the usual two; {spec} is filled in
    skin: float = 1.0            # Angstrom
    node_virial: bool = False

    def pair_commands(self) -> str:
        return (self.pair or f"pair_style mlip/dd {{spec}} log yes {self.options}\n"
                f"pair_coeff * * {' '.join(self.system.elements)}").format(spec=self.model.spec)

    def setup(self, folder: Path) -> str:
        """Commands from an empty LAMMPS up to the first run."""
        data = write_data(self.system, folder / f"{self.name}.data", self.style)
        return f"""
units metal
{self.settings}
atom_style {self.style}
boundary {self.system.boundary}
read_data {data.name}
{self.changes}
{self.pair_commands()}
neighbor {self.skin} bin
compute node_energy all pe/atom
compute potential all pressure NULL virial
thermo_style custom step pe c_potential[1] c_potential[2] c_potential[3] c_potential[4] c_potential[5] c_potential[6]
thermo_modify norm no format float %.17g
"""

    def report(self) -> str:
        """Commands that tell what the last run computed."""
        virial = " c_node_virial[*] c_centroid[*]" if self.node_virial else ""
        values = " ".join(["$(pe:%.17g)"] + [f"$(c_potential[{k}]:%.17g)" for k in range(1, 7)])
        return (f'print "RESULT {self.name} {values} $(vol:%.17g)"\n'
                f"write_dump all custom {self.name}.dump id type x y z fx fy fz c_node_energy proc{virial} "
                "modify sort id format float %.17g\n")

    def script(self, folder: Path) -> str:
        computes = ("compute node_virial all stress/atom NULL virial\n"
                    "compute centroid all centroid/stress/atom NULL virial\n") if self.node_virial else ""
        return self.setup(folder) + computes + "run 0\n" + self.report()


@dataclass
class Snapshot:
    """Ordered by atom ID. Pressures in eV/A^3: xx, yy, zz, xy, xz, yz."""

    energy: float
    pressure: np.ndarray
    volume: float
    node_energy: np.ndarray
    forces: np.ndarray
    positions: np.ndarray
    types: np.ndarray
    ranks: np.ndarray                     # owner of each atom
    node_virial: np.ndarray | None        # [n, 6] eV, sum of x_a F_b
    centroid_virial: np.ndarray | None    # [n, 3, 3] eV
    log: str                              # what LAMMPS printed for this case

    def rows(self, name: str) -> tuple[float, float, float]:
        return spread(self.log, name)[-1]


def read_snapshot(name: str, folder: Path, log: str) -> Snapshot:
    words = next(line for line in log.splitlines() if line.startswith(f"RESULT {name} ")).split()
    values = np.array(words[2:], float)
    frame = read_dump(folder / f"{name}.dump")[-1]
    node_virial = centroid = None
    if "c_centroid[1]" in frame.columns:
        # These computes give minus the virial, in pressure times volume.
        node_virial = -tol.LAMMPS_BAR * frame.vectors(*[f"c_node_virial[{k}]" for k in range(1, 7)])
        nine = -tol.LAMMPS_BAR * frame.vectors(*[f"c_centroid[{k}]" for k in range(1, 10)])
        # xx yy zz xy xz yz yx zx zy
        centroid = nine[:, [0, 3, 4, 6, 1, 5, 7, 8, 2]].reshape(-1, 3, 3)
    return Snapshot(values[0], values[1:7] * tol.LAMMPS_BAR, values[7], frame.columns["c_node_energy"],
                    frame.vectors("fx", "fy", "fz"), frame.vectors("x", "y", "z"), frame.columns["type"].astype(int),
                    frame.columns["proc"].astype(int), node_virial, centroid, log)


def evaluate(cases: Sequence[Case], folder: Path, ranks: int = 1, limit: float = tol.RUN_LIMIT,
             program: Program | None = None) -> dict[str, Snapshot]:
    """All cases by one call of lmp, with `clear` between them. Their names must differ."""
    assert len({case.name for case in cases}) == len(cases)
    folder.mkdir(parents=True, exist_ok=True)
    outcome = run("clear\n".join(case.script(folder) for case in cases), folder, ranks, limit=limit,
                  program=program)
    logs = outcome.output.split("RESULT ")
    # The lines of a case end with its own RESULT line.
    return {case.name: read_snapshot(case.name, folder, logs[k] + "RESULT " + logs[k + 1].split("\n")[0])
            for k, case in enumerate(cases)}


class Batches:
    """Cases on a number of ranks, run a handful at a time when the first of the handful is asked for.

    A start of lmp costs seconds, an evaluation a fraction of one; more ranks than cores take turns at waiting,
    so that many ranks get smaller handfuls. A handful that failed once fails for all its cases, without a rerun.
    """

    def __init__(self, cases: Sequence[Case], ranks: int, folder: Path):
        self._size = max(3, 48 // ranks ** 2)
        self._cases, self._ranks, self._folder = list(cases), ranks, folder
        self._known: dict[int, dict[str, Snapshot] | Exception] = {}

    def __getitem__(self, name: str) -> Snapshot:
        handful = next(k for k, case in enumerate(self._cases) if case.name == name) // self._size
        if handful not in self._known:
            cases = self._cases[handful * self._size:(handful + 1) * self._size]
            try:
                self._known[handful] = evaluate(cases, self._folder / str(handful), self._ranks)
            except Exception as error:
                self._known[handful] = error
        found = self._known[handful]
        if isinstance(found, Exception):
            raise AssertionError(f"the run that {name} is part of failed: {found}")
        return found[name]

    def names(self) -> list[str]:
        return [case.name for case in self._cases]


def evaluate_one(case: Case, folder: Path, ranks: int = 1) -> Snapshot:
    return evaluate([case], folder, ranks)[case.name]


def require_signal(snapshot: Snapshot | Evaluation) -> None:
    assert np.abs(snapshot.forces).max() > tol.SIGNAL_FORCE
    assert np.ptp(snapshot.node_energy) > tol.SIGNAL_NODE_ENERGY
    if isinstance(snapshot, Snapshot):
        assert np.abs(snapshot.pressure).max() > tol.SIGNAL_PRESSURE


def largest(difference) -> float:
    return float(np.abs(difference).max(initial=0.0))


def assert_same(found: Snapshot, expected: Snapshot, double: bool, pressure: bool = True) -> None:
    """Both about the same atoms in the same order."""
    assert np.array_equal(found.types, expected.types)
    # In float32 the energy of a single atom is rounded by that much, however few there are.
    allowed = tol.DOUBLE_ENERGY * abs(expected.energy) if double else \
        max(tol.SINGLE_ENERGY * abs(expected.energy), tol.SINGLE_NODE_ENERGY)
    assert abs(found.energy - expected.energy) <= allowed
    assert largest(found.forces - expected.forces) <= (tol.DOUBLE_FORCE if double else tol.SINGLE_FORCE)
    assert largest(found.node_energy - expected.node_energy) <= \
        (tol.DOUBLE_NODE_ENERGY if double else tol.SINGLE_NODE_ENERGY)
    if pressure:
        assert largest(found.pressure - expected.pressure) <= (tol.DOUBLE_PRESSURE if double else tol.SINGLE_PRESSURE)


def assert_bare(found: Snapshot, bare: Evaluation) -> None:
    """A float64 model in LAMMPS against the bare model on the same atoms."""
    assert abs(found.energy - bare.energy) <= tol.DOUBLE_ENERGY * abs(bare.energy)
    assert largest(found.node_energy - bare.node_energy) <= tol.DOUBLE_NODE_ENERGY
    assert largest(found.forces - bare.forces) <= tol.DOUBLE_FORCE
    # LAMMPS's pressure without kinetic part is virial over volume.
    virial = np.array([0.5 * (bare.virial[a, b] + bare.virial[b, a]) for a, b in VOIGT])
    assert largest(found.pressure - virial / found.volume) <= tol.DOUBLE_PRESSURE
