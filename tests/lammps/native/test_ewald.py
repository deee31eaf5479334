"""If these fail, pair_style mlip/dd with potential ewald is not the Coulomb energy that LAMMPS's own Ewald sum has, or
depends on how LAMMPS cuts the box."""

import numpy as np
import pytest
import tolerances as tol
from charged_cases import ACCURACY, SYSTEMS, assert_close, case, charged_model, check_ranks, own_style
from evaluate import assert_same, evaluate, evaluate_one, largest
from run import launch
from systems import rock_salt


@pytest.fixture(scope="module")
def ewald(tmp_path_factory):
    return charged_model(tmp_path_factory.mktemp("ewald"), "ewald", 8.0, accuracy=ACCURACY)


@pytest.mark.parametrize("name", SYSTEMS)
def test_equals_lammps_ewald(name, ewald, tmp_path):
    cases = [case(SYSTEMS[name], ewald, "ours"),
             case(SYSTEMS[name], ewald, "theirs", pair=own_style(f"ewald {ACCURACY}", 10.0))]
    found = evaluate(cases, tmp_path)
    assert_close(found["ours"], found["theirs"])


def test_cutoff_chosen_from_the_accuracy(tmp_path):
    model = charged_model(tmp_path, "ewald", None, accuracy=ACCURACY)
    cases = [case(SYSTEMS["cubic"], model, "ours"),
             case(SYSTEMS["cubic"], model, "theirs", pair=own_style(f"ewald {ACCURACY}", 10.0))]
    found = evaluate(cases, tmp_path)
    assert_close(found["ours"], found["theirs"])


def slab_system():
    """Rock salt in a box that is open along z, with room on both sides."""
    slab = rock_salt(2)
    slab.cell[2, 2] += 3.0
    slab.positions[:, 2] += 1.0
    slab.boundary = "p p f"
    return slab


def test_slab_equals_lammps_slab(tmp_path):
    slab = slab_system()
    slab.positions[slab.types == 1, 2] += 0.05    # a dipole moment, so that the correction counts
    model = charged_model(tmp_path, "ewald", 8.0, accuracy=ACCURACY, slab=3.0)
    plain = charged_model(tmp_path, "ewald", 8.0, accuracy=ACCURACY)
    lammps = own_style(f"ewald {ACCURACY}", 10.0, "kspace_modify slab 3.0\n")
    periodic = rock_salt(2)
    periodic.cell, periodic.positions = slab.cell, slab.positions
    found = evaluate([case(slab, model, "ours"), case(slab, model, "theirs", pair=lammps),
                      case(periodic, plain, "periodic")], tmp_path)
    assert largest(found["periodic"].forces - found["ours"].forces) > 1e-3
    # LAMMPS leaves the correction out of the pressure.
    assert_close(found["ours"], found["theirs"], pressure=False)


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_ranks_give_the_same(ranks, ewald, tmp_path):
    bricks = [case(system, ewald, name, node_virial=True) for name, system in SYSTEMS.items()]
    tiled = [case(SYSTEMS["cubic"], ewald, "tiled", settings="comm_style tiled", changes="balance 1.0 rcb")]
    thin = [case(rock_salt((1, 1, 2)), ewald, "thin", settings="processors * 1 1")]
    check_ranks(bricks + tiled + thin, tmp_path, ranks, assert_same)


def test_node_virials_sum_to_the_pressure(ewald, tmp_path):
    found = evaluate_one(case(SYSTEMS["skewed"], ewald, "one", node_virial=True), tmp_path, 2)
    assert largest(found.node_virial.sum(0) / found.volume - found.pressure) <= tol.DOUBLE_PRESSURE
    assert np.isclose(found.node_energy.sum(), found.energy, rtol=tol.DOUBLE_ENERGY)


def test_charges_of_the_elements(ewald, tmp_path):
    # The data file's charges are +-0.5.
    given = charged_model(tmp_path, "ewald", 8.0, accuracy=ACCURACY, charges=[0.5, -0.5])
    system = SYSTEMS["cubic"]
    found = evaluate([case(system, ewald, "own"), case(system, given, "given")], tmp_path)
    assert_same(found["given"], found["own"], double=True)


def test_atoms_without_charges_are_refused(ewald, tmp_path):
    atomic = case(SYSTEMS["cubic"], ewald, "atomic")
    atomic.style = "atomic"
    outcome = launch(atomic.script(tmp_path), tmp_path, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0
    assert any("atom_style charge" in line for line in outcome.error_lines), outcome.output


def test_open_box_is_refused(ewald, tmp_path):
    outcome = launch(case(slab_system(), ewald, "open").script(tmp_path), tmp_path, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0
    assert any("slab" in line for line in outcome.error_lines), outcome.output
