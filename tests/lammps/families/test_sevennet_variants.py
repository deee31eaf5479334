"""If these fail, a SevenNet of higher angular momentum, or one trained on several data sets, is not its authors' model in
LAMMPS, or not on every number of ranks."""

import importlib.util

import pytest
import tolerances as tol
from evaluate import VOIGT, largest
from family_checks import (CRYSTALS, DIVIDED, LARGE_CRYSTAL, assert_close, check_divided, decompositions,
                           small_systems)
from models import Model
from sevennet_package import calculator_results

MODELS = {"7net-l3i5": None, "7net-mf-0": "PBE"}    # and the data set to speak for
QUICK = {2, 3}                                      # ranks; more of them by --whole

pytestmark = pytest.mark.skipif(importlib.util.find_spec("sevenn") is None, reason="the package sevenn is not installed")


@pytest.fixture(scope="module", params=MODELS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def model(name, export) -> Model:
    modal = MODELS[name]
    return Model(export("sevennet", name, *(["--modal", modal] if modal else [])), double=False)


@pytest.fixture(scope="module")
def small(model, tmp_path_factory):
    return small_systems(model, tmp_path_factory.mktemp("small"), CRYSTALS)


@pytest.fixture(scope="module")
def divided(model, tmp_path_factory):
    return decompositions(model, tmp_path_factory.mktemp("divided"), LARGE_CRYSTAL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("system", CRYSTALS)
def test_equal_to_the_authors_calculator(system, name, small):
    energy, forces, stress = calculator_results(CRYSTALS[system], name, MODELS[name])
    assert largest(forces) > tol.SIGNAL_FORCE and largest(stress) > tol.SIGNAL_PRESSURE
    assert_close(small[system], energy, forces, [-stress[a, b] for a, b in VOIGT], double=False)


@pytest.mark.parametrize("ranks, grid", [pytest.param(*case, marks=[] if case[0] in QUICK else pytest.mark.whole)
                                         for case in DIVIDED])
def test_any_decomposition_equals_one_rank(ranks, grid, divided):
    check_divided(divided[ranks][grid], divided[1]["whole"], ranks, double=False)
