"""If these fail, ANI in LAMMPS is not the package's ensemble, or not on every number of ranks."""

import importlib.util

import pytest
from family_checks import DIVIDED, check_divided, check_package, decompositions, small_systems
from molecule_boxes import DTYPES, SMALL

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torchani") is None, reason="the package torchani is not installed")


@pytest.fixture(scope="module")
def made(packaged):
    return packaged("ani", "torchani")


@pytest.fixture(scope="module", params=DTYPES)
def model(request, made):
    return made[request.param]


@pytest.fixture(scope="module")
def small(model, tmp_path_factory):
    return small_systems(model.model, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def divided(made, tmp_path_factory):
    return decompositions(made["float64"].model, tmp_path_factory.mktemp("divided"))


@pytest.mark.parametrize("name", SMALL)
def test_equal_to_the_package(name, model, small):
    check_package(small[name], model, name, all(SMALL[name].periodic))


@pytest.mark.parametrize("ranks, grid", DIVIDED)
def test_any_decomposition_equals_one_rank(ranks, grid, divided):
    check_divided(divided[ranks][grid], divided[1]["whole"], ranks, double=True)
