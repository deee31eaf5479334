"""If these fail, a run with ranks that own nothing, share nothing, or have no edges hangs, crashes, or counts
wrong. Slabs, clusters and gases in large boxes meet all of these."""

import numpy as np
import pytest
import tolerances as tol
from evaluate import Batches, Case, assert_same, evaluate_one, largest
from models import evaluate_bare
from systems import System, rock_salt

# Atoms in x < 20 of a 200 A box: of four slabs along x, three are empty.
_SLAB = rock_salt((3, 2, 2))
SLAB = System(_SLAB.positions + 1.0, _SLAB.types, np.diag([200.0, 11.28, 11.28]))
# Two lumps with nothing between: two of four slabs are empty, and the outer ones share rows through the border.
LUMPS = System(np.concatenate([_SLAB.positions % 11.28 + 1.0, _SLAB.positions % 11.28 + [187.0, 1.0, 1.0]])[::7],
               np.tile(_SLAB.types, 2)[::7], np.diag([200.0, 11.28, 11.28]))
_BOX = np.eye(3) * 30.0


def scattered(positions, boundary="p p p") -> System:
    positions = np.array(positions, float).reshape(-1, 3)
    return System(positions, np.arange(len(positions)) % 2 + 1, _BOX, boundary=boundary)


# Name, system, ranks, commands before the box; edges of the whole system.
CASES = [
    ("slab", SLAB, 4, "processors 4 1 1", None),
    ("lumps", LUMPS, 4, "processors 4 1 1", None),
    ("three_atoms", scattered([[14, 14, 14], [16.5, 14.2, 14.1], [15, 16.3, 15.5]]), 8, "processors 2 2 2", 6),
    ("three_apart", scattered([[2, 2, 2], [12, 14, 16], [25, 25, 8]]), 8, "processors 2 2 2", 0),
    ("one_atom", scattered([[3, 4, 5]]), 4, "processors 4 1 1", 0),
    ("one_atom_open", scattered([[3, 4, 5]], "f f f"), 4, "processors 2 2 1", 0),
    # Ranks 0 and 2 of three have an atom each, one pair across the periodic border.
    ("one_pair_across", scattered([[0.5, 15, 15], [28.3, 15.4, 14.8]]), 3, "processors 3 1 1", 2),
    ("one_pair_inside", scattered([[4, 15, 15], [6.2, 15.4, 14.8]]), 3, "processors 3 1 1", 2),
    ("no_edges", scattered([[2, 15, 15], [12, 15, 15], [22, 15, 15]]), 3, "processors 3 1 1", 0),
    # A rank with atoms but no edges beside two that share a pair.
    ("one_alone", scattered([[9.5, 15, 15], [10.9, 16.8, 15], [25, 15, 15]]), 3, "processors 3 1 1", 2),
    ("no_atoms", scattered([]), 2, "", 0),
]
ROWS = pytest.mark.parametrize("name, system, ranks, settings, edges", CASES, ids=[case[0] for case in CASES])


@pytest.fixture(scope="module")
def snapshots(toy3, tmp_path_factory):
    known = {}

    def on(ranks: int) -> Batches:
        if ranks not in known:
            cases = [Case(system, toy3, f"{name}{way}", settings=settings if ranks > 1 else "",
                          options=f"halo {way or 'exchange'}", node_virial=True)
                     for way in ("", "wide") for name, system, count, settings, _ in CASES
                     if ranks == 1 or count == ranks]
            known[ranks] = Batches(cases, ranks, tmp_path_factory.mktemp(f"ranks{ranks}"))
        return known[ranks]

    return on


@ROWS
@pytest.mark.parametrize("way", ["", "wide"], ids=["exchange", "wide"])
def test_equal_to_one_rank(name, system, ranks, settings, edges, way, snapshots):
    whole, parts = snapshots(1)[name], snapshots(ranks)[name + way]
    found_edges = whole.rows("edges")[2]
    assert found_edges == edges if edges is not None else found_edges > 100
    assert len(np.unique(parts.ranks)) < ranks or len(system) >= ranks
    if found_edges:
        assert largest(whole.forces) > tol.SIGNAL_FORCE
    else:
        assert largest(whole.forces) == 0.0 and largest(whole.pressure) == 0.0
    assert_same(parts, whole, double=True)
    assert largest(parts.centroid_virial - whole.centroid_virial) <= tol.DOUBLE_NODE_VIRIAL


@ROWS
def test_one_rank_equals_the_bare_model(name, system, ranks, settings, edges, snapshots, toy3):
    if len(system) == 0:
        assert snapshots(1)[name].energy == 0.0
        return
    bare = evaluate_bare(toy3, system)
    assert abs(bare.energy) > tol.SIGNAL_NODE_ENERGY    # also of atoms alone: the model gives them an energy
    assert largest(snapshots(1)[name].node_energy - bare.node_energy) <= tol.DOUBLE_NODE_ENERGY
    assert largest(snapshots(1)[name].forces - bare.forces) <= tol.DOUBLE_FORCE


def test_the_slab_leaves_three_ranks_empty(snapshots):
    """A guard: the case is what its name says."""
    assert set(snapshots(4)["slab"].ranks) == {0}
    assert snapshots(4)["slab"].rows("owned rows")[0] == 0


@pytest.mark.parametrize("name", ["slab", "one_pair_across", "no_edges", "one_atom"])
def test_pretrained_model_with_ranks_without_atoms(name, sevennet, tmp_path):
    _, system, ranks, settings, edges = next(case for case in CASES if case[0] == name)
    small = system.part(slice(0, 24)) if len(system) > 24 else system
    whole = evaluate_one(Case(small, sevennet), tmp_path / "whole")
    parts = evaluate_one(Case(small, sevennet, settings=settings), tmp_path / "parts", ranks)
    assert abs(whole.energy) > tol.SIGNAL_NODE_ENERGY
    if edges != 0:
        assert largest(whole.forces) > tol.SIGNAL_FORCE
    assert_same(parts, whole, double=False)
