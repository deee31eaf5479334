"""If these fail, MACE, NequIP or Allegro in LAMMPS is not the package's model, or not on every number of ranks, in one
of the two forms each is exported in: energies by edge vectors, or forces made inside the model.

NequIP here has three rounds of message passing on several ranks, where `pair_style nequip` knows one rank only."""

import importlib.util

import numpy as np
import pytest
import tolerances as tol
from crystal_systems import FORMS, LARGE, SMALL
from evaluate import VOIGT, Batches, Case, Snapshot, largest, require_signal
from models import Model

EVERY_FORM = [f"{family}-{form}" for family, forms in FORMS.items() for form in forms]
EDGE_FORMS = [f"{family}-edges" for family in FORMS]
FORCES_INSIDE = [form for form in EVERY_FORM if form not in EDGE_FORMS]
ROUNDS = {"mace": 2, "nequip": 3, "allegro": 0}    # of message passing, as packages/*.py make them
SINGLE = "nequip-edges-float32"
TILED = ("comm_style tiled", "balance 1.0 rcb")
# Ranks: name, commands before the box, commands after reading, options of the pair style, models.
GRIDS = {
    1: [("whole", "", "", "", EVERY_FORM + [SINGLE])],
    2: [("1x2x1", "processors 1 2 1", "", "", EVERY_FORM), ("tiled", *TILED, "", EVERY_FORM + [SINGLE]),
        ("padded", "processors 2 1 1", "", "halo padded", EVERY_FORM)],
    3: [("3x1x1", "processors 3 1 1", "", "", EVERY_FORM + [SINGLE]), ("tiled", *TILED, "", EDGE_FORMS)],
    4: [("2x1x2", "processors 2 1 2", "", "", EVERY_FORM), ("tiled", *TILED, "", EDGE_FORMS),
        ("padded", *TILED, "halo padded", FORCES_INSIDE)],
    8: [("2x2x2", "processors 2 2 2", "", "", EDGE_FORMS)],
}
# What is left of every form on every number of ranks, for --whole.
MORE = {3: [("tiled", *TILED, "", FORCES_INSIDE)], 4: [("tiled", *TILED, "", FORCES_INSIDE)],
        8: [("2x2x2", "processors 2 2 2", "", "", FORCES_INSIDE), ("tiled", *TILED, "", EVERY_FORM)]}


def listed(grids):
    return [(ranks, grid[0], form) for ranks in grids if ranks > 1 for grid in grids[ranks] for form in grid[4]]

pytestmark = pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in ("mace", "nequip", "allegro")),
                                reason="the packages mace-torch, nequip and nequip-allegro are not installed")


@pytest.fixture(scope="module")
def packaged(crystal_package):
    return {family: crystal_package(family) for family in FORMS} | {"single": crystal_package("nequip", "float32")}


@pytest.fixture(scope="module")
def models(packaged) -> dict[str, Model]:
    return {SINGLE: packaged["single"].models["edges"]} | {
        f"{family}-{form}": packaged[family].models[form] for family, forms in FORMS.items() for form in forms}


@pytest.fixture(scope="module")
def small(models, tmp_path_factory):
    """small(ranks)[form_system]"""
    return {ranks: Batches([Case(system, models[form], f"{form}_{name}", settings="box tilt large")
                            for name, system in SMALL.items() for form in [*EVERY_FORM, SINGLE]],
                           ranks, tmp_path_factory.mktemp(f"small{ranks}")) for ranks in (1, 2)}


@pytest.fixture(scope="module")
def run_grids(models, tmp_path_factory):
    return lambda all_grids: {
        ranks: Batches([Case(LARGE, models[form], f"{form}_{name}", settings=before, changes=after, options=options)
                        for name, before, after, options, forms in grids for form in forms],
                       ranks, tmp_path_factory.mktemp(f"ranks{ranks}")) for ranks, grids in all_grids.items()}


@pytest.fixture(scope="module")
def divided(run_grids):
    return run_grids(GRIDS)


@pytest.fixture(scope="module")
def divided_more(run_grids):
    return run_grids(MORE)


def assert_close(found: Snapshot, energy: float, forces: np.ndarray, pressure: np.ndarray | None, double: bool) -> None:
    relative = tol.DOUBLE_ENERGY if double else tol.FAMILY_SINGLE_ENERGY
    assert abs(found.energy - energy) <= relative * abs(energy)
    assert largest(found.forces - forces) <= (tol.DOUBLE_FORCE if double else tol.FAMILY_SINGLE_FORCE)
    if pressure is not None:
        assert largest(found.pressure - pressure) <= (tol.DOUBLE_PRESSURE if double else tol.FAMILY_SINGLE_PRESSURE)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("form", [*EVERY_FORM, SINGLE])
def test_equal_to_the_package(form, name, ranks, small, packaged):
    family = "single" if form == SINGLE else form.split("-")[0]
    expected = packaged[family].results[name]
    assert largest(expected.forces) > tol.SIGNAL_FORCE
    pressure = None
    if expected.stress is not None:
        assert largest(expected.stress) > tol.SIGNAL_PRESSURE
        # Stress is positive under tension, LAMMPS's pressure under compression.
        pressure = np.array([-expected.stress[a, b] for a, b in VOIGT])
    found = small[ranks][f"{form}_{name}"]
    if family != "mace":
        return assert_close(found, expected.energy, expected.forces, pressure, form != SINGLE)
    assert abs(found.energy - expected.energy) <= tol.REPULSION_ENERGY * abs(expected.energy)
    assert largest(found.forces - expected.forces) <= tol.REPULSION_FORCE
    if pressure is not None:
        assert largest(found.pressure - pressure) <= tol.REPULSION_PRESSURE


def check_divided(whole: Snapshot, parts: Snapshot, ranks: int, grid: str, form: str) -> None:
    require_signal(whole)
    assert len(np.unique(parts.ranks)) == ranks and parts.rows("halo rows")[0] > 0
    owned_and_halo = parts.rows("owned rows")[0] + parts.rows("halo rows")[0]
    assert (parts.rows("rows the model sees")[0] >= owned_and_halo) == (grid == "padded")
    assert np.array_equal(parts.types, whole.types)
    assert_close(parts, whole.energy, whole.forces, whole.pressure, form != SINGLE)


@pytest.mark.parametrize("ranks, grid, form", listed(GRIDS))
def test_any_decomposition_equals_one_rank(ranks, grid, form, divided):
    check_divided(divided[1][f"{form}_whole"], divided[ranks][f"{form}_{grid}"], ranks, grid, form)


@pytest.mark.whole
@pytest.mark.parametrize("ranks, grid, form", listed(MORE))
def test_every_form_on_every_number_of_ranks(ranks, grid, form, divided, divided_more):
    check_divided(divided[1][f"{form}_whole"], divided_more[ranks][f"{form}_{grid}"], ranks, grid, form)


@pytest.mark.parametrize("form", EVERY_FORM)
def test_rounds_are_counted(form, models):
    """A wide halo is as many cutoffs wide: one too few, and it gives other forces without a word."""
    assert models[form].layers == ROUNDS[form.split("-")[0]]


@pytest.mark.parametrize("family", FORMS)
def test_both_forms_are_one_model(family, divided):
    first, second = (divided[4][f"{family}-{form}_2x1x2"] for form in FORMS[family])
    assert_close(first, second.energy, second.forces, second.pressure, double=True)
