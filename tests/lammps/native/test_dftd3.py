"""If these fail, dispersion in LAMMPS is not what LAMMPS's own DFT-D3 and the s-dftd3 program give, or it depends
on the number of ranks."""

import json
from pathlib import Path

import numpy as np
import pytest
import systems
import tolerances as tol
from evaluate import Case, Snapshot, assert_same, evaluate, evaluate_one, largest, read_snapshot
from models import Model
from run import launch, run
from systems import System, crystal, molecule, rattled, rock_salt, supercell

# LAMMPS's dispersion/d3 takes 27.21140795 eV for a Hartree and 0.52917725 A for a Bohr, ours are CODATA 2022's: its
# energies are in other units, by the first, and its C6 by six times the difference of the second.
LAMMPS_HARTREE = 27.21140795
PEER_RELATIVE = 1e-6
SDFTD3_ENERGY = 1e-8      # eV per atom; its tables have some more digits
SDFTD3_FORCE = 1e-7       # eV/A
# MiB. LAMMPS's arrays of some 60,000 ghosts, twice where an array grows; per pair, our two lists of 4 bytes, also
# twice, LAMMPS's of 4 bytes in pages.
MEMORY_OF_IMAGES = 120.0
MEMORY_OF_PAIR = 30.0 / 2 ** 20
BOHR, HARTREE = 0.529177210544, 27.211386245981

SKEWED = supercell(crystal(np.array([[5.64, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]])), np.diag([2, 3, 2]))[0]
SYSTEMS = {"crystal": rock_salt(3), "skewed": SKEWED, "molecule": molecule(n=20)}
LONG_LISTS = "neigh_modify one 30000 page 300000"


def d3_model(folder: Path, reference: Path, damping: str, cutoff: float, elements=("Na", "Cl"), **more) -> Model:
    spec = folder / f"d3_{damping}_{cutoff}.json"
    spec.write_text(json.dumps({"spec": "SPEC_DFTD3_HALO", "model": {
        "potential": "dftd3", "elements": list(elements), "cutoff": cutoff,
        "parameters": {"functional": "pbe", "damping": damping, "reference": str(reference), **more}}}))
    return Model(spec, double=True)


def peer(damping: str, cutoff: float, cn_cutoff: float) -> str:
    return f"pair_style dispersion/d3 {damping} pbe {cutoff} {cn_cutoff}\npair_coeff * * Na Cl"


@pytest.mark.parametrize("damping", ["bj", "zero"])
def test_same_as_lammps(damping, reference, tmp_path):
    model = d3_model(tmp_path, reference, damping, 12.0, cn_cutoff=10.0)
    cases = [Case(system, model, f"{name}_{who}", changes=LONG_LISTS, pair=pair)
             for name, system in SYSTEMS.items() for who, pair in (("ours", ""), ("peer", peer(damping, 12.0, 10.0)))]
    found = evaluate(cases, tmp_path)
    for name in SYSTEMS:
        ours, theirs = found[f"{name}_ours"], found[f"{name}_peer"]
        assert abs(theirs.energy) > 0.1
        unit = LAMMPS_HARTREE / HARTREE
        assert abs(unit * ours.energy / theirs.energy - 1) <= PEER_RELATIVE
        # LAMMPS's forces and pressures are sums that cancel: their error is one of the terms.
        assert largest(unit * ours.forces - theirs.forces) <= 10 * PEER_RELATIVE * np.abs(theirs.forces).max()
        assert largest(unit * ours.pressure - theirs.pressure) <= 10 * PEER_RELATIVE * np.abs(theirs.pressure).max()


def same_radii_as_s_dftd3(reference: Path, folder: Path) -> Path:
    """Published in Angstrom with two and four digits, radii were divided by a Bohr of that time for the package;
    s-dftd3 divides them by that of CODATA 2018."""
    table, then, now = json.loads(reference.read_text()), 0.52917726, 0.5291772109044925
    table["covalent_radii"] = [round(0.75 * then * radius, 2) / 0.75 / now for radius in table["covalent_radii"]]
    table["cutoff_radii"] = [[round(then * radius, 4) / now for radius in row] for row in table["cutoff_radii"]]
    file = folder / "reference.json"
    file.write_text(json.dumps(table))
    return file


