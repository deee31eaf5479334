"""If these fail, results depend on how a system is described: box small against the cutoff, skewed, moved, atoms
given outside it, other boundaries. Folding of periodic images onto atoms is what breaks first."""

import numpy as np
import pytest
import tolerances as tol
from evaluate import Batches, Case, assert_same, largest, require_signal
from systems import LATTICE, System, crystal, molecule, rock_salt, supercell

REPLICATE = "replicate 3 3 3"
# One atom, primitive cell of fcc with nearest neighbours at 3.1 A: 60-degree box, tilts of half a box length.
_EDGE = 3.1
_PRIMITIVE = _EDGE * np.array([[1, 0, 0], [0.5, np.sqrt(0.75), 0], [0.5, np.sqrt(1 / 12), np.sqrt(2 / 3)]])
SMALL = {
    "nacl_cell": rock_salt(1),
    "fcc_primitive": System(np.array([[0.3, 0.2, 0.1]]), np.array([1]), _PRIMITIVE, elements=("Na",)),
    "two_atoms": System(np.array([[0, 0, 0], [2.2, 1.6, 1.3]]), np.array([1, 2]), 1.25 * _PRIMITIVE),
    "thin": rock_salt((4, 1, 1)),
}
SMALL_RANKS = (1, 2, 4)


@pytest.fixture(scope="module")
def small(toy3, tmp_path_factory):
    def cases(ranks: int) -> list[Case]:
        found = [Case(system, toy3, name) for name, system in SMALL.items()]
        if ranks == 1:
            found += [Case(system, toy3, f"{name}_replicated", changes=REPLICATE) for name, system in SMALL.items()]
        return found

    return {ranks: Batches(cases(ranks), ranks, tmp_path_factory.mktemp(f"small{ranks}")) for ranks in SMALL_RANKS}


@pytest.mark.parametrize("ranks", SMALL_RANKS)
@pytest.mark.parametrize("name", SMALL)
def test_box_smaller_than_the_cutoff_equals_its_replica(name, ranks, small, toy3):
    cell, replica = small[ranks][name], small[1][f"{name}_replicated"]
    n = len(SMALL[name])
    assert len(replica.forces) == 27 * n and cell.volume ** (1 / 3) < 2 * toy3.cutoff
    assert largest(cell.pressure) > tol.SIGNAL_PRESSURE
    # LAMMPS numbers the atoms of a replica cell by cell.
    assert np.array_equal(replica.types, np.tile(cell.types, 27))
    assert largest(replica.node_energy - np.tile(cell.node_energy, 27)) <= tol.DOUBLE_NODE_ENERGY
    assert largest(replica.forces - np.tile(cell.forces, (27, 1))) <= tol.DOUBLE_FORCE
    assert largest(replica.pressure - cell.pressure) <= tol.DOUBLE_PRESSURE
    if n > 1:
        assert largest(cell.forces) > tol.SIGNAL_FORCE


# --- One infinite crystal in many boxes ------------------------------------------------------------------------

SKEWED = crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]])
CUBIC = crystal(np.eye(3) * LATTICE)
SHIFT = np.array([-31.7, 12.9, 105.3])
# Name, cell repeated, integer combination of its vectors that makes the box. Tilts all differ.
DESCRIPTIONS = [
    ("cubic_skew", CUBIC, [[3, 0, 0], [1, 2, 0], [-1, 1, 2]]),
    ("cubic_long", CUBIC, [[2, 0, 0], [1, 2, 0], [0, -1, 3]]),
    ("skewed_skew", SKEWED, [[3, 0, 0], [1, 2, 0], [-1, 1, 2]]),
    ("skewed_thin", SKEWED, [[4, 0, 0], [-1, 1, 0], [2, 1, 1]]),
]
PLAIN = np.diag([2, 2, 2])
LARGE_TILT = "box tilt large"


