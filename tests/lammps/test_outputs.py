"""If these fail, what a model says of each atom, or a committee of its doubt, reaches LAMMPS's fixes, the charges of the
atoms or Python with a wrong value, on the wrong atom, or not at all."""

import dataclasses

import numpy as np
import pytest
import tolerances as tol
import torch
from evaluate import Case, assert_same, evaluate, largest, read_snapshot
from models import pairs_within
from pipeline_models import GEOMETRY, Charges, Pairs, charges_spec, committee_of, scripted_spec, single
from run import launch, read_dump, read_thermo, run
from systems import LATTICE, crystal, molecule, rock_salt, supercell

SYSTEM = supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]]), np.diag([2, 2, 2]))[0]
RANKS = pytest.mark.parametrize("ranks", [1, 3])


class Dipoles(torch.nn.Module):
    """A vector for each atom, the sum of its weighted edges, and its square for an energy."""

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor):
        weight = (1.0 - (edge_vectors * edge_vectors).sum(1) / 16.0) ** 2
        vectors = torch.zeros([types.size(0), 3], dtype=torch.float64)
        vectors = vectors.index_add(0, edge_index[0], weight.unsqueeze(1) * edge_vectors)
        return (vectors * vectors).sum(1), vectors


def dipoles_spec(folder) -> dict:
    return scripted_spec(folder, "dipoles", Dipoles(), 4.0, GEOMETRY, ("node_energy", "dipole"))


def expected_charges(system, strength: float = 0.02) -> np.ndarray:
    """pipeline_models.Charges in numpy."""
    receivers, senders, vectors = pairs_within(system, 5.0)
    squared = (vectors ** 2).sum(1)
    sign = np.where(system.types == 1, 1.0, -1.0)
    weight = strength * (1.0 - squared / 25.0) ** 3 * (1.0 + 0.3 * np.sqrt(squared))
    return sign + np.bincount(receivers, weight * sign[senders], len(system))


def dumped(case: Case, folder, ranks: int, commands: str, *columns: str) -> np.ndarray:
    folder.mkdir(parents=True, exist_ok=True)
    run(case.setup(folder) + commands + "\nwrite_dump all custom out.dump id " + " ".join(columns)
        + " modify sort id format float %.17g\n", folder, ranks)
    return read_dump(folder / "out.dump")[-1].vectors(*columns)


@RANKS
def test_charges_through_fix_pair_and_atoms(ranks, tmp_path):
    """Asked for always or on some steps, and written to the atoms."""
    model = single(tmp_path, "charges", charges_spec(tmp_path))
    expected = expected_charges(SYSTEM)
    assert np.ptp(expected) > 0.1
    case = Case(SYSTEM, model, style="charge", options="charges to_q")
    found = dumped(case, tmp_path / "run", ranks,
                   "fix always all pair 1 mlip/dd charges 0\nfix some all pair 2 mlip/dd charges 1\nrun 0",
                   "q", "f_always", "f_some")
    for column in found.T:
        assert largest(column - expected) < 1e-12
    # Without the keyword atoms keep theirs.
    kept = dumped(Case(SYSTEM, model, style="charge"), tmp_path / "kept", ranks, "run 0", "q")
    assert largest(kept[:, 0] - np.where(SYSTEM.types == 1, 0.5, -0.5)) == 0.0


# A mesh that does not depend on the charges that the run is begun with.
KSPACE = "\nkspace_style pppm 1e-6\nkspace_modify gewald 0.45 mesh 24 24 24"


@RANKS
@pytest.mark.parametrize("coulomb, kspace", [("coul/cut", ""), ("coul/long", KSPACE)], ids=["cut", "kspace"])
def test_other_styles_see_the_charges_of_the_step(coulomb, kspace, ranks, tmp_path):
    """Coulomb styles beside the model, on ghosts and in kspace: the same as with charges set by hand."""
    model = single(tmp_path, "charges", charges_spec(tmp_path))
    overlay = f"pair_style hybrid/overlay mlip/dd {{spec}} charges to_q {coulomb} 6.0\npair_coeff * * mlip/dd Na Cl\n" \
        f"pair_coeff * * {coulomb}{kspace}"
    values = "\n".join(f"set atom {k} charge {q:.17g}" for k, q in enumerate(expected_charges(SYSTEM), 1))
    by_hand = overlay.replace("charges to_q", "")
    found = evaluate([Case(SYSTEM, model, "given", style="charge", pair=overlay),
                      Case(SYSTEM, model, "set", style="charge", pair=by_hand, changes=values),
                      Case(SYSTEM, model, "plain", style="charge", pair=by_hand)], tmp_path / "runs", ranks)
    assert largest(found["plain"].forces - found["set"].forces) > tol.SIGNAL_FORCE
    assert_same(found["given"], found["set"], double=True)