def s_dftd3(system: System, damping: str, s9: float, cutoff: float, triple_cutoff: float, cn_cutoff: float) -> dict:
    """Energy in Hartree, gradient in Hartree per Bohr; cutoffs in Angstrom."""
    interface = pytest.importorskip("dftd3.interface", reason="s-dftd3 (package dftd3) is not installed")
    parameters = {"bj": lambda: interface.RationalDampingParam(s6=1.0, s8=0.7875, a1=0.4289, a2=4.4407, s9=s9),
                  "zero": lambda: interface.ZeroDampingParam(s6=1.0, s8=0.722, rs6=1.217, rs8=1.0, s9=s9)}
    numbers = np.array([{"Na": 11, "Cl": 17}[system.elements[kind - 1]] for kind in system.types])
    model = interface.DispersionModel(numbers, system.positions / BOHR, system.cell / BOHR, np.array(system.periodic))
    model.set_realspace_cutoff(cutoff / BOHR, triple_cutoff / BOHR, cn_cutoff / BOHR)
    return model.get_dispersion(parameters[damping](), grad=True)


@pytest.mark.parametrize("triples", [False, True])
@pytest.mark.parametrize("damping", ["bj", "zero"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_same_as_s_dftd3(name, damping, triples, reference, tmp_path):
    system, cutoff, cn_cutoff, triple_cutoff = SYSTEMS[name], 12.0, 9.0, 8.0
    result = s_dftd3(system, damping, 1.0 if triples else 0.0, cutoff, triple_cutoff, cn_cutoff)
    same_radii = same_radii_as_s_dftd3(reference, tmp_path)
    more = {"three_body": True, "three_body_cutoff": triple_cutoff} if triples else {}
    model = d3_model(tmp_path, same_radii, damping, cutoff, cn_cutoff=cn_cutoff, **more)
    ours = evaluate_one(Case(system, model, changes=LONG_LISTS), tmp_path)
    assert abs(ours.energy - result["energy"] * HARTREE) <= SDFTD3_ENERGY * len(system)
    assert largest(ours.forces + result["gradient"] * HARTREE / BOHR) <= SDFTD3_FORCE
    if triples:
        pairs = evaluate_one(Case(system, d3_model(tmp_path, same_radii, damping, cutoff, cn_cutoff=cn_cutoff),
                                  changes=LONG_LISTS), tmp_path)
        assert abs(ours.energy - pairs.energy) > 1e-4 * len(system)
        assert largest(ours.forces - pairs.forces) > 1e-4


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
@pytest.mark.parametrize("damping", ["bj", "zero", "bj with triples"])
def test_same_on_any_ranks(ranks, damping, reference, tmp_path):
    triples = {"three_body": True, "three_body_cutoff": 6.0} if damping.endswith("triples") else {}
    model = d3_model(tmp_path, reference, damping.split()[0], 8.0, switch_width=2.0, **triples)
    splits = [{}, {"settings": "comm_style tiled", "changes": "balance 1.0 rcb"}]
    splits += [{"settings": "processors 8 1 1"}] if ranks == 8 else []
    alone = evaluate([Case(system, model, name, node_virial=True) for name, system in SYSTEMS.items()], tmp_path / "1")
    cases = [Case(system, model, f"{name}_{k}", node_virial=True, **split)
             for name, system in SYSTEMS.items() for k, split in enumerate(splits)
             if not split or name == "crystal"]    # other boxes are too small for tiles
    for name, found in evaluate(cases, tmp_path / "many", ranks).items():
        assert found.log.count("compute heat/flux is an approximation") == 1
        one = alone[name.rpartition("_")[0]]
        assert np.ptp(one.node_energy) > tol.SIGNAL_NODE_ENERGY
        assert_same(found, one, double=True)
        assert largest(found.centroid_virial - one.centroid_virial) <= tol.DOUBLE_NODE_VIRIAL


def test_diamond_with_short_cutoff_and_no_skin(reference, tmp_path, monkeypatch):
    """Without exchanged coordination numbers a shell of ghosts this thin gives forces that are off by a quarter."""
    sites = np.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0],
                      [.25, .25, .25], [.25, .75, .75], [.75, .25, .75], [.75, .75, .25]])
    base = System(sites * 3.567, np.ones(8, int), np.eye(3) * 3.567, elements=("C",))
    system = rattled(supercell(base, np.diag([6, 3, 3]))[0], 0.05, 3)
    model = d3_model(tmp_path, reference, "bj", 5.0, elements=("C",))
    monkeypatch.setitem(systems.MASSES, "C", 12.011)
    one = evaluate_one(Case(system, model, skin=0.0), tmp_path)
    two = evaluate_one(Case(system, model, skin=0.0), tmp_path / "two", 2)
    assert np.abs(one.forces).max() > 1e-3
    assert_same(two, one, double=True)


