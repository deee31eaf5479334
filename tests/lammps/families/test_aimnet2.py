"""If these fail, AIMNet2 in LAMMPS is not the package's model, or its charges are not balanced over all ranks."""

import importlib.util

import numpy as np
import pytest
import tolerances as tol
import torch
from evaluate import Case, evaluate_one, largest
from family_checks import DIVIDED, assert_close, check_divided, check_package, decompositions, small_systems
from models import pairs_within
from molecule_boxes import DTYPES, LARGE, NUMBERS, SMALL, SPIN
from pipeline_models import native_spec, pipeline
from run import read_dump, run

pytestmark = pytest.mark.skipif(importlib.util.find_spec("aimnet") is None, reason="the package aimnet is not installed")
# The package adds 1e-6 to a divisor, so that the charges miss the total by up to that over the sum of their weights.
BALANCE = 1e-3    # e


@pytest.fixture(scope="module")
def made(packaged):
    return packaged("aimnet2", "aimnet")


@pytest.fixture(scope="module")
def open_shell(packaged):
    return packaged("aimnet2", "aimnet", arguments=("open_shell",))["float64"]


@pytest.fixture(scope="module", params=DTYPES)
def aimnet2(request, made):
    return made[request.param]


@pytest.fixture(scope="module")
def double(made):
    return made["float64"]


@pytest.fixture(scope="module")
def small(aimnet2, tmp_path_factory):
    return small_systems(aimnet2.model, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def divided(double, tmp_path_factory):
    return decompositions(double.model, tmp_path_factory.mktemp("divided"))


@pytest.mark.parametrize("name", SMALL)
def test_equal_to_the_package(name, aimnet2, small):
    check_package(small[name], aimnet2, name, all(SMALL[name].periodic))


@pytest.mark.parametrize("ranks, grid", DIVIDED)
def test_any_decomposition_equals_one_rank(ranks, grid, divided):
    check_divided(divided[ranks][grid], divided[1]["whole"], ranks, double=True)


@pytest.mark.parametrize("name", SMALL)
def test_charges_are_the_packages(name, double):
    system, expected = SMALL[name], double.results[name].charges
    receivers, senders, vectors = pairs_within(system, double.model.cutoff)
    module = torch.jit.load(str(double.model.file))
    numbers = torch.tensor([NUMBERS[system.elements[kind - 1]] for kind in system.types])
    charge = torch.tensor([double.model.fields["parameters"]["total_charge"]], dtype=torch.float64)
    with torch.no_grad():
        _, charges, spins = module(numbers, torch.tensor(np.stack([receivers, senders])), torch.tensor(vectors),
                                   torch.zeros(len(system), dtype=torch.long), charge, torch.zeros_like(charge))
    assert np.ptp(expected) > 0.01 and abs(expected.sum() - float(charge)) < BALANCE
    assert largest(charges.numpy() - expected) <= tol.DOUBLE_FORCE and largest(spins.numpy()) == 0.0


@pytest.mark.parametrize("name", SMALL)
def test_charges_of_either_spin(name, open_shell, tmp_path):
    """The form of the package for open shells, whose charges of two spins are balanced each to its own total."""
    system, expected = SMALL[name], open_shell.results[name]
    assert np.ptp(expected.spins) > 0.01 and abs(expected.spins.sum() - 2 * SPIN) < BALANCE
    fields = "fix spins all pair 1 mlip/dd spin_charges 0\nfix charges all pair 1 mlip/dd charges 0\n"
    case = Case(system, open_shell.model, name, settings="box tilt large")
    whole = evaluate_one(case, tmp_path / "whole")
    check_package(whole, open_shell, name, all(system.periodic))
    script = case.setup(tmp_path) + fields + "run 0\nwrite_dump all custom fields.dump id f_spins f_charges modify sort id"
    run(script + " format float %.17g\n", tmp_path, ranks=3)
    found = read_dump(tmp_path / "fields.dump")[-1].columns
    assert largest(found["f_spins"] - expected.spins) <= tol.DOUBLE_FORCE
    assert largest(found["f_charges"] - expected.charges) <= tol.DOUBLE_FORCE


@pytest.mark.parametrize("ranks, grid", [(3, "processors 3 1 1"), (4, "processors 1 2 2")])
def test_charges_feed_a_mesh(ranks, grid, double, tmp_path):
    """The whole chain: charges to PME, and back through the model. PME's mesh is the same on any number of ranks."""
    model = pipeline(tmp_path, "charged", {
        "aimnet2": str(double.model.spec), "pme": native_spec("pme", 6.0, LARGE.elements, accuracy=1e-6)},
        {"steps": ["aimnet2", {"model": "pme", "wire": {"charges": "aimnet2.charges"}}], "autograd": True})
    whole = evaluate_one(Case(LARGE, model), tmp_path / "whole")
    parts = evaluate_one(Case(LARGE, model, settings=grid), tmp_path / "parts", ranks)
    alone = evaluate_one(Case(LARGE, double.model), tmp_path / "alone")
    assert largest(whole.forces - alone.forces) > tol.SIGNAL_FORCE
    assert abs(parts.energy - whole.energy) <= tol.DOUBLE_ENERGY * abs(whole.energy)
    assert largest(parts.forces - whole.forces) <= tol.DOUBLE_FORCE
    assert largest(parts.pressure - whole.pressure) <= tol.DOUBLE_PRESSURE


def test_wide_halo_equals_exchange(double, divided, tmp_path):
    """Sums over the system count owned atoms alone, where every rank holds every atom."""
    wide = evaluate_one(Case(LARGE, double.model, settings="processors 1 2 1", options="halo wide", skin=0.3),
                        tmp_path, ranks=2)
    assert wide.rows("rows the model sees")[2] == len(LARGE)
    whole = divided[1]["whole"]
    assert_close(wide, whole.energy, whole.forces, whole.pressure, double=True)
