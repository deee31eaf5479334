"""If these fail, atom types are mapped to the wrong elements, atoms that are not the model's disturb it, or the
pair style cannot share atoms with other pair styles."""

from dataclasses import replace

import numpy as np
import pytest
import tolerances as tol
from evaluate import Batches, Case, assert_same, evaluate, evaluate_one, largest, read_snapshot
from run import read_thermo, run
from systems import rock_salt

PURE = rock_salt(2)
# A third type, argon, on every seventh atom's place: some lie within the cutoff of atoms of other ranks.
GUESTS = np.arange(len(PURE)) % 7 == 3
MIXED = replace(PURE, types=np.where(GUESTS, 3, PURE.types), elements=("Na", "Cl", "Ar"))
HOSTS = PURE.part(~GUESTS)
SWAPPED = replace(PURE, types=3 - PURE.types, elements=("Cl", "Na"))

OVERLAY = ("pair_style hybrid/overlay mlip/dd {spec} log yes lj/cut 6.0\npair_coeff * * mlip/dd Na Cl\n"
           "pair_coeff * * lj/cut 0.05 2.5")
HYBRID = ("pair_style hybrid mlip/dd {spec} log yes lj/cut 6.0\npair_coeff * * mlip/dd Na Cl NULL\n"
          "pair_coeff 1*3 3 lj/cut 0.05 2.5")
CASES = [
    Case(PURE, None, "pure"),
    Case(PURE, None, "lj", pair="pair_style lj/cut 6.0\npair_coeff * * 0.05 2.5"),
    Case(PURE, None, "overlay", pair=OVERLAY),
    Case(PURE, None, "overlay_no_newton", pair=OVERLAY, settings="newton off"),
    Case(PURE, None, "twice", pair="pair_style hybrid/overlay mlip/dd {spec} mlip/dd {spec} halo wide\n"
         "pair_coeff * * mlip/dd 1 Na Cl\npair_coeff * * mlip/dd 2 Na Cl"),
    Case(PURE, None, "scaled", pair="pair_style hybrid/scaled 0.25 mlip/dd {spec} 0.5 mlip/dd {spec}\n"
         "pair_coeff * * mlip/dd 1 Na Cl\npair_coeff * * mlip/dd 2 Na Cl"),
    Case(SWAPPED, None, "swapped"),
    Case(PURE, None, "wrong_elements", pair="pair_style mlip/dd {spec}\npair_coeff * * Cl Na"),
    Case(HOSTS, None, "hosts"),
    Case(MIXED, None, "null", pair="pair_style mlip/dd {spec} log yes\npair_coeff * * Na Cl NULL"),
    Case(MIXED, None, "null_wide", pair="pair_style mlip/dd {spec} halo wide\npair_coeff * * Na Cl NULL"),
    Case(MIXED, None, "hybrid", pair=HYBRID),
    Case(MIXED, None, "hybrid_no_newton", pair=HYBRID, settings="newton off"),
    Case(MIXED, None, "hybrid_wide", pair=HYBRID.replace("log yes", "halo wide")),
    # All pairs with argon, and no others.
    Case(MIXED, None, "lj_guests", pair="pair_style lj/cut 6.0\npair_coeff * * 0.0 2.5\npair_coeff 1*3 3 0.05 2.5"),
]
RANKS = pytest.mark.parametrize("ranks", [1, 3])


@pytest.fixture(scope="module")
def snapshots(toy3, tmp_path_factory, request):
    # LAMMPS has no Kokkos variant of hybrid/scaled, and takes no other there.
    without = "hybrid/scaled" if request.config.getoption("--all-kokkos") else None
    cases = [replace(case, model=toy3) for case in CASES if not without or without not in case.pair]
    # NULL cases last and alone, so that a failure there is told apart.
    usual = [case for case in cases if not case.name.startswith("null")]
    null = [case for case in cases if case.name.startswith("null")]
    batches = {ranks: (Batches(usual, ranks, tmp_path_factory.mktemp(f"usual{ranks}")),
                       Batches(null, ranks, tmp_path_factory.mktemp(f"null{ranks}"))) for ranks in (1, 3)}

    def find(ranks: int, name: str):
        return batches[ranks][name.startswith("null")][name]

    return find


