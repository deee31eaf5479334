"""If these fail, a pipeline in LAMMPS is not the sum of its models, loses how one model's charges move another's energy,
or depends on how LAMMPS cuts the box."""

import json

import numpy as np
import pytest
import tolerances as tol
from evaluate import Case, assert_same, evaluate, evaluate_one, largest, require_signal
from models import Model, pairs_within
from pipeline_models import Pairs, charges_spec, native_spec, pipeline, scripted_spec, single
from run import launch, read_thermo, run
from systems import LATTICE, System, crystal, rattled, rock_salt, supercell

SKEWED = supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]]), np.diag([2, 2, 2]))[0]
CUBIC = rock_salt(2)
# All atoms in one corner: most ranks have none.
CORNER = System(CUBIC.positions[:20], CUBIC.types[:20], np.eye(3) * 40.0)
# Two pair styles are summed by LAMMPS, in another order than by the pipeline; a few thousand terms.
SUM_FORCE = 1e-10      # eV/A
SUM_ENERGY = 1e-12     # relative


@pytest.fixture(scope="module")
def parts(tmp_path_factory, reference, toy3) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("parts")
    toy = json.loads(toy3.spec.read_text())
    toy["model"]["file"] = str(toy3.file)
    return {"q": charges_spec(folder), "pme": native_spec("pme", 6.0, accuracy=1e-6),
            "d3": native_spec("dftd3", 10.0, functional="pbe", damping="bj", switch_width=2.0, reference=str(reference)),
            "lj": native_spec("lj", 7.0, epsilon=0.01, sigma=2.6), "toy": toy}


@pytest.fixture(scope="module")
def wired(parts, tmp_path_factory) -> Model:
    """Charges that depend on positions into PME, dispersion beside them."""
    models = {name: parts[name] for name in ("q", "pme", "d3")}
    return pipeline(tmp_path_factory.mktemp("wired"), "wired", models,
                    {"steps": ["q", {"model": "pme", "wire": {"charges": "q.charges"}}], "autograd": True},
                    {"steps": ["d3"]})


def wired_cases(model: Model, ranks: int) -> list[Case]:
    thin = "processors * 1 1"
    cases = [Case(CUBIC, model, "cubic", node_virial=True), Case(SKEWED, model, "skewed", node_virial=True),
             Case(CUBIC, model, "thin", settings=thin), Case(CORNER, model, "corner", settings=thin),
             Case(CUBIC, model, "tiled", settings="comm_style tiled", changes="balance 1.0 rcb")]
    return cases if ranks < 8 else cases[2:3]    # more ranks than cores take turns at waiting


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_any_decomposition_equals_one_rank(ranks, wired, tmp_path):
    cases = wired_cases(wired, ranks)
    one, many = evaluate(cases, tmp_path / "one"), evaluate(cases, tmp_path / "many", ranks)
    for case in cases:
        require_signal(one[case.name])
        assert_same(many[case.name], one[case.name], double=True)
        if case.node_virial:
            assert largest(many[case.name].node_virial - one[case.name].node_virial) < tol.DOUBLE_NODE_VIRIAL


