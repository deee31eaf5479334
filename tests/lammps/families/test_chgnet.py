"""If these fail, CHGNet in LAMMPS is not the package's model, or its bonds miss what the angles at ends on other ranks add."""

import importlib.util
import json

import pytest
import tolerances as tol
from evaluate import Case, evaluate_one, largest
from family_checks import (CRYSTALS, DIVIDED, LARGE_CRYSTAL, assert_close, check_divided, check_package, decompositions,
                           small_systems)
from models import Model
from molecule_boxes import DTYPES
from systems import rock_salt

pytestmark = pytest.mark.skipif(importlib.util.find_spec("chgnet") is None, reason="the package chgnet is not installed")


@pytest.fixture(scope="module")
def made(packaged):
    return packaged("chgnet_pretrained", "chgnet")


@pytest.fixture(scope="module", params=DTYPES)
def model(request, made):
    return made[request.param]


@pytest.fixture(scope="module")
def small(model, tmp_path_factory):
    return small_systems(model.model, tmp_path_factory.mktemp("small"), CRYSTALS)


@pytest.fixture(scope="module")
def divided(made, tmp_path_factory):
    return decompositions(made["float64"].model, tmp_path_factory.mktemp("divided"), LARGE_CRYSTAL)


@pytest.mark.parametrize("name", CRYSTALS)
def test_equal_to_the_package(name, model, small):
    check_package(small[name], model, name)


@pytest.mark.parametrize("ranks, grid", DIVIDED)
def test_any_decomposition_equals_one_rank(ranks, grid, divided):
    check_divided(divided[ranks][grid], divided[1]["whole"], ranks, double=True)


def test_wide_halo_needs_the_rounds_that_the_exporter_writes(made, tmp_path):
    """A bar of 180 A on two ranks: seven rounds of 6 A leave out atoms in the middle of the other's half, three too many."""
    bar, model = rock_salt((32, 1, 1), amplitude=0.1), made["float64"].model
    assert model.layers == 7
    fewer = json.loads(model.spec.read_text())
    fewer["model"] |= {"layers": 3, "file": str(model.file)}
    short = Model(tmp_path / "short.json", double=True)
    short.spec.write_text(json.dumps(fewer))
    whole = evaluate_one(Case(bar, model), tmp_path / "whole")
    wide, wrong = (evaluate_one(Case(bar, which, name, settings="processors 2 1 1", options="halo wide", skin=0.3),
                                tmp_path / name, ranks=2) for name, which in (("wide", model), ("wrong", short)))
    assert wide.rows("rows the model sees")[2] < len(bar)
    assert_close(wide, whole.energy, whole.forces, whole.pressure, double=True)
    assert largest(wrong.forces - whole.forces) > 1000 * tol.DOUBLE_FORCE