@RANKS
def test_elements_are_named_by_type(ranks, snapshots):
    expected, found = snapshots(1, "pure"), snapshots(ranks, "swapped")
    assert largest(found.forces - expected.forces) <= tol.DOUBLE_FORCE
    assert largest(snapshots(ranks, "wrong_elements").forces - expected.forces) > tol.SIGNAL_FORCE


@RANKS
@pytest.mark.parametrize("name", ["overlay", "overlay_no_newton"])
def test_overlay_adds_the_other_style(name, ranks, snapshots):
    model, other, both = snapshots(1, "pure"), snapshots(1, "lj"), snapshots(ranks, name)
    assert largest(other.forces) > tol.SIGNAL_FORCE
    assert largest(both.forces - model.forces - other.forces) <= tol.DOUBLE_FORCE
    assert largest(both.node_energy - model.node_energy - other.node_energy) <= tol.DOUBLE_NODE_ENERGY
    assert largest(both.pressure - model.pressure - other.pressure) <= tol.DOUBLE_PRESSURE


@RANKS
@pytest.mark.parametrize("name, factor", [("twice", 2.0), ("scaled", 0.75)])
def test_two_models_at_once(name, factor, ranks, snapshots, request):
    if name == "scaled" and request.config.getoption("--all-kokkos"):
        pytest.skip("LAMMPS has no hybrid/scaled/kk")
    one, both = snapshots(1, "pure"), snapshots(ranks, name)
    assert largest(both.forces - factor * one.forces) <= tol.DOUBLE_FORCE
    assert largest(both.pressure - factor * one.pressure) <= tol.DOUBLE_PRESSURE
    assert both.energy == pytest.approx(factor * one.energy, rel=tol.DOUBLE_ENERGY)


@RANKS
@pytest.mark.parametrize("name", ["null", "null_wide"])
def test_atoms_named_null_are_not_there_for_the_model(name, ranks, snapshots):
    expected, found = snapshots(1, "hosts"), snapshots(ranks, name)
    assert largest(expected.forces) > tol.SIGNAL_FORCE
    assert largest(found.forces[~GUESTS] - expected.forces) <= tol.DOUBLE_FORCE
    assert largest(found.node_energy[~GUESTS] - expected.node_energy) <= tol.DOUBLE_NODE_ENERGY
    assert largest(found.forces[GUESTS]) == 0.0 and largest(found.node_energy[GUESTS]) == 0.0
    assert largest(found.pressure - expected.pressure) <= tol.DOUBLE_PRESSURE


@RANKS
@pytest.mark.parametrize("name", ["hybrid", "hybrid_no_newton", "hybrid_wide"])
def test_hybrid_gives_each_style_its_own_pairs(name, ranks, snapshots):
    hosts, guests, both = snapshots(1, "hosts"), snapshots(1, "lj_guests"), snapshots(ranks, name)
    assert largest(guests.forces) > tol.SIGNAL_FORCE
    expected = guests.forces.copy()
    expected[~GUESTS] += hosts.forces
    assert largest(both.forces - expected) <= tol.DOUBLE_FORCE
    assert both.energy == pytest.approx(hosts.energy + guests.energy, rel=tol.DOUBLE_ENERGY)
    assert largest(both.pressure - hosts.pressure - guests.pressure) <= tol.DOUBLE_PRESSURE


# Two models, each with types of its own; lj/cut between their atoms.
SPLIT = replace(PURE, types=PURE.types + 2 * (PURE.positions[:, 1] + PURE.positions[:, 2] > 11.0),
                elements=("Na", "Cl", "Na", "Cl"))
