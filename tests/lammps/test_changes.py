"""If these fail, something kept from one step to the next outlives what it stands for: boxes that change, atoms that
come and go, runs in sequence, pair styles given anew, several simulations in one job."""

import numpy as np
import pytest
import tolerances as tol
from evaluate import Case, assert_same, evaluate, evaluate_one, largest, read_snapshot
from run import read_dump, read_thermo, run
from systems import LATTICE, crystal, rock_salt, supercell

CUBIC = rock_salt(2)
SKEWED = supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]]), np.diag([2, 2, 2]))[0]
STEPS = 40
DUMP = "dump 1 all custom 1 path.dump id type x y z fx fy fz\ndump_modify 1 sort id format float %.17g\nthermo 1\n"
HOT = "velocity all create 600 4928459 loop geom\n"

# Name, system, commands of the run, whether the box changes.
RUNS = [
    ("npt_iso", rock_salt(2, lattice=5.2), HOT + "fix 1 all npt temp 600 600 0.1 iso 0 0 0.2", True),
    ("npt", CUBIC, HOT + "fix 1 all npt temp 600 600 0.1 aniso 0 0 0.2", True),
    ("npt_triclinic", SKEWED, HOT + "fix 1 all npt temp 600 600 0.1 tri 0 0 0.2", True),
    # Deforms so fast that the skewed box flips, and atoms change ranks.
    ("deform", SKEWED, HOT + "fix 1 all nve\nfix 2 all deform 2 xy erate 12 y erate 2 remap v flip yes", True),
    ("balance", CUBIC, HOT + "fix 1 all nve\nfix 2 all balance 7 1.0 shift xyz 5 1.0", False),
    ("seldom", CUBIC, HOT + "neigh_modify every 7 delay 7 check no\nfix 1 all nve", False),
    ("always", CUBIC, HOT + "neigh_modify every 1 delay 0 check no\natom_modify sort 3 2.0\nfix 1 all nve", False),
    # Every fifth step three atoms leave, or one comes into a gap.
    ("evaporate", CUBIC, HOT + "region inside block 1 10 1 10 1 10\nfix 1 all nve\n"
     "fix 2 all evaporate 5 3 inside 38277", False),
    ("deposit", rock_salt((2, 2, 2)).part(rock_salt((2, 2, 2)).positions[:, 0] < 6.0),
     HOT + "region gap block 7.5 9.5 0 11 0 11\nfix 1 all nve\n"
     "fix 2 all deposit 8 1 5 38277 region gap near 2.0", False),
]


def path_of(name, system, commands, model, folder, ranks):
    """Thermo table and frames of the run, and those of a rerun of its frames on one rank."""
    case = Case(system, model)
    folder.mkdir(parents=True, exist_ok=True)
    # Positions at 17 digits, so that the rerun has the very same ones.
    box = "thermo_style custom step atoms pe vol c_potential[*]\nthermo_modify norm no format float %.17g\n"
    output = run(case.setup(folder) + box + DUMP + commands + f"\nrun {STEPS}\n", folder, ranks).output
    again = folder / "again"
    again.mkdir()
    rerun = DUMP + "rerun ../path.dump dump x y z box yes replace no add keep purge yes\n"
    repeated = run(case.setup(again) + box + rerun, again, 1).output
    return (read_thermo(output)[-1], read_dump(folder / "path.dump"),
            read_thermo(repeated)[-1], read_dump(again / "path.dump"))


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name, system, commands, changes_box", RUNS, ids=[case[0] for case in RUNS])
def test_every_step_equals_a_fresh_evaluation(name, system, commands, changes_box, ranks, toy3, tmp_path):
    table, frames, fresh, fresh_frames = path_of(name, system, commands, toy3, tmp_path, ranks)
    assert len(frames) == len(fresh_frames) == STEPS + 1
    assert (np.ptp(table["Volume"]) > 1e-3) == changes_box
    assert (np.ptp(table["Atoms"]) >= 3) == (name in ("evaporate", "deposit"))
    assert np.ptp(table["PotEng"]) > tol.SIGNAL_FORCE
    assert np.array_equal(table["Atoms"], fresh["Atoms"])
    # fix deform moves the box at the end of even steps, after the forces and before the dump.
    steps = slice(1, None, 2) if name == "deform" else slice(None)
    if name == "deform":
        tilts = np.array([frame.box[0, 2] for frame in frames])
        assert np.diff(tilts).min() < -LATTICE    # it flipped
    assert np.allclose(table["PotEng"][steps], fresh["PotEng"][steps], rtol=tol.DOUBLE_ENERGY, atol=0)
    for pressure in [f"c_potential[{k}]" for k in range(1, 7)]:
        assert largest((table[pressure] - fresh[pressure])[steps] * tol.LAMMPS_BAR) <= tol.DOUBLE_PRESSURE
    for frame, other in zip(frames[steps], fresh_frames[steps]):
        assert np.array_equal(frame.columns["id"], other.columns["id"])
        assert largest(frame.vectors("fx", "fy", "fz") - other.vectors("fx", "fy", "fz")) <= tol.DOUBLE_FORCE


