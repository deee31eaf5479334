"""If these fail, a family's model under mlip/dd/kk is not what it is under mlip/dd: an operator that it needs works on
other arrays there, or its exchanges, outputs or forces take another way."""

import importlib.util
from functools import partial

import molecule_boxes
import pytest
import tolerances as tol
from crystal_systems import FORMS
from crystal_systems import LARGE as SALT
from evaluate import Case, evaluate, largest, require_signal
from models import Model

MODULES = {"mace": "mace", "nequip": "nequip", "allegro": "allegro", "chgnet": "chgnet", "aimnet2": "aimnet",
           "ani": "torchani", "so3lr": "so3krates_torch", "7net-mf-0": "sevenn"}
CRYSTAL_FORMS = [f"{family}-{form}" for family, forms in FORMS.items() for form in forms]
FORCES_INSIDE = ["mace-lammps", "nequip-forces", "allegro-forces"]    # these have no virial of single atoms
SINGLE = ["7net-mf-0"]
RANKS = 2


@pytest.fixture(scope="module")
def both(kokkos, packaged, crystal_package, export, tmp_path_factory):
    """What each style gives for every model whose package is installed."""
    def crystal(name: str) -> Model:
        family, form = name.split("-")
        return crystal_package(family).models[form]

    def package(script: str, name: str) -> Model:
        return packaged(script, name)["float64"].model

    models = {name: (SALT, partial(crystal, name)) for name in CRYSTAL_FORMS} | {
        "chgnet": (SALT, lambda: package("chgnet_pretrained", "chgnet")),
        "aimnet2": (molecule_boxes.LARGE, lambda: package("aimnet2", "aimnet")),
        "ani": (molecule_boxes.LARGE, lambda: package("ani", "torchani")),
        "so3lr": (molecule_boxes.molecules((4, 4, 4), seed=4), lambda: package("so3lr", "so3krates-torch")),
        "7net-mf-0": (SALT, lambda: Model(export("sevennet", "7net-mf-0", "--modal", "PBE"), double=False)),
    }
    cases = [Case(system, make(), name, node_virial=name not in FORCES_INSIDE)
             for name, (system, make) in models.items() if installed(name)]
    folder = tmp_path_factory.mktemp("families")
    return [evaluate(cases, folder / label, RANKS, limit=tol.BATCH_LIMIT, program=program)
            for label, program in (("plain", kokkos.plain()), ("kk", kokkos.kk()))]


def installed(name: str) -> bool:
    return importlib.util.find_spec(MODULES.get(name) or MODULES[name.split("-")[0]]) is not None


@pytest.mark.parametrize("name", [*CRYSTAL_FORMS, "chgnet", "aimnet2", "ani", "so3lr", *SINGLE])
def test_equal_to_the_plain_style(name, kokkos, request):
    if not installed(name):
        pytest.skip(f"the package of {name} is not installed")
    expected, found = (snapshots[name] for snapshots in request.getfixturevalue("both"))
    require_signal(expected)
    assert "KOKKOS on" in found.log and "KOKKOS on" not in expected.log
    double = name not in SINGLE
    within = tol.KOKKOS_ONE_THREAD if double else 0.0
    if kokkos.precision != "double":
        within = tol.KOKKOS_SINGLE
    assert largest(found.forces - expected.forces) <= within * largest(expected.forces) + (
        0.0 if double else tol.SINGLE_FORCE)
    assert abs(found.energy - expected.energy) <= (within + (0.0 if double else tol.SINGLE_ENERGY)) * abs(expected.energy)
    if expected.node_virial is not None and double:
        assert largest(expected.node_virial) > 0.0
        assert largest(found.node_virial - expected.node_virial) <= within * largest(expected.node_virial)
    assert largest(found.pressure - expected.pressure) <= within * largest(expected.pressure) + (
        0.0 if double else tol.FAMILY_SINGLE_PRESSURE)
