"""If these fail, what LAMMPS gets is not what the model says: wrong edges, signs, sums, or virials, whatever the
number of ranks."""

import numpy as np
import pytest
import tolerances as tol
from evaluate import VOIGT, Case, assert_bare, evaluate, largest, require_signal
from models import evaluate_bare
from systems import LATTICE, crystal, molecule, rock_salt, supercell

SKEWED = np.array([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]])
SYSTEMS = {
    "cubic": rock_salt(2),
    "one_cell": rock_salt(1),
    "skewed": supercell(crystal(SKEWED), np.diag([2, 2, 2]))[0],
    "molecule": molecule(),
}


@pytest.fixture(scope="module")
def snapshots(toy2, toy3, tmp_path_factory):
    def all_on(ranks: int):
        cases = [Case(system, model, f"{name}_{label}", node_virial=True) for name, system in SYSTEMS.items()
                 for label, model in (("toy2", toy2), ("toy3", toy3))]
        return evaluate(cases, tmp_path_factory.mktemp(f"ranks{ranks}"), ranks)

    return {ranks: all_on(ranks) for ranks in (1, 3)}


@pytest.fixture(params=[1, 3], ids=["1rank", "3ranks"])
def ranks(request):
    return request.param


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("label", ["toy2", "toy3"])
def test_lammps_gives_what_the_bare_model_gives(name, label, ranks, snapshots, request):
    bare = evaluate_bare(request.getfixturevalue(label), SYSTEMS[name])
    require_signal(bare)
    assert_bare(snapshots[ranks][f"{name}_{label}"], bare)


@pytest.mark.parametrize("name", SYSTEMS)
def test_node_virials_are_shared_by_the_ends_of_edges(name, ranks, snapshots, toy3):
    snapshot, bare = snapshots[ranks][f"{name}_toy3"], evaluate_bare(toy3, SYSTEMS[name])
    symmetric = 0.5 * (bare.node_virial + bare.node_virial.transpose(0, 2, 1))
    assert largest(symmetric) > 0.1
    assert largest(snapshot.node_virial - np.stack([symmetric[:, a, b] for a, b in VOIGT], 1)) <= tol.DOUBLE_NODE_VIRIAL
    # Centroid virials are all the sender's, and have nine components: torques make an atom's tensor unsymmetric.
    assert largest(bare.centroid_virial - bare.centroid_virial.transpose(0, 2, 1)) > 1e-3
    assert largest(snapshot.centroid_virial - bare.centroid_virial) <= tol.DOUBLE_NODE_VIRIAL


@pytest.mark.parametrize("name", SYSTEMS)
def test_node_virials_sum_to_the_pressure(name, ranks, snapshots):
    snapshot = snapshots[ranks][f"{name}_toy3"]
    assert largest(snapshot.pressure) > tol.SIGNAL_PRESSURE / 10
    assert largest(snapshot.node_virial.sum(0) / snapshot.volume - snapshot.pressure) <= tol.DOUBLE_PRESSURE


def test_compressed_crystal_has_positive_pressure(toy3, tmp_path):
    """The sign, by what it means: a crystal squeezed by 10 % pushes outwards, one stretched pulls."""
    cases = [Case(rock_salt(2, amplitude=0.01, lattice=scale * LATTICE), toy3, name)
             for name, scale in (("squeezed", 0.9), ("stretched", 1.15))]
    found = evaluate(cases, tmp_path)
    assert found["squeezed"].pressure[:3].min() > tol.SIGNAL_PRESSURE
    assert found["stretched"].pressure[:3].max() < -tol.SIGNAL_PRESSURE
