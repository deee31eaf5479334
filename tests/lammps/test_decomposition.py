"""If these fail, results depend on how atoms are dealt out to ranks: rows lost, counted twice, sent to the wrong
rank, or forces on halo rows not brought home."""

import numpy as np
import pytest
import tolerances as tol
from evaluate import Batches, Case, assert_same, largest, require_signal
from systems import LATTICE, crystal, rock_salt, supercell

TILED = "comm_style tiled"
RCB = "balance 1.0 rcb"
# Ranks; then name, commands before the box, commands after reading.
GRIDS = {
    2: [("2x1x1", "processors 2 1 1", ""), ("1x2x1", "processors 1 2 1", ""), ("1x1x2", "processors 1 1 2", ""),
        ("tiled", TILED, RCB)],
    3: [("3x1x1", "processors 3 1 1", ""), ("1x1x3", "processors 1 1 3", ""), ("tiled", TILED, RCB)],
    4: [("4x1x1", "processors 4 1 1", ""), ("2x2x1", "processors 2 2 1", ""), ("1x2x2", "processors 1 2 2", ""),
        ("tiled", TILED, RCB), ("shifted", "processors 2 2 1", "balance 1.0 x 0.3 y 0.8"),
        ("recursive", "processors 1 1 4", "balance 1.0 shift z 10 1.0")],
    8: [("8x1x1", "processors 8 1 1", ""), ("2x2x2", "processors 2 2 2", ""), ("tiled", TILED, RCB)],
}
SYSTEMS = {
    "cubic": rock_salt(3),
    "skewed": supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]]), np.diag([3, 2, 2]))[0],
}
# What must not matter: name, pair options, commands before the box, after reading, skin.
WAYS = [("newton", "halo exchange", "newton on", "", 1.0), ("no_newton", "halo exchange", "newton off", "", 1.0),
        ("no_skin", "halo exchange", "", "", 0.0), ("wide", "halo wide", "", "", 0.5),
        ("wide_no_newton", "halo wide", "newton off", "", 0.5), ("wide_tiled", "halo wide", TILED, RCB, 0.5),
        ("threads", "device cpu threads 2", "", "", 1.0)]
# Every grid with the deepest model; fewer with the others and on eight ranks, which take turns on few cores.
SHORT = {2: ["tiled"], 3: ["3x1x1"], 4: ["2x2x1", "tiled"], 8: ["2x2x2"]}


def combinations() -> list[tuple[str, str, int, str]]:
    """Model, system, ranks, grid."""
    every = [("toy3", system, ranks, grid[0]) for ranks, grids in GRIDS.items() for system in SYSTEMS
             for grid in grids if ranks < 8 or system == "cubic" or grid[0] == "2x2x2"]
    return every + [(label, "cubic", ranks, grid) for label in ("toy2", "float32")
                    for ranks, grids in SHORT.items() for grid in grids]


@pytest.fixture(scope="module")
def snapshots(toy2, toy3, toy_single, tmp_path_factory):
    """snapshots(ranks)[case]"""
    models = {"toy2": toy2, "toy3": toy3, "float32": toy_single}
    known = {}

    def make(ranks: int) -> Batches:
        if ranks == 1:
            cases = [Case(system, model, f"{label}_{name}_whole") for label, model in models.items()
                     for name, system in SYSTEMS.items()]
        else:
            cases = [Case(SYSTEMS[system], models[label], f"{label}_{system}_{grid}", settings=before, changes=after)
                     for label, system, count, grid in combinations() if count == ranks
                     for name, before, after in GRIDS[ranks] if name == grid]
        if ranks in (1, 4):
            cases += [Case(SYSTEMS["cubic"], toy3, f"toy3_cubic_{way}", settings=before, changes=after, options=options,
                           skin=skin) for way, options, before, after, skin in WAYS]
        return Batches(cases, ranks, tmp_path_factory.mktemp(f"ranks{ranks}"))

    def on(ranks: int) -> Batches:
        if ranks not in known:
            known[ranks] = make(ranks)
        return known[ranks]

    return on


@pytest.mark.parametrize("label, system, ranks, grid", combinations())
def test_any_decomposition_equals_one_rank(label, system, ranks, grid, snapshots):
    whole = snapshots(1)[f"{label}_{system}_whole"]
    parts = snapshots(ranks)[f"{label}_{system}_{grid}"]
    require_signal(whole)
    assert len(np.unique(parts.ranks)) == ranks and parts.rows("halo rows")[0] > 0
    assert_same(parts, whole, double=label != "float32")


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("way", [way[0] for way in WAYS])
def test_options_change_no_result(way, ranks, snapshots):
    assert_same(snapshots(ranks)[f"toy3_cubic_{way}"], snapshots(1)["toy3_cubic_whole"], double=True)


def test_models_differ_more_than_the_tolerance(snapshots):
    """A guard: two and three layers, or float32, are not so alike that the wrong model would pass."""
    found = snapshots(1)
    expected = found["toy3_cubic_whole"]
    assert largest(found["toy2_cubic_whole"].forces - expected.forces) > 1e-3
    assert largest(found["float32_cubic_whole"].forces - expected.forces) > 100 * tol.DOUBLE_FORCE