@pytest.mark.parametrize("ranks", [2, 4])
def test_rerun_of_single_frames(ranks, toy3, tmp_path):
    """Each frame, read with its own box, against the same atoms read from a data file by themselves."""
    bases = [rock_salt(2, amplitude=0.05 * k, seed=k, lattice=LATTICE - 0.1 * k) for k in (1, 2, 3)]
    (folder := tmp_path / "run").mkdir()
    with (folder / "path.dump").open("w") as path:
        for k, base in enumerate(bases):
            ends = "".join(f"0 {base.cell[d, d]:.17g}\n" for d in range(3))
            path.write(f"ITEM: TIMESTEP\n{k}\nITEM: NUMBER OF ATOMS\n{len(base)}\nITEM: BOX BOUNDS pp pp pp\n{ends}"
                       "ITEM: ATOMS id type x y z\n")
            # In an order of its own.
            for i in np.random.default_rng(k).permutation(len(base)):
                path.write(f"{i + 1} {base.types[i]} " + " ".join(f"{x:.17g}" for x in base.positions[i]) + "\n")
    case = Case(CUBIC, toy3)
    text = case.setup(folder) + DUMP.replace("path.dump", "found.dump") + "rerun path.dump dump x y z box yes\n"
    output = run(text, folder, ranks).output
    table, frames = read_thermo(output)[-1], read_dump(folder / "found.dump")
    single = evaluate([Case(base, toy3, f"frame{k}") for k, base in enumerate(bases)], tmp_path / "single")
    assert len(frames) == len(bases) and np.ptp(table["PotEng"]) > 1.0
    for k, (frame, snapshot) in enumerate(zip(frames, single.values())):
        assert table["PotEng"][k] == pytest.approx(snapshot.energy, rel=tol.DOUBLE_ENERGY)
        assert largest(frame.vectors("fx", "fy", "fz") - snapshot.forces) <= tol.DOUBLE_FORCE
        pressure = np.array([table[f"c_potential[{j}]"][k] for j in range(1, 7)]) * tol.LAMMPS_BAR
        assert largest(pressure - snapshot.pressure) <= tol.DOUBLE_PRESSURE


def test_runs_in_sequence(toy3, tmp_path):
    """The same atoms evaluated again, after nothing, after a change of type and back, and without a new list."""
    case = Case(CUBIC, toy3)
    text = (case.script(tmp_path) + "run 0\nrun 0\n" + case.report().replace("case", "again")
            + "set atom 3 type 2\nrun 0\n" + case.report().replace("case", "changed")
            + "set atom 3 type 1\nrun 0\nrun 0 pre no\nfix 1 all nve\nrun 3 pre no post no\n"
            + "displace_atoms all move 3.1 -2.2 1.3\nrun 0\nunfix 1\n")
    output = run(text, tmp_path, ranks=2).output
    first, again, changed = (read_snapshot(name, tmp_path, output) for name in ("case", "again", "changed"))
    # One decomposition, fixed order of sums: the same bits.
    assert again.energy == first.energy and np.array_equal(again.forces, first.forces)
    assert largest(changed.forces - first.forces) > tol.SIGNAL_FORCE


def test_run_continued_without_setup_is_the_same_run(toy3, tmp_path):
    case = Case(CUBIC, toy3)
    moving = case.setup(tmp_path) + HOT + "fix 1 all nve\nthermo 1\n"
    whole = read_thermo(run(moving + "run 20\n", tmp_path, 2).output)
    parts = read_thermo(run(moving + "run 7 post no\nrun 13 pre no\n", tmp_path, 2).output)
    assert np.ptp(whole[-1]["PotEng"]) > tol.SIGNAL_FORCE
    assert parts[-1]["PotEng"][-1] == pytest.approx(whole[-1]["PotEng"][-1], rel=tol.TRAJECTORY)


