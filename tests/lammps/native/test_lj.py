"""If these fail, Lennard-Jones atoms in LAMMPS do not feel what lj/cut makes them feel."""

import json
from pathlib import Path

import numpy as np
import pytest
import tolerances as tol
from evaluate import Case, assert_same, evaluate, largest, require_signal
from models import Model, pairs_within
from run import launch, read_thermo, run, spread
from systems import crystal, molecule, rock_salt, supercell

CUTOFF = 7.0
# Two kinds of atoms, the unlike pair no mixture of the others.
EPSILON = [[0.0104, 0.0071], [0.0071, 0.0055]]
SIGMA = [[3.3, 2.7], [2.7, 2.4]]
PEER = f"pair_style lj/cut {CUTOFF}\n" + "".join(
    f"pair_coeff {a + 1} {b + 1} {EPSILON[a][b]} {SIGMA[a][b]}\n" for a, b in ((0, 0), (0, 1), (1, 1)))

SYSTEMS = {
    "crystal": rock_salt(4),
    "skewed": supercell(crystal(np.array([[5.64, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]])), np.diag([2, 3, 2]))[0],
    "one_cell": rock_salt(1),
    "molecule": molecule(),
}
TILED = {"settings": "comm_style tiled", "changes": "balance 1.0 rcb"}
SPLITS = {1: [{}], 2: [{}, TILED], 3: [{}, TILED], 4: [{}, TILED, {"settings": "processors 4 1 1"}], 8: [{}, TILED]}


def lj_model(folder: Path, **more) -> Model:
    parameters = {"epsilon": EPSILON, "sigma": SIGMA, **more}
    spec = folder / "lj.json"
    spec.write_text(json.dumps({"spec": "SPEC_LJ_HALO", "model": {
        "potential": "lj", "elements": ["Na", "Cl"], "cutoff": CUTOFF, "parameters": parameters}}))
    return Model(spec, double=True)


@pytest.fixture(scope="module")
def peers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peers")
    model = lj_model(folder)
    cases = [Case(system, model, name, pair=PEER, node_virial=True) for name, system in SYSTEMS.items()]
    return evaluate(cases, folder)


@pytest.mark.parametrize("ranks", SPLITS)
def test_same_as_lj_cut(ranks, peers, tmp_path):
    model = lj_model(tmp_path)
    # Tiled domains need a box longer than the cutoff, slices one that is long enough to cut.
    cases = [Case(system, model, f"{name}_{k}", node_virial=True, **split)
             for k, split in enumerate(SPLITS[ranks]) for name, system in SYSTEMS.items()
             if not split or name == "crystal"]
    for name, found in evaluate(cases, tmp_path, ranks).items():
        expected = peers[name.rpartition("_")[0]]
        require_signal(expected)
        assert_same(found, expected, double=True)
        assert largest(found.node_virial - expected.node_virial) <= tol.DOUBLE_NODE_VIRIAL


def test_log_counts_pairs_in_place_of_edges(tmp_path):
    """Those with the skin: the potential goes over all of them."""
    system = SYSTEMS["crystal"]
    found = evaluate([Case(system, lj_model(tmp_path), "logged", skin=0.7)], tmp_path, 2)["logged"]
    receivers, _, _ = pairs_within(system, CUTOFF + 0.7)
    counts = np.bincount(found.ranks[receivers], minlength=2)
    assert len(pairs_within(system, CUTOFF)[0]) < counts.sum()
    # Printed with six digits.
    assert found.rows("pairs with the skin") == pytest.approx((counts.min(), counts.mean(), counts.max()), rel=1e-5)
    assert not spread(found.log, "edges")


def test_shifted_is_lj_cut_with_shift(tmp_path):
    model = lj_model(tmp_path, shift=True)
    found = evaluate([Case(rock_salt(3), model, "ours"),
                      Case(rock_salt(3), model, "peer", pair=PEER + "pair_modify shift yes")], tmp_path, 2)
    assert_same(found["ours"], found["peer"], double=True)