def test_forces_and_pressure_are_derivatives(wired, tmp_path):
    """Through LAMMPS, charges moving with the atoms; without the chain term the same comparison fails."""
    step, strain = tol.DISPLACEMENT_STEP, tol.STRAIN_STEP
    moves = [(atom, axis) for atom, axis in ((0, 0), (7, 1), (40, 2))]

    def moved(atom, axis, by) -> System:
        positions = SKEWED.positions.copy()
        positions[atom, axis] += by
        return System(positions, SKEWED.types, SKEWED.cell)

    cases = [Case(SKEWED, wired, "rest")]
    cases += [Case(moved(*move, k * step), wired, f"m{n}_{k}") for n, move in enumerate(moves) for k in (-2, -1, 1, 2)]
    cases += [Case(System(SKEWED.positions * (1 + k * strain), SKEWED.types, SKEWED.cell * (1 + k * strain)), wired,
                   f"v_{k}") for k in (-2, -1, 1, 2)]
    found = evaluate(cases, tmp_path)

    def derivative(name: str, h: float) -> float:
        at = [found[f"{name}_{k}"].energy for k in (-2, -1, 1, 2)]
        return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)

    rest = found["rest"]
    scale = np.sqrt((rest.forces ** 2).mean())
    # PME's forces are a gradient only to its accuracy: 1e-6 of 14.4 eV/A, the force of unit charges 1 A apart.
    allowed = tol.DERIVATIVE * scale + 3 * 1e-6 * 14.4
    for n, (atom, axis) in enumerate(moves):
        assert abs(rest.forces[atom, axis] + derivative(f"m{n}", step)) < allowed
    pressure = -derivative("v", strain) / (3 * rest.volume)
    assert abs(pressure) > 1e-3
    assert abs(rest.pressure[:3].mean() - pressure) < 1e-5 * abs(pressure)


def test_sum_of_models_equals_overlay(parts, tmp_path):
    """Against LAMMPS's own sum of the same models, each a pair style; total and parts, either order."""
    names = ("lj", "toy", "d3", "pme")
    files = {name: single(tmp_path, name, parts[name]).spec for name in names}
    overlay = "pair_style hybrid/overlay " + " ".join(f"mlip/dd {file}" for file in files.values()) + "\n" + \
        "\n".join(f"pair_coeff * * mlip/dd {k} Na Cl" for k in range(1, 5))
    forward = pipeline(tmp_path, "forward", {name: parts[name] for name in names})
    backward = pipeline(tmp_path, "backward", {name: parts[name] for name in reversed(names)})
    energies = "compute parts all pair mlip/dd\nthermo_style custom step pe " + \
        " ".join(f"c_parts[{k}]" for k in range(1, 5)) + "\nthermo_modify norm no format float %.17g\nrun 0\n"
    cases = [Case(SKEWED, forward, "forward", style="charge", node_virial=True),
             Case(SKEWED, backward, "backward", style="charge", node_virial=True),
             Case(SKEWED, forward, "overlay", style="charge", pair=overlay, node_virial=True)]
    cases += [Case(SKEWED, Model(file, True), name, style="charge") for name, file in files.items()]
    found = evaluate(cases, tmp_path / "runs", ranks=2)
    expected = found["overlay"]
    require_signal(expected)
    for name in ("forward", "backward"):
        assert abs(found[name].energy - expected.energy) < SUM_ENERGY * abs(expected.energy)
        assert largest(found[name].forces - expected.forces) < SUM_FORCE
        assert largest(found[name].pressure - expected.pressure) < tol.DOUBLE_PRESSURE
        assert largest(found[name].node_energy - expected.node_energy) < tol.DOUBLE_NODE_ENERGY
        assert largest(found[name].node_virial - expected.node_virial) < tol.DOUBLE_NODE_VIRIAL
    (folder := tmp_path / "pair").mkdir()
    table = read_thermo(run(cases[0].setup(folder) + energies, folder, ranks=2).output)[-1]
    for k, name in enumerate(names, 1):
        assert abs(found[name].energy) > 1e-3
        assert table[f"c_parts[{k}]"][0] == pytest.approx(found[name].energy, rel=SUM_ENERGY)


def test_box_that_changes(wired, tmp_path):
    """NPT: meshes, graphs and halos of all models follow, on any ranks; and energy follows the forces."""
    commands = """
velocity all create 600 4928459 loop geom
fix 1 all npt temp 600 600 0.1 aniso 0 0 0.3
thermo_style custom step pe vol econserve etotal
thermo 1
run 40
"""
    tables = []
    for ranks in (1, 2):
        (folder := tmp_path / str(ranks)).mkdir()
        tables.append(read_thermo(run(Case(SKEWED, wired).setup(folder) + commands, folder, ranks).output)[-1])
    one, two = tables
    assert np.ptp(one["Volume"]) > 1.0 and np.ptp(one["TotEng"]) > 1e-2
    # A mesh chosen anew lets the energy jump by up to its accuracy, and both runs choose alike.
    assert np.abs(one["PotEng"] - two["PotEng"]).max() < tol.TRAJECTORY * len(SKEWED)
    assert np.ptp(one["Econserve"]) < 0.05 * np.ptp(one["TotEng"])