@RANKS
def test_gradient_by_what_atoms_carry(ranks, tmp_path):
    """d_energy_d_<field> against its formula."""
    spec = scripted_spec(tmp_path, "pairs", Pairs(), 4.0, ("edge_index", "edge_vectors", "strength"), ("node_energy",))
    carry = "fix 3 all property/atom d_strength\nset type 1 d_strength 0.7\nset type 2 d_strength -0.4\n"
    found = dumped(Case(SYSTEM, single(tmp_path, "pairs", spec), changes=carry), tmp_path / "run", ranks,
                   "fix 4 all pair 1 mlip/dd d_energy_d_strength 1\nrun 0", "f_4")
    receivers, senders, vectors = pairs_within(SYSTEM, 4.0)
    strength = np.where(SYSTEM.types == 1, 0.7, -0.4)
    weight = (1 - (vectors ** 2).sum(1) / 16) ** 3
    expected = 2 * np.bincount(receivers, weight * strength[senders], len(SYSTEM))
    assert largest(expected) > 0.1
    assert largest(found[:, 0] - expected) < 1e-12


@RANKS
def test_columns_of_a_vector(ranks, tmp_path):
    model = single(tmp_path, "dipoles", dipoles_spec(tmp_path))
    fields = " ".join(f"dipole[{k}] 0" for k in (1, 2, 3))
    found = dumped(Case(SYSTEM, model), tmp_path / "run", ranks, f"fix 1 all pair 1 mlip/dd {fields}\nrun 0",
                   "f_1[1]", "f_1[2]", "f_1[3]")
    receivers, _, vectors = pairs_within(SYSTEM, 4.0)
    expected = np.zeros((len(SYSTEM), 3))
    np.add.at(expected, receivers, ((1 - (vectors ** 2).sum(1) / 16) ** 2)[:, None] * vectors)
    assert largest(expected) > 0.1 and largest(found - expected) < 1e-12
    text = Case(SYSTEM, model).setup(tmp_path / "run") + "fix 1 all pair 1 mlip/dd dipole 0\nrun 0\n"
    outcome = launch(text, tmp_path / "run", ranks, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and "dipole[1] to dipole[3]" in outcome.error_lines[0]


SOME, ALWAYS = "fix some all pair 5 mlip/dd charges 1\n", "fix always all pair 1 mlip/dd charges 0\n"


@pytest.mark.parametrize("fixes", [SOME, SOME + ALWAYS, ALWAYS + SOME], ids=["some", "some_always", "always_some"])
def test_values_follow_atoms_and_steps(fixes, tmp_path):
    """Dynamics with atoms that change ranks; each step's charges are those of its positions, whoever else asks for them."""
    model = single(tmp_path, "charges", charges_spec(tmp_path))
    case = Case(rock_salt(2), model, style="charge")
    every, name = (1, "f_always") if ALWAYS in fixes else (5, "f_some")
    (tmp_path / "run").mkdir()
    run(case.setup(tmp_path / "run") + "velocity all create 2000 4928459 loop geom\nvelocity all set 40 20 0 sum yes\n"
        "fix 1 all nve\nneigh_modify every 1 delay 0\n" + fixes +
        f"thermo 5\ndump 1 all custom {every} path.dump id type x y z {name}\n"
        "dump_modify 1 sort id format float %.17g\nrun 20\n", tmp_path / "run", 2)
    frames = read_dump(tmp_path / "run" / "path.dump")
    assert len(frames) == 20 // every + 1
    for frame in frames:
        moved = type(case.system)(frame.vectors("x", "y", "z"), case.system.types, case.system.cell)
        assert largest(frame.columns[name] - expected_charges(moved)) < 1e-10
    assert largest(frames[-1].columns[name] - frames[0].columns[name]) > 1e-4


def test_values_while_minimising(tmp_path):
    """fix pair does not set its flag before the first step of a minimiser."""
    case = Case(SYSTEM, single(tmp_path, "charges", charges_spec(tmp_path)), style="charge")
    found = dumped(case, tmp_path / "run", 2, SOME.replace("pair 5", "pair 1") + "minimize 0 0 5 20", "x", "y", "z", "f_some")
    moved = dataclasses.replace(SYSTEM, positions=found[:, :3])
    assert largest(moved.positions - SYSTEM.positions) > 1e-4
    assert largest(found[:, 3] - expected_charges(moved)) < 1e-10


@RANKS
def test_committee(ranks, export, tmp_path):
    """The mean of three models, and how far their forces lie apart."""
    committee, seeds = committee_of(export, tmp_path)
    cases = [Case(SYSTEM, model, f"alone{k}") for k, model in enumerate(seeds)]
    alone = list(evaluate(cases, tmp_path / "alone", ranks).values())
    forces = np.array([snapshot.forces for snapshot in alone])
    deviation = np.sqrt(((forces - forces.mean(0)) ** 2).mean(0).sum(1))
    assert deviation.min() > 1e-4
    case = Case(SYSTEM, committee)
    (folder := tmp_path / "run").mkdir()
    output = run(case.setup(folder) + "fix 1 all pair 1 mlip/dd force_deviation 1\n"
                 "compute parts all pair mlip/dd\nthermo_style custom step pe c_parts[*] c_potential[*]\n"
                 "thermo_modify norm no format float %.17g\nrun 0\n" + case.report()
                 + "write_dump all custom out.dump id f_1 modify sort id format float %.17g\n", folder, ranks).output
    found = read_snapshot("case", folder, output)
    assert found.energy == pytest.approx(np.mean([snapshot.energy for snapshot in alone]), rel=tol.DOUBLE_ENERGY)
    assert largest(found.forces - forces.mean(0)) < tol.DOUBLE_FORCE
    assert largest(found.pressure - np.mean([s.pressure for s in alone], axis=0)) < tol.DOUBLE_PRESSURE
    assert largest(read_dump(folder / "out.dump")[-1].columns["f_1"] - deviation) < tol.DOUBLE_FORCE
    parts = read_thermo(output)[-1]
    for k, snapshot in enumerate(alone, 1):
        assert parts[f"c_parts[{k}]"][0] == pytest.approx(snapshot.energy / 3, rel=tol.DOUBLE_ENERGY)


@RANKS
def test_other_outputs_of_a_committee_are_means(ranks, tmp_path):
    strengths = (0.02, 0.05, -0.01)
    files = []
    for strength in strengths:
        files.append(str(tmp_path / f"charges{strength}.pt"))
        torch.jit.script(Charges(strength)).save(files[-1])
    spec = charges_spec(tmp_path)
    spec["model"]["file"] = files
    case = Case(SYSTEM, single(tmp_path, "committee", spec), style="charge", options="charges to_q")
    found = dumped(case, tmp_path / "run", ranks, "fix 1 all pair 1 mlip/dd charges 0\nrun 0", "q", "f_1")
    alone = [expected_charges(SYSTEM, strength) for strength in strengths]
    assert largest(alone[1] - alone[0]) > 0.05
    for column in found.T:
        assert largest(column - np.mean(alone, axis=0)) < 1e-12


def test_committee_every_so_many_steps(export, tmp_path):
    """In the steps named the deviation is that of a committee asked in each; others cannot be asked for."""
    committee, _ = committee_of(export, tmp_path)
    case = Case(rock_salt(2), committee)
    found = {}
    for name, options in (("each", ""), ("some", "committee every 4")):
        (folder := tmp_path / name).mkdir()
        text = Case(case.system, committee, options=options).setup(folder) + \
            "velocity all create 600 4928459 loop geom\nfix 1 all nve\nfix 2 all pair 8 mlip/dd force_deviation 0\n" \
            "dump 1 all custom 8 path.dump id f_2\ndump_modify 1 sort id format float %.17g\nrun 16\n"
        run(text, folder, 2)
        found[name] = [frame.columns["f_2"] for frame in read_dump(folder / "path.dump")]
    assert len(found["some"]) == 3 and found["some"][1].min() > 1e-4
    assert largest(found["some"][2] - found["some"][0]) > 1e-4
    for some, each in zip(found["some"], found["each"]):
        assert np.array_equal(some, each)
    outcome = launch(text.replace("pair 8", "pair 6"), folder, 2, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and len(outcome.error_lines) == 1
    assert all(word in outcome.error_lines[0] for word in ("step 6", "committee every 4")), outcome.error_lines


# Name; atom style; options; commands after the coefficients; words of the message.
REFUSED = [
    ("no_charges_made", "charge", "charges to_q", "run 0", ["charges", "/model/outputs"]),
    ("atoms_without_charge", "atomic", "charges to_q", "run 0", ["atom_style charge"]),
    ("unknown_output", "atomic", "", "fix 1 all pair 1 mlip/dd spins 0\nrun 0", ["spins", "/model/outputs"]),
    ("committee_of_one", "atomic", "committee every 4", "run 0", ["committee", "/model/file"]),
    ("committee_never", "atomic", "committee every 0", "run 0", ["committee every", "0"]),
    ("charges_too_late", "charge", "", "pair_style hybrid/overlay coul/cut 6.0 mlip/dd charges.json charges to_q\n"
     "pair_coeff * * coul/cut\npair_coeff * * mlip/dd Na Cl\nrun 0", ["charges to_q", "Name mlip/dd first"]),
    ("group_group", "atomic", "", "group g id 1:8\ncompute 1 g group/group all\nrun 0", ["group/group"]),
]


@pytest.mark.parametrize("name, style, options, commands, words", REFUSED, ids=[case[0] for case in REFUSED])
def test_what_cannot_be_had(name, style, options, commands, words, toy2, tmp_path):
    (folder := tmp_path / "run").mkdir()
    charges = single(folder, "charges", charges_spec(folder))
    model = charges if name == "atoms_without_charge" else toy2
    outcome = launch(Case(SYSTEM, model, style=style, options=options).setup(folder) + commands + "\n", folder, 2,
                     limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and len(outcome.error_lines) == 1, outcome.output
    assert all(word in outcome.error_lines[0] for word in words), outcome.error_lines[0]


FLUX = """
velocity all create 300 4928459 loop geom
compute ke all ke/atom
compute centroid all centroid/stress/atom NULL virial
compute flux all heat/flux ke node_energy centroid
compute halves all stress/atom NULL virial
compute flux_of_halves all heat/flux ke node_energy halves
thermo_style custom step pe c_flux[*] c_flux_of_halves[*]
thermo_modify norm no format float %.17g
run 0
"""


@RANKS
def test_heat_flux_of_many_body_energies(ranks, tmp_path):
    """J V = d/dt sum_i x_i E_i of a cluster, without the part that atoms carry along, for energies that are no sums of pairs."""
    system, model = molecule(boundary="f f f"), single(tmp_path, "dipoles", dipoles_spec(tmp_path))
    case = Case(system, model)
    (folder := tmp_path / "run").mkdir()
    output = run(case.setup(folder) + FLUX + "write_dump all custom out.dump id x y z vx vy vz fx fy fz modify sort id "
                 "format float %.17g\n", folder, ranks).output
    assert "heat flux" not in output    # the warning to models of several layers
    frame, thermo = read_dump(folder / "out.dump")[-1], read_thermo(output)[0]
    x, v, f = (frame.vectors(*(name + axis for axis in "xyz")) for name in ("", "v", "f"))
    dipoles = Dipoles()

    def energies(positions):
        receivers, senders, vectors = pairs_within(dataclasses.replace(system, positions=positions), 4.0)
        return dipoles(torch.zeros(len(system)), torch.tensor(np.stack([receivers, senders])), torch.tensor(vectors))[0].numpy()

    step = 1e-5    # ps: displacements of some 1e-4 A
    power = (energies(x + step * v) - energies(x - step * v)) / (2 * step) + (f * v).sum(1)
    expected = power @ x
    assert largest(expected) > 0.1
    flux, of_halves = (np.array([thermo[f"c_{name}[{k}]"][0] - thermo[f"c_{name}[{k + 3}]"][0] for k in (1, 2, 3)])
                       for name in ("flux", "flux_of_halves"))
    assert largest(flux - expected) < 1e-6 * largest(expected)
    assert largest(of_halves - expected) > 1e-2 * largest(expected)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_heat_flux_and_sums_of_parts(ranks, toy3, tmp_path):
    """Sums over atoms are the totals, `nofdotr` or not, and compute pair has the whole energy; the heat flux of a model of
    several layers comes with a warning."""
    (folder := tmp_path / "run").mkdir()
    case = Case(SYSTEM, toy3)
    text = """
velocity all create 300 4928459 loop geom
compute ke all ke/atom
compute stress all centroid/stress/atom NULL virial
compute flux all heat/flux ke node_energy stress
compute sum_energy all reduce sum c_node_energy
compute sum_stress all reduce sum c_stress[1] c_stress[2] c_stress[3]
compute pair all pair mlip/dd
thermo_style custom step pe vol c_pair c_potential[*] c_flux[*] c_sum_energy c_sum_stress[*]
thermo_modify norm no format float %.17g
run 0
pair_modify nofdotr
run 0
"""
    output = run(case.setup(folder) + text, folder, ranks).output
    assert output.count("compute heat/flux is an approximation") == 1
    tables = read_thermo(output)
    for table in tables:
        assert abs(table["PotEng"][0]) > 1.0
        assert table["c_pair"][0] == pytest.approx(table["PotEng"][0], rel=1e-12)
        assert table["c_sum_energy"][0] == pytest.approx(table["PotEng"][0], rel=1e-12)
        for k in (1, 2, 3):
            assert abs(table[f"c_potential[{k}]"][0]) * tol.LAMMPS_BAR > tol.SIGNAL_PRESSURE
            assert -table[f"c_sum_stress[{k}]"][0] / table["Volume"][0] == \
                pytest.approx(table[f"c_potential[{k}]"][0], rel=1e-10)
    assert abs(tables[0]["c_flux[1]"][0]) > 1e-3
    for name in tables[0]:    # atoms are sorted anew between runs
        assert tables[1][name][0] == pytest.approx(tables[0][name][0], rel=1e-10, abs=1e-12), name
