"""If these fail, CHGNet in LAMMPS is not the package's model, or its bonds miss what the angles at ends on other ranks add."""

import importlib.util

import pytest
from family_checks import CRYSTALS, DIVIDED, LARGE_CRYSTAL, check_divided, check_package, decompositions, small_systems
from molecule_boxes import DTYPES

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