def test_field_carried_by_the_atoms(tmp_path):
    """fix property/atom feeds an input that is no charge; against a sum over pairs in numpy."""
    spec = scripted_spec(tmp_path, "pairs", Pairs(), 4.0, ("edge_index", "edge_vectors", "strength"), ("node_energy",))
    model = single(tmp_path, "pairs", spec)
    carry = "fix 3 all property/atom d_strength\nset type 1 d_strength 0.7\nset type 2 d_strength -0.4\n"
    found = [evaluate_one(Case(SKEWED, model, changes=carry), tmp_path / str(ranks), ranks) for ranks in (1, 3)]
    receivers, senders, vectors = pairs_within(SKEWED, 4.0)
    strength = np.where(SKEWED.types == 1, 0.7, -0.4)
    weight = (1 - (vectors ** 2).sum(1) / 16) ** 3
    energy = (weight * strength[receivers] * strength[senders]).sum()
    assert abs(energy) > 1
    for snapshot in found:
        assert snapshot.energy == pytest.approx(energy, rel=tol.DOUBLE_ENERGY)
    assert_same(found[1], found[0], double=True)
    outcome = launch(Case(SKEWED, model).script(tmp_path), tmp_path, 2, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0
    assert "strength" in outcome.output and "fix ID all property/atom" in outcome.output


WATER = 3.104    # Angstrom: 64 molecules at 1 g/cm^3


def water(compression: float = 1.0, seed: int = 3) -> System:
    """64 rigid molecules on a cubic grid, turned at random; O is type 1."""
    random = np.random.default_rng(seed)
    angle, bond = np.radians(104.52), 0.9572
    shape = bond * np.array([[0, 0, 0], [1, 0, 0], [np.cos(angle), np.sin(angle), 0]])
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3) * WATER * compression
    turns = [np.linalg.qr(random.normal(size=(3, 3)))[0] for _ in grid]
    positions = np.concatenate([origin + shape @ turn for origin, turn in zip(grid, turns)])
    return rattled(System(positions, np.tile([1, 2, 2], 64), np.eye(3) * 4 * WATER * compression, elements=("O", "H")),
                   0.02, seed)


def test_water_pressure_of_parts_and_sum(reference, tmp_path):
    """192 atoms, repulsion, charges and dispersion: pressures add up, and a compressed box pushes outwards."""
    elements = ("O", "H")
    models = {"lj": native_spec("lj", 6.0, elements, switch_width=1.0, epsilon=[[0.0067, 0.002], [0.002, 0.0005]],
                                sigma=[[3.15, 1.8], [1.8, 0.9]]),
              "ewald": native_spec("ewald", 6.0, elements, accuracy=1e-8, charges=[-0.834, 0.417]),
              "d3": native_spec("dftd3", 10.0, elements, functional="pbe", damping="bj", switch_width=2.0,
                                reference=str(reference))}
    whole = pipeline(tmp_path, "whole", models)
    alone = {name: single(tmp_path, name, spec) for name, spec in models.items()}
    cases = [Case(water(), model, name) for name, model in {"whole": whole, **alone}.items()]
    box, step = water(), tol.STRAIN_STEP
    cases += [Case(System(box.positions * (1 + k * step), box.types, box.cell * (1 + k * step), elements=elements),
                   whole, f"scaled{k}") for k in (-2, -1, 1, 2)]
    cases.append(Case(water(0.8), whole, "compressed"))
    found = evaluate(cases, tmp_path / "runs", ranks=2)
    total = sum(found[name].pressure for name in alone)
    for name in alone:
        assert largest(found[name].pressure) > 1e-5
    assert largest(found["whole"].pressure - total) < tol.DOUBLE_PRESSURE * 10
    at = [found[f"scaled{k}"].energy for k in (-2, -1, 1, 2)]
    slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)
    mean = found["whole"].pressure[:3].mean()
    assert mean == pytest.approx(-slope / (3 * found["whole"].volume), rel=1e-5)
    assert found["compressed"].pressure[:3].mean() > max(0.05, mean)


