"""If these fail, a pretrained model in LAMMPS is not the model its authors published, or not on every number of
ranks."""

import numpy as np
import pytest
import tolerances as tol
from evaluate import VOIGT, Batches, Case, assert_same, evaluate_one, largest, require_signal
from sevennet_package import calculator_results
from systems import System, crystal, molecule, rock_salt, supercell

SYSTEMS = {"216": rock_salt(3, amplitude=0.1), "512": rock_salt(4, amplitude=0.1)}
TILED = ("comm_style tiled", "balance 1.0 rcb")
# Ranks: system, grid, commands before the box, commands after reading.
GRIDS = {
    1: [("216", "whole", "", ""), ("512", "whole", "", "")],
    2: [("216", "2x1x1", "processors 2 1 1", ""), ("216", "tiled", *TILED), ("512", "1x1x2", "processors 1 1 2", "")],
    3: [("216", "1x3x1", "processors 1 3 1", ""), ("512", "tiled", *TILED)],
    4: [("216", "4x1x1", "processors 4 1 1", ""), ("216", "tiled", *TILED), ("512", "2x2x1", "processors 2 2 1", "")],
    8: [("216", "2x2x2", "processors 2 2 2", ""), ("512", "tiled", *TILED), ("512", "8x1x1", "processors 8 1 1", "")],
}


@pytest.fixture(scope="module")
def snapshots(sevennet, tmp_path_factory):
    return {ranks: Batches([Case(SYSTEMS[name], sevennet, f"{name}_{grid}", settings=before, changes=after)
                            for name, grid, before, after in grids], ranks, tmp_path_factory.mktemp(f"ranks{ranks}"))
            for ranks, grids in GRIDS.items()}


@pytest.mark.parametrize("ranks, name, grid",
                         [(ranks, row[0], row[1]) for ranks, grids in GRIDS.items() if ranks > 1 for row in grids])
def test_any_decomposition_equals_one_rank(ranks, name, grid, snapshots):
    whole, parts = snapshots[1][f"{name}_whole"], snapshots[ranks][f"{name}_{grid}"]
    require_signal(whole)
    assert len(np.unique(parts.ranks)) == ranks and parts.rows("halo rows")[0] > 0
    assert_same(parts, whole, double=False)


# --- against the authors' own calculator ---------------------------------------------------------------------------

SMALL = {
    "cubic": rock_salt(2, amplitude=0.1),
    "one_cell": rock_salt(1, amplitude=0.1),
    "skewed": supercell(crystal([[5.64, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]], amplitude=0.1), np.diag([2, 1, 2]))[0],
    "squeezed": rock_salt(1, amplitude=0.1, lattice=5.2),
    "molecule": molecule(20.0, n=6, boundary="f f f"),
    "silicon": System(np.array([[0, 0, 0], [1.5, 1.25, 1.4]]), np.array([1, 1]),
                      np.array([[3.84, 0, 0], [1.92, 3.33, 0], [1.92, 1.11, 3.14]]), elements=("Si",)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", SMALL)
def test_equal_to_the_authors_calculator(name, ranks, sevennet, tmp_path):
    system = SMALL[name]
    found = evaluate_one(Case(system, sevennet, settings="box tilt large"), tmp_path, ranks)
    energy, forces, stress = calculator_results(system)
    assert largest(forces) > tol.SIGNAL_FORCE
    assert found.energy == pytest.approx(energy, rel=tol.SINGLE_ENERGY)
    assert largest(found.forces - forces) <= tol.CALCULATOR_FORCE
    if stress is not None:
        # ASE's stress is positive under tension, LAMMPS's pressure under compression.
        assert largest(stress) > tol.SIGNAL_PRESSURE
        assert largest(found.pressure + [stress[a, b] for a, b in VOIGT]) <= tol.CALCULATOR_STRESS


def test_wide_halo_equals_exchange(sevennet, tmp_path):
    """Five layers of 5 A on two ranks of an 11 A box: every rank holds every atom."""
    system = rock_salt((3, 1, 1), amplitude=0.1)
    whole = evaluate_one(Case(system, sevennet), tmp_path / "whole")
    wide = evaluate_one(Case(system, sevennet, options="halo wide", skin=0.3), tmp_path / "wide", ranks=2)
    require_signal(whole)
    assert wide.rows("rows the model sees")[2] == len(system)
    assert_same(wide, whole, double=False)
