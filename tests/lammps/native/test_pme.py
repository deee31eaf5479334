"""If these fail, pair_style mlip/dd with potential pme is not the Coulomb energy that LAMMPS's own sums have, or depends
on how LAMMPS cuts the box or how ranks share the mesh."""

from pathlib import Path

import numpy as np
import pytest
import tolerances as tol
from charged_cases import ACCURACY, CONSTANT, SYSTEMS, assert_close, case, charged_model, check_ranks, own_style
from evaluate import assert_same, evaluate
from run import read_thermo, run


@pytest.fixture(scope="module")
def pme(tmp_path_factory):
    return charged_model(tmp_path_factory.mktemp("pme"), "pme", 8.0, accuracy=ACCURACY)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("kspace", ["ewald", "pppm"])
def test_equals_lammps(name, kspace, pme, tmp_path):
    # pppm's order 7 and a cutoff of 10 A reach the accuracy on small meshes.
    more = "kspace_modify order 7\n" if kspace == "pppm" else ""
    cases = [case(SYSTEMS[name], pme, "ours"),
             case(SYSTEMS[name], pme, "theirs", pair=own_style(f"{kspace} {ACCURACY}", 10.0, more))]
    found = evaluate(cases, tmp_path)
    assert_close(found["ours"], found["theirs"])


@pytest.mark.parametrize("ranks, sharing", [
    *((ranks, sharing) for ranks in (2, 3, 4) for sharing in ("auto", "replicated", "distributed")), (8, "distributed")])
def test_ranks_give_the_same(ranks, sharing, tmp_path):
    model = charged_model(tmp_path, "pme", 6.0, accuracy=1e-5, fft=sharing)
    bricks = [case(system, model, name, node_virial=True) for name, system in SYSTEMS.items()]
    tiled = [case(SYSTEMS["cubic"], model, "tiled", settings="comm_style tiled", changes="balance 1.0 rcb")]
    check_ranks(bricks + tiled, tmp_path, ranks, assert_same)


def test_changing_box(tmp_path):
    """Atoms and box move far enough that meshes, and the patches of ranks, are chosen anew several times; ranks change
    nothing, and no mesh is further from a converged sum than the accuracy."""
    system, accuracy = SYSTEMS["cubic"], 1e-5

    def setup(name: str, model) -> tuple[str, Path]:
        folder = tmp_path / name
        folder.mkdir()
        return case(system, model, name).setup(folder) + "thermo 2\n", folder

    move = """
velocity all create 300 1234 loop geom
timestep 0.0005
fix move all nve
fix pull all deform 1 x scale 1.12 y scale 0.94 remap x
run 60
"""
    frames = "dump path all custom 2 frames.dump id x y z\ndump_modify path sort id format float %.17g\n"
    again = "rerun ../one/frames.dump dump x y z box yes\n"
    mesh = charged_model(tmp_path, "pme", 6.0, accuracy=accuracy, fft="distributed")
    exact = charged_model(tmp_path, "ewald", 6.0, accuracy=1e-11)
    energies = {}
    for name, model, commands, ranks in (("one", mesh, frames + move, 1), ("three", mesh, move, 3),
                                         ("mesh", mesh, again, 1), ("exact", exact, again, 1)):
        script, folder = setup(name, model)
        energies[name] = read_thermo(run(script + commands, folder, ranks).output)[-1]["PotEng"]
        assert len(energies[name]) == 31
    assert np.ptp(energies["one"]) > 0.5
    assert np.abs(energies["one"] - energies["three"]).max() < tol.TRAJECTORY * len(system)
    assert np.ptp(energies["exact"]) > 0.5
    assert np.abs(energies["mesh"] - energies["exact"]).max() < accuracy * CONSTANT * len(system)