LOWER = SPLIT.types < 3
TWO_MODELS = ("pair_style hybrid mlip/dd {first} mlip/dd {second} lj/cut 6.0\n"
              "pair_coeff * * mlip/dd 1 Na Cl NULL NULL\n"
              "pair_coeff * * mlip/dd 2 NULL NULL Na Cl\npair_coeff 1*2 3*4 lj/cut 0.05 2.5")
CROSSES = "pair_style lj/cut 6.0\npair_coeff * * 0.0 2.5\npair_coeff 1*2 3*4 0.05 2.5"


@RANKS
def test_two_models_with_types_of_their_own(ranks, toy2, toy3, tmp_path):
    """Energy, forces and pressure are sums; `compute pair` tells the two apart."""
    alone = evaluate([Case(PURE.part(LOWER), toy2, "lower"), Case(PURE.part(~LOWER), toy3, "upper"),
                      Case(SPLIT, toy2, "crosses", pair=CROSSES)], tmp_path / "alone")
    lower, upper, crosses = alone.values()
    assert min(largest(part.forces) for part in alone.values()) > tol.SIGNAL_FORCE
    pair = TWO_MODELS.replace("{first}", str(toy2.spec)).replace("{second}", str(toy3.spec))
    case = Case(SPLIT, toy2, pair=pair)
    (folder := tmp_path / "both").mkdir()
    output = run(case.setup(folder) + "compute first all pair mlip/dd 1\ncompute second all pair mlip/dd 2\n"
                 "compute third all pair lj/cut\n"
                 "thermo_style custom step pe c_first c_second c_third c_potential[1]\n"
                 "thermo_modify norm no format float %.17g\nrun 0\n" + case.report(), folder, ranks).output
    both, table = read_snapshot("case", folder, output), read_thermo(output)[-1]
    forces = crosses.forces.copy()
    forces[LOWER] += lower.forces
    forces[~LOWER] += upper.forces
    assert largest(both.forces - forces) <= tol.DOUBLE_FORCE
    assert both.energy == pytest.approx(sum(part.energy for part in alone.values()), rel=tol.DOUBLE_ENERGY)
    assert largest(both.pressure - sum(part.pressure for part in alone.values())) <= tol.DOUBLE_PRESSURE
    for name, part in (("first", lower), ("second", upper), ("third", crosses)):
        assert table[f"c_{name}"][0] == pytest.approx(part.energy, rel=tol.DOUBLE_ENERGY)


# --- atom styles, and bonds whose pairs must stay ------------------------------------------------------------------

BONDED = replace(PURE, bonds=((1, 5), (2, 6), (9, 14)))
KEEP = "special_bonds lj/coul 1.0 1.0 1.0"
STYLES = [
    Case(PURE, None, "charge", style="charge"),
    Case(PURE, None, "molecular", style="molecular"),
    Case(PURE, None, "full", style="full"),
    Case(BONDED, None, "bonds", style="full", changes=f"bond_style zero\nbond_coeff *\n{KEEP}"),
    # Pairs stay in the list where one of the two kinds of interaction is kept.
    Case(BONDED, None, "bonds_coul", style="full",
         changes="bond_style zero\nbond_coeff *\nspecial_bonds lj 0.0 0.0 0.0 coul 0.5 0.5 0.5"),
]


@pytest.fixture(scope="module")
def styles(toy3, tmp_path_factory):
    return Batches([replace(case, model=toy3) for case in STYLES], 2, tmp_path_factory.mktemp("styles"))


@pytest.mark.parametrize("name", [case.name for case in STYLES])
def test_atom_styles_do_not_matter(name, styles, snapshots):
    assert_same(styles[name], snapshots(1, "pure"), double=True)


def test_communication_that_reaches_farther_changes_nothing(toy3, tmp_path, snapshots):
    settings = "comm_modify cutoff 9.5 vel yes"
    assert_same(evaluate_one(Case(PURE, toy3, changes=settings), tmp_path, ranks=2), snapshots(1, "pure"), double=True)