def test_cutoff_of_many_boxes(reference, tmp_path):
    """50 A around a 12 A box, cut into slices thinner than the cutoff by far."""
    system, cutoff, cn_cutoff = rock_salt(2), 50.0, 20.0
    same_radii = same_radii_as_s_dftd3(reference, tmp_path)
    model = d3_model(tmp_path, same_radii, "bj", cutoff, cn_cutoff=cn_cutoff)
    case = {"changes": LONG_LISTS, "settings": "processors * 1 1"}
    near = d3_model(tmp_path, same_radii, "bj", 5.0)
    _, base = peak_memory(Case(system, near, **case), tmp_path / "near")
    one, peak = peak_memory(Case(system, model, **case), tmp_path / "one")
    eight, eighth = peak_memory(Case(system, model, **case), tmp_path / "eight", 8)
    assert_same(eight, one, double=True)
    result = s_dftd3(system, "bj", 0.0, cutoff, cutoff, cn_cutoff)
    assert abs(one.energy - result["energy"] * HARTREE) <= SDFTD3_ENERGY * len(system)
    assert largest(one.forces + result["gradient"] * HARTREE / BOHR) <= SDFTD3_FORCE
    pairs = len(system) ** 2 / system.volume * 4 / 3 * np.pi * 51.0 ** 3
    assert peak - base < MEMORY_OF_IMAGES + pairs * MEMORY_OF_PAIR
    assert eighth - base < MEMORY_OF_IMAGES + pairs / 8 * MEMORY_OF_PAIR
    assert np.abs(one.node_energy).min() > 0.1


def peak_memory(case: Case, folder: Path, ranks: int = 1) -> tuple[Snapshot, float]:
    """With it, MiB that rank 0 held at most."""
    folder.mkdir()
    script = case.script(folder) + 'shell "grep VmHWM /proc/$PPID/status"\n'
    log = run(script, folder, ranks).output
    kilobytes = next(line for line in log.splitlines() if line.startswith("VmHWM")).split()[1]
    return read_snapshot(case.name, folder, log), float(kilobytes) / 1024


def test_cell_of_thousands_of_neighbours(reference, tmp_path):
    """Four atoms in a cell of 4 A see the same few atoms some thousand times."""
    sites = np.array([[0, 0, 0], [.5, .5, 0], [.5, 0, .5], [0, .5, .5]])
    system = rattled(System(sites * 4.0, np.array([1, 2, 1, 2]), np.eye(3) * 4.0), 0.1, 4)
    cutoff, cn_cutoff = 26.0, 9.0
    neighbours = 4 / 3 * np.pi * cutoff ** 3 * len(system) / system.volume
    assert neighbours > 4096
    result = s_dftd3(system, "bj", 0.0, cutoff, cutoff, cn_cutoff)
    same_radii = same_radii_as_s_dftd3(reference, tmp_path)
    model = d3_model(tmp_path, same_radii, "bj", cutoff, cn_cutoff=cn_cutoff)
    near = d3_model(tmp_path, same_radii, "bj", 4.0, cn_cutoff=4.0)
    _, base = peak_memory(Case(system, near), tmp_path / "near")
    for ranks in (1, 2):
        ours, peak = peak_memory(Case(system, model, changes=LONG_LISTS), tmp_path / str(ranks), ranks)
        assert abs(ours.energy - result["energy"] * HARTREE) <= SDFTD3_ENERGY * len(system)
        assert largest(ours.forces + result["gradient"] * HARTREE / BOHR) <= SDFTD3_FORCE
        assert np.abs(ours.forces).max() > 1e-3
        assert peak - base < MEMORY_OF_IMAGES


def test_missing_reference_values_name_the_command(tmp_path):
    model = d3_model(tmp_path, tmp_path / "absent.json", "bj", 8.0)
    outcome = launch(Case(rock_salt(1), model).script(tmp_path), tmp_path, 2, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0
    assert "mlip_dd d3-reference" in outcome.output and "absent.json" in outcome.output