def test_unknown_element_and_missing_field(wired, parts, tmp_path):
    case = Case(CUBIC, wired, pair="pair_style mlip/dd {spec}\npair_coeff * * Na Ar")
    outcome = launch(case.script(tmp_path), tmp_path, 2, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and "Ar" in outcome.output and "Na Cl" in outcome.output
    broken = pipeline(tmp_path, "broken", {"lj": parts["lj"], "pme": parts["pme"]},
                      {"steps": ["lj", {"model": "pme", "wire": {"charges": "lj.charges"}}], "autograd": True})
    outcome = launch(Case(CUBIC, broken).script(tmp_path), tmp_path, 2, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0
    assert '"lj" makes no per-atom output "charges"' in outcome.output and "broken.json" in outcome.output


def graphite(repeat, amplitude: float = 0.03, seed: int = 4) -> System:
    """AB stacking, `repeat` orthogonal cells of eight atoms along each axis."""
    a, c = 2.46, 6.71
    sites = np.array([[0, 0, 0], [0.5, 0.5, 0], [0, 1 / 3, 0], [0.5, 5 / 6, 0],
                      [0, 0, 0.5], [0.5, 0.5, 0.5], [0, 2 / 3, 0.5], [0.5, 1 / 6, 0.5]])
    cell = np.diag([a, a * np.sqrt(3), c])
    whole, _ = supercell(System(sites @ cell, np.ones(8, int), cell, elements=("C",)), np.diag(repeat))
    return rattled(whole, amplitude, seed)


def test_dispersion_on_a_pretrained_model(sevennet, reference, tmp_path):
    """SevenNet-0 with D3 on graphite: the sum of both alone, on two ranks; NPT keeps its conserved quantity."""
    spec = json.loads(sevennet.spec.read_text())
    spec["model"]["file"] = str(sevennet.file)
    models = {"mlp": spec, "d3": native_spec("dftd3", 12.0, ("C",), functional="pbe", damping="bj", switch_width=2.0,
                                             reference=str(reference))}
    whole = pipeline(tmp_path, "whole", models)
    system = graphite((2, 2, 1))
    alone = {name: single(tmp_path, name, model) for name, model in models.items()}
    found = evaluate([Case(system, model, name) for name, model in {"whole": whole, **alone}.items()],
                     tmp_path / "runs", ranks=2)
    dispersion = found["d3"]
    assert largest(dispersion.forces) > 1e-3 and largest(dispersion.pressure) > 1e-2
    # Float32 sums in another order: features are exchanged alike, so only energies and forces are added anew.
    assert found["whole"].energy == pytest.approx(found["mlp"].energy + dispersion.energy, rel=tol.SINGLE_ENERGY)
    assert largest(found["whole"].forces - found["mlp"].forces - dispersion.forces) < tol.SINGLE_FORCE
    assert largest(found["whole"].pressure - found["mlp"].pressure - dispersion.pressure) < tol.SINGLE_PRESSURE

    commands = """
velocity all create 600 4928459 loop geom
fix 1 all npt temp 300 300 0.05 aniso 0 0 0.2
timestep 0.0005
thermo_style custom step etotal econserve vol
thermo 1
run 60
"""
    table = read_thermo(run(Case(system, whole).setup(tmp_path) + commands, tmp_path, ranks=2).output)[-1]
    assert np.ptp(table["TotEng"]) > 0.1 and np.ptp(table["Volume"]) > 0.1
    print(f"conserved quantity moves by {np.ptp(table['Econserve']):.2g} eV, energy by {np.ptp(table['TotEng']):.2g}")
    assert np.ptp(table["Econserve"]) < 0.02 * np.ptp(table["TotEng"])
