"""If these fail, a package's model fails or hangs on ranks without atoms, or on atoms without neighbours."""

import importlib.util

import numpy as np
import pytest
import tolerances as tol
from evaluate import Batches, Case, largest
from family_checks import assert_close
from molecule_boxes import ELEMENTS, SMALL
from systems import System

ROOM = np.eye(3) * 60.0
SYSTEMS = {
    "droplet": SMALL["droplet"],
    "an_atom_and_a_bond": System(np.array([[1.0, 1, 1], [30, 30, 30], [31, 30, 30]]), np.array([1, 4, 1]), ROOM,
                                 elements=ELEMENTS),
    "two_lone_atoms": System(np.array([[1.0, 1, 1], [30, 30, 30]]), np.array([1, 4]), ROOM, elements=ELEMENTS),
}
PACKAGES = {"aimnet2": ("aimnet", "aimnet"), "ani": ("torchani", "torchani"),
            "chgnet_pretrained": ("chgnet", "chgnet"), "so3lr": ("so3krates_torch", "so3krates-torch")}


@pytest.mark.parametrize("script", PACKAGES)
def test_ranks_without_atoms_and_atoms_without_neighbours(script, packaged, tmp_path):
    module, distribution = PACKAGES[script]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"the package {distribution} is not installed")
    model = packaged(script, distribution)["float64"].model
    runs = {ranks: Batches([Case(system, model, name, settings=f"processors {ranks} 1 1")
                            for name, system in SYSTEMS.items()], ranks, tmp_path / str(ranks)) for ranks in (1, 3)}
    for name, system in SYSTEMS.items():
        whole, parts = runs[1][name], runs[3][name]
        assert len(np.unique(parts.ranks)) < 3 and whole.energy != 0.0
        assert largest(whole.forces) > tol.SIGNAL_FORCE or name == "two_lone_atoms"
        assert_close(parts, whole.energy, whole.forces, None, double=True)