@pytest.mark.parametrize("mixing", ["geometric", "arithmetic", "sixthpower"])
def test_mixed_as_lammps_mixes(mixing, tmp_path):
    model = lj_model(tmp_path, epsilon=[0.0104, 0.0055], sigma=[3.3, 2.4], mixing=mixing)
    peer = (f"pair_style lj/cut {CUTOFF}\npair_modify mix {mixing}\n"
            "pair_coeff 1 1 0.0104 3.3\npair_coeff 2 2 0.0055 2.4")
    found = evaluate([Case(rock_salt(3), model, "ours"), Case(rock_salt(3), model, "peer", pair=peer)], tmp_path)
    assert_same(found["ours"], found["peer"], double=True)


def test_same_trajectory_as_lj_cut(tmp_path):
    """Over reneighbourings: pairs that come within the cutoff later are there, those that left are not."""
    system = rock_salt(4, lattice=6.2)
    model = lj_model(tmp_path)
    tables = {}
    for name, pair in (("ours", ""), ("peer", PEER)):
        script = Case(system, model, name, pair=pair, skin=0.5).setup(tmp_path) + """
velocity all create 300 4928 mom yes
fix move all nve
timestep 0.004
neigh_modify every 1 delay 0 check yes
thermo 20
run 200
"""
        outcome = run(script, tmp_path, 2)
        tables[name] = read_thermo(outcome.output)[-1]
        builds = next(line for line in outcome.output.splitlines() if line.startswith("Neighbor list builds"))
        assert int(builds.split("=")[1]) > 2
    ours, peer = tables["ours"], tables["peer"]
    assert np.ptp(peer["PotEng"]) > 1.0
    assert largest(ours["PotEng"] - peer["PotEng"]) <= tol.TRAJECTORY * len(system)


MELT = """
units {units}
lattice fcc 0.8442
region box block 0 5 0 5 0 5
create_box 2 box
create_atoms 1 box
set group all type/fraction 2 0.3 77
mass * 1.0
velocity all create 1.44 87287 loop geom
{pair}
neighbor 0.3 bin
neigh_modify delay 0 every 5 check yes
fix move all nve
thermo_style custom step pe etotal press
thermo_modify norm no format float %.17g
thermo 10
run 100
"""


def reduced_model(folder: Path, **more) -> Path:
    spec = folder / "reduced.json"
    spec.write_text(json.dumps({"spec": "SPEC_LJ_HALO", "model": {
        "potential": "lj", "elements": ["big", "small"], "cutoff": 2.5,
        "parameters": {"epsilon": [[1.0, 0.8], [0.8, 0.5]], "sigma": [[1.0, 0.9], [0.9, 0.8]]}, **more}}))
    return spec


def test_melt_in_reduced_units(tmp_path):
    ours = f"pair_style mlip/dd {reduced_model(tmp_path, units='lj')}\npair_coeff * * big small"
    peer = "pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0\npair_coeff 1 2 0.8 0.9\npair_coeff 2 2 0.5 0.8"
    tables = {name: read_thermo(run(MELT.format(units="lj", pair=pair), tmp_path / name, 2).output)[-1]
              for name, pair in (("ours", ours), ("peer", peer))}
    assert np.ptp(tables["peer"]["PotEng"]) > 100.0
    for column in ("PotEng", "TotEng", "Press"):
        # 500 atoms, a potential energy of some -2000, a pressure of some 3
        assert largest(tables["ours"][column] - tables["peer"][column]) <= tol.TRAJECTORY * 500


@pytest.mark.parametrize("model, units", [({"units": "lj"}, "metal"), ({}, "lj")])
def test_reduced_and_real_units_do_not_mix(model, units, tmp_path):
    spec = reduced_model(tmp_path, **{"elements": ["Ar", "Ne"], **model})
    pair = f"pair_style mlip/dd {spec}\npair_coeff * * Ar Ne"
    outcome = launch(MELT.format(units=units, pair=pair), tmp_path, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0
    wanted = "Use `units lj`" if model else "Use `units metal`"
    assert any(wanted in line for line in outcome.error_lines), outcome.output
