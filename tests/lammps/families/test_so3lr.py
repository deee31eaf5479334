"""If these fail, SO3LR in LAMMPS is not the package's model, or what it sums over the system is not the sum over all ranks."""

import importlib.util

import pytest
from family_checks import DIVIDED, check_divided, check_package, decompositions, small_systems
from molecule_boxes import DTYPES, SMALL, molecules

pytestmark = pytest.mark.skipif(importlib.util.find_spec("so3krates_torch") is None, reason="the package so3krates-torch is not installed")
# LAMMPS's tiled communication wants a box wider than the cutoff and the skin, 13 A.
LARGE = molecules((4, 4, 4), seed=4)


@pytest.fixture(scope="module")
def made(packaged):
    return packaged("so3lr", "so3krates-torch")


@pytest.fixture(scope="module", params=DTYPES)
def model(request, made):
    return made[request.param]


@pytest.fixture(scope="module")
def small(model, tmp_path_factory):
    return small_systems(model.model, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def divided(made, tmp_path_factory):
    return decompositions(made["float64"].model, tmp_path_factory.mktemp("divided"), LARGE)


@pytest.mark.parametrize("name", SMALL)
def test_equal_to_the_package(name, model, small):
    check_package(small[name], model, name, all(SMALL[name].periodic))


@pytest.mark.parametrize("ranks, grid", DIVIDED)
def test_any_decomposition_equals_one_rank(ranks, grid, divided):
    check_divided(divided[ranks][grid], divided[1]["whole"], ranks, double=True)