def descriptions(model):
    """Case and the indices of its atoms in the plain description's first cell."""
    found = {}
    for name, base, matrix in DESCRIPTIONS:
        system, parents = supercell(base, matrix)
        found[name] = (Case(system, model, name, settings=LARGE_TILT), parents, base)
        found[f"{name}_moved"] = (Case(system.moved(SHIFT), model, f"{name}_moved", settings=LARGE_TILT), parents, base)
    for label, base in (("cubic", CUBIC), ("skewed", SKEWED)):
        system, parents = supercell(base, PLAIN)
        found[label] = (Case(system, model, label), parents, base)
        found[f"{label}_outside"] = (Case(system.atoms_moved(0.4 * system.cell.sum(0)), model, f"{label}_outside"),
                                     parents, base)
        found[f"{label}_moved"] = (Case(system.moved(SHIFT), model, f"{label}_moved"), parents, base)
    return found


@pytest.fixture(scope="module")
def described(toy3, tmp_path_factory):
    cases = descriptions(toy3)
    batches = {ranks: Batches([case for case, _, _ in cases.values()], ranks, tmp_path_factory.mktemp(f"boxes{ranks}"))
               for ranks in (1, 2)}
    return cases, batches


NAMES = list(descriptions(None))


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_same_crystal_in_another_box(name, ranks, described):
    cases, batches = described
    _, parents, base = cases[name]
    label = "cubic" if base is CUBIC else "skewed"
    plain, plain_parents = batches[1][label], cases[label][1]
    require_signal(plain)
    found = batches[ranks][name]
    by_parent = np.argsort(plain_parents, kind="stable")[::len(plain_parents) // len(base)]
    assert largest(found.node_energy - plain.node_energy[by_parent][parents]) <= tol.DOUBLE_NODE_ENERGY
    assert largest(found.forces - plain.forces[by_parent][parents]) <= tol.DOUBLE_FORCE
    assert largest(found.pressure - plain.pressure) <= tol.DOUBLE_PRESSURE


# --- One molecule in many places -------------------------------------------------------------------------------

BOX = 40.0
MIDDLE = molecule(BOX)
PLACES = {
    "open": molecule(BOX, boundary="f f f"),
    "shrunk": molecule(BOX, boundary="s s s"),
    "slab": molecule(BOX, boundary="p p s"),
    "slab_across": molecule(BOX, boundary="p p s").atoms_moved([BOX / 2, -BOX / 2, 0]),
    "minimum": molecule(BOX, boundary="p p m"),
    "face": MIDDLE.atoms_moved([BOX / 2, 0, 0]),
    "corner": MIDDLE.atoms_moved([-BOX / 2, BOX / 2, -BOX / 2]),
    "outside": MIDDLE.atoms_moved([2.3 * BOX, -1.1 * BOX, 0.8 * BOX]),
    "moved": MIDDLE.moved([-77.1, 3.3, 1005.5]),
    "skewed": System(MIDDLE.positions + [17, -9, 20], MIDDLE.types,
                     np.array([[BOX, 0, 0], [9, BOX, 0], [-7, 12, BOX]])),
}


@pytest.fixture(scope="module")
def places(toy3, tmp_path_factory):
    cases = [Case(system, toy3, name) for name, system in {"middle": MIDDLE, **PLACES}.items()]
    return {ranks: Batches(cases, ranks, tmp_path_factory.mktemp(f"places{ranks}")) for ranks in (1, 2)}


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("place", PLACES)
def test_same_molecule_elsewhere(place, ranks, places):
    expected, found = places[1]["middle"], places[ranks][place]
    require_signal_of_molecule(expected)
    assert_same(found, expected, double=True, pressure=False)
    # The box, hence the pressure, may differ; their product may not.
    assert largest(found.pressure * found.volume - expected.pressure * expected.volume) <= tol.DOUBLE_NODE_VIRIAL


def require_signal_of_molecule(snapshot):
    assert largest(snapshot.forces) > tol.SIGNAL_FORCE
    assert largest(snapshot.pressure * snapshot.volume) > 0.1


def test_the_molecule_lies_across_a_border_between_ranks(places):
    """A guard: on two ranks the molecule in the middle is not one rank's alone."""
    assert len(set(places[2]["middle"].ranks)) > 1