def test_atoms_deleted_and_created_between_runs(toy3, tmp_path):
    keep = np.arange(len(CUBIC)) >= 9
    text = "run 0\ngroup gone id 1:9\ndelete_atoms group gone compress no\n"
    case = Case(CUBIC, toy3)
    output = run(case.setup(tmp_path) + text + "run 0\n" + case.report()
                 + "create_atoms 1 single 1.0 1.0 1.0\ndelete_atoms group all\nrun 0\n", tmp_path, ranks=2).output
    expected = evaluate_one(Case(CUBIC.part(keep), toy3), tmp_path / "fresh")
    assert_same(read_snapshot("case", tmp_path, output), expected, double=True)
    assert read_thermo(output)[-1]["PotEng"][-1] == 0.0


def test_pair_style_given_anew(toy2, toy3, tmp_path):
    """Another model, other coefficients, another style between, a restart file: each as if it were the first."""
    case = Case(CUBIC, toy2)
    steps = {
        "toy3": f"pair_style mlip/dd {toy3.spec}\npair_coeff * * Na Cl",
        "swapped": "pair_coeff * * Cl Na",
        "back": "pair_coeff * * Na Cl",
        "lj": "pair_style lj/cut 6.0\npair_coeff * * 0.05 2.5",
        "wide": f"pair_style mlip/dd {toy3.spec} halo wide\npair_coeff * * Na Cl",
        "none": f"pair_style none\npair_style mlip/dd {toy3.spec}\npair_coeff * * Na Cl",
        "restart": f"write_restart all.restart\nclear\nread_restart all.restart\npair_style mlip/dd {toy3.spec}\n"
                   "pair_coeff * * Na Cl\ncompute node_energy all pe/atom\ncompute potential all pressure NULL virial",
    }
    text = case.script(tmp_path) + "".join(
        f"{commands}\nrun 0\n" + case.report().replace("case", name) for name, commands in steps.items())
    output = run(text, tmp_path, ranks=2).output
    found = {name: read_snapshot(name, tmp_path, output) for name in ("case", *steps)}
    fresh = evaluate_one(Case(CUBIC, toy3), tmp_path / "fresh")
    for name in ("toy3", "back", "wide", "none", "restart"):
        assert_same(found[name], fresh, double=True)
    for name in ("case", "swapped", "lj"):
        assert largest(found[name].forces - fresh.forces) > 1e-3
    assert_same(found["case"], evaluate_one(Case(CUBIC, toy2), tmp_path / "fresh2"), double=True)


@pytest.mark.parametrize("ranks", [1, 2])
def test_minimize_reaches_the_same_minimum(ranks, toy3, tmp_path):
    case = Case(CUBIC, toy3)
    text = "thermo 20\nmin_style cg\nminimize 0 1e-5 200 1000\n"
    output = run(case.setup(tmp_path) + text + case.report(), tmp_path, ranks).output
    found = read_snapshot("case", tmp_path, output)
    energies = read_thermo(output)[-1]["PotEng"]
    assert energies[0] - energies[-1] > 1.0 and np.all(np.diff(energies) <= 1e-10)
    assert largest(found.forces) < 1e-5
    # Fresh: what the last step of the minimizer saw.
    fresh = evaluate_one(Case(CUBIC, toy3, pair=case.pair_commands(), changes="\n".join(
        f"set atom {k} x {x:.17g} y {y:.17g} z {z:.17g}" for k, (x, y, z) in enumerate(found.positions, 1))),
        tmp_path / "fresh")
    assert_same(found, fresh, double=True)


@pytest.mark.parametrize("ranks, layout", [(2, ["2x1"]), (4, ["2x2"]), (3, ["1", "2"])], ids=["2x1", "2x2", "1+2"])
def test_partitions_run_side_by_side(ranks, layout, toy2, toy3, tmp_path):
    """Two simulations in one job, each with its own ranks, atoms, and model."""
    cases = [Case(CUBIC, toy2, "first"), Case(SKEWED, toy3, "second")]
    expected = [evaluate_one(case, tmp_path / f"alone_{case.name}") for case in cases]
    for k, case in enumerate(cases):
        (tmp_path / f"in.{k}").write_text(case.script(tmp_path))
    run("variable which world 0 1\ninclude in.${which}\n", tmp_path, ranks, arguments=["-partition", *layout])
    for k, (case, alone) in enumerate(zip(cases, expected)):
        log = (tmp_path / f"log.lammps.{k}").read_text()
        assert_same(read_snapshot(case.name, tmp_path, log), alone, double=True)
