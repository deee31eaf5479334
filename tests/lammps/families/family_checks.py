"""What every family must show: the package's numbers on one rank, and those of one rank on any number of ranks."""

from pathlib import Path

import numpy as np
import tolerances as tol
from evaluate import VOIGT, Batches, Case, Snapshot, largest, require_signal
from models import Model
from molecule_boxes import LARGE, SMALL, Packaged
from systems import System, crystal, rock_salt, supercell

CRYSTALS = {    # compared with the packages of models of inorganic matter
    "one_cell": rock_salt(1, amplitude=0.1),
    "skewed": supercell(crystal([[5.64, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]], amplitude=0.1), np.diag([2, 1, 1]))[0],
    "squeezed": rock_salt(1, amplitude=0.1, lattice=5.2),
}
LARGE_CRYSTAL = rock_salt((3, 2, 2), amplitude=0.1)    # divided

TILED = ("comm_style tiled", "balance 1.0 rcb")
# Ranks: name, commands before the box, commands after reading.
GRIDS = {
    1: [("whole", "", "")],
    2: [("1x2x1", "processors 1 2 1", ""), ("tiled", *TILED)],
    3: [("3x1x1", "processors 3 1 1", ""), ("tiled", *TILED)],
    4: [("2x1x2", "processors 2 1 2", ""), ("tiled", *TILED)],
    8: [("2x2x2", "processors 2 2 2", "")],
}
DIVIDED = [(ranks, grid[0]) for ranks, grids in GRIDS.items() if ranks > 1 for grid in grids]


def decompositions(model: Model, folder: Path, system: System = LARGE, **case) -> dict[int, Batches]:
    return {ranks: Batches([Case(system, model, name, settings=before, changes=after, **case)
                            for name, before, after in grids], ranks, folder / f"ranks{ranks}")
            for ranks, grids in GRIDS.items()}


def small_systems(model: Model, folder: Path, systems: dict[str, System] = SMALL) -> Batches:
    return Batches([Case(system, model, name, settings="box tilt large") for name, system in systems.items()], 1, folder)


def assert_close(found: Snapshot, energy: float, forces: np.ndarray, pressure: np.ndarray | None, double: bool) -> None:
    relative = tol.DOUBLE_ENERGY if double else tol.FAMILY_SINGLE_ENERGY
    assert abs(found.energy - energy) <= relative * abs(energy)
    assert largest(found.forces - forces) <= (tol.DOUBLE_FORCE if double else tol.FAMILY_SINGLE_FORCE)
    if pressure is not None:
        assert largest(found.pressure - pressure) <= (tol.DOUBLE_PRESSURE if double else tol.FAMILY_SINGLE_PRESSURE)


def check_package(found: Snapshot, packaged: Packaged, name: str, periodic: bool = True) -> None:
    """Energy, forces and stress of one of the systems, as the package gives them."""
    expected = packaged.results[name]
    assert largest(expected.forces) > tol.SIGNAL_FORCE
    pressure = None
    if periodic and expected.stress is not None:
        assert largest(expected.stress) > tol.SIGNAL_PRESSURE
        # Stress is positive under tension, LAMMPS's pressure under compression.
        pressure = np.array([-expected.stress[a, b] for a, b in VOIGT])
    assert_close(found, expected.energy, expected.forces, pressure, packaged.model.double)


def check_divided(parts: Snapshot, whole: Snapshot, ranks: int, double: bool) -> None:
    require_signal(whole)
    assert len(np.unique(parts.ranks)) == ranks and parts.rows("halo rows")[0] > 0
    assert np.array_equal(parts.types, whole.types)
    assert_close(parts, whole.energy, whole.forces, whole.pressure, double)
