"""If these fail, a script that stops, goes on, saves, restores, or changes its atoms in any of LAMMPS's ways goes on with
wrong forces, or with another model than it was begun with."""

import shutil

import numpy as np
import pytest
import tolerances as tol
import torch
from evaluate import Case, assert_same, evaluate, largest, read_snapshot, require_signal
from models import Model
from pipeline_models import GEOMETRY, scripted_spec, single
from run import launch, read_dump, read_thermo, run, usual
from systems import LATTICE, crystal, rock_salt, supercell

CUBIC = rock_salt(2)
SKEWED = supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]]), np.diag([2, 2, 2]))[0]
COMPUTES = "compute node_energy all pe/atom\ncompute potential all pressure NULL virial\n"
HOT = "velocity all create 600 4928459 loop geom\n"

# Name, system, how the case differs, commands from the first setup to the last evaluation.
CHANGES = [
    ("fire", CUBIC, {}, "min_style fire\nminimize 0 1e-3 30 60"),
    ("box_relax", CUBIC, {}, "fix 1 all box/relax iso 0.0 vmax 0.002\nminimize 0 1e-4 8 20"),
    ("to_triclinic", CUBIC, {}, "run 0\nchange_box all triclinic\n"
     "change_box all xy final 1.3 yz final -0.7 remap units box\nrun 0"),
    ("boundary", CUBIC, {}, "run 0\nchange_box all boundary p p f z delta -0.5 0.5 units box\nrun 0"),
    ("displaced", CUBIC, {}, "run 0\ndisplace_atoms all random 0.1 0.1 0.1 8123 units box\nrun 0"),
    ("replicate", rock_salt(1), {}, "run 0\nreplicate 2 1 1\nrun 0"),
    ("ids_anew", CUBIC, {}, "run 0\ngroup some id 3:9\ndelete_atoms group some compress yes\nreset_atoms id sort yes\nrun 0"),
    # No moves: with them fix gcmc, on several ranks, ends with fewer atoms in group all than there are. It seems to keep
    # an atom's index over an exchange of atoms.
    ("gcmc", rock_salt((2, 1, 2)).part(np.arange(32) != 11), {"settings": "atom_modify map yes"},
     "fix 1 all gcmc 1 16 0 1 29494 3000 -3.0 1.0 full_energy overlap_cutoff 1.5\nrun 6"),
    ("hash_map", CUBIC, {"settings": "atom_modify map hash sort 2 3.0"}, HOT + "fix 1 all nve\nrun 12"),
    ("tiled", SKEWED, {"settings": "comm_style tiled", "changes": "balance 1.0 rcb"},
     HOT + "fix 1 all nve\nfix 2 all balance 5 1.0 rcb\nrun 12"),
    ("no_skin", CUBIC, {"skin": 0.0}, HOT + "fix 1 all nve\nneigh_modify every 1 delay 0 check no\nrun 5"),
    ("thick_skin", CUBIC, {"skin": 3.0}, HOT + "fix 1 all nve\nrun 12"),
    ("short_ghosts", CUBIC, {"changes": "comm_modify cutoff 2.0"}, HOT + "fix 1 all nve\nrun 12"),
    ("created", CUBIC.part(np.arange(64) != 9), {}, "run 0\ncreate_atoms 2 single 2.7 2.9 5.7 units box\n"
     "create_atoms 1 single 1.4 1.4 1.4 units box\nrun 0"),
    # Every step some atoms of both kinds change places, by what each trial's energy is.
    ("swap", CUBIC, {}, "fix 1 all atom/swap 1 8 29494 20000 ke no types 1 2\nfix 2 all nve\nrun 6"),
    ("undone", CUBIC, {}, "fix 1 all nve\nrun 2\nunfix 1\nfix 2 all nvt temp 300 300 0.1\n" + HOT
     + "run 3\nset atom 3 type 2\nrun 3 post no\nrun 3 pre no"),
]


# The same for what is run on one and two ranks elsewhere too.
GRID = {"settings": "processors 2 2 1"}
ON_FOUR_RANKS = [
    ("npt", CUBIC, GRID, HOT + "fix 1 all npt temp 600 600 0.1 aniso 0 0 0.2\nrun 5"),
    # The box moves after the forces of even steps.
    ("deform", SKEWED, GRID, HOT + "fix 1 all nve\nfix 2 all deform 2 xy erate 12 y erate 2 remap v flip yes\nrun 5"),
    ("deposit", CUBIC.part(CUBIC.positions[:, 0] < 6.0), GRID, HOT + "region gap block 7.5 9.5 0 11 0 11\n"
     "fix 1 all nve\nfix 2 all deposit 2 1 2 38277 region gap near 2.0\nrun 5"),
    ("gcmc", rock_salt((2, 1, 2)).part(np.arange(32) != 11), {"settings": "atom_modify map yes"},
     "fix 1 all gcmc 1 6 0 1 29494 3000 -3.0 1.0 full_energy overlap_cutoff 1.5\nrun 2"),
    ("balance", CUBIC, GRID, HOT + "fix 1 all nve\nfix 2 all balance 2 1.0 shift xyz 5 1.0\nrun 5"),
    ("newton", SKEWED, {"settings": "processors 2 2 1\nnewton off"}, HOT + "fix 1 all nve\nrun 5"),
]
# Cases that want the package MC, which not every LAMMPS has, by their fixes.
MONTE_CARLO = {"gcmc": "gcmc", "swap": "atom/swap"}
MORE = pytest.param(4, marks=pytest.mark.whole)


@pytest.mark.parametrize("ranks", [1, 2, MORE])
def test_state_equals_a_fresh_process(ranks, toy3, tmp_path):
    """After each way of changing atoms or box: what LAMMPS has at the end against the same atoms read from a file."""
    compare_with_fresh(CHANGES, toy3, ranks, tmp_path)


def test_four_ranks(toy2, tmp_path):
    """Boxes and atoms that change, on a grid of 2 x 2 x 1 ranks."""
    compare_with_fresh(ON_FOUR_RANKS, toy2, 4, tmp_path)


def compare_with_fresh(changes, model, ranks: int, folder) -> None:
    text, cases = "", []
    lacking = [name for name, *_ in changes if name in MONTE_CARLO and not usual().has_style(MONTE_CARLO[name])]
    for name, system, differs, commands in changes:
        if name in lacking:
            continue
        case = Case(system, model, name, **{"skin": 1.0, **differs})
        cases.append(case)
        text += (case.setup(folder) + commands + "\n" + case.report()
                 + f"write_data {name}.out nocoeff nofix\nclear\n")
        fresh = Case(system, model, name)
        pair = f"pair_style mlip/dd {model.spec}\npair_coeff * * Na Cl\n"
        boundary = "p p f" if name == "boundary" else "p p p"
        text += (f"units metal\nboundary {boundary}\nbox tilt large\nread_data {name}.out\n{pair}{COMPUTES}"
                 "thermo_style custom step pe c_potential[1]\nrun 0\n"
                 + fresh.report().replace(name, f"{name}_fresh") + "clear\n")
    output = run(text, folder, ranks, limit=3 * tol.RUN_LIMIT).output
    for case in cases:
        found, fresh = (read_snapshot(name, folder, output) for name in (case.name, f"{case.name}_fresh"))
        assert largest(found.forces) > 1e-3 and len(found.forces) > 0, case.name
        if case.name in ("created", "deposit"):
            assert len(found.forces) > len(case.system)
        elif case.name == "swap":
            assert 0 < np.count_nonzero(found.types != case.system.types) < len(case.system) / 2
        try:
            assert_same(found, fresh, double=True)
        except AssertionError as error:
            raise AssertionError(f"{case.name}: {error}") from error
    if lacking:
        pytest.skip(f"all others are as they should be; {', '.join(lacking)}: this LAMMPS is without the package MC")


@pytest.mark.parametrize("ranks", [2, MORE])
def test_newton_all_four_ways(ranks, toy3, tmp_path):
    cases = [Case(SKEWED, toy3, f"{pair}_{bond}", style="full", settings=f"newton {pair} {bond}", node_virial=True)
             for pair in ("on", "off") for bond in ("on", "off")]
    found = evaluate(cases, tmp_path, ranks)
    require_signal(found["on_on"])
    for case in cases[1:]:
        assert_same(found[case.name], found["on_on"], double=True)
        assert largest(found[case.name].node_virial - found["on_on"].node_virial) < tol.DOUBLE_NODE_VIRIAL


@pytest.mark.parametrize("ranks", [2, MORE])
def test_ids_of_any_size_with_gaps(ranks, toy3, tmp_path):
    """IDs grow as before, so that the dump's order stays; the largest is a billion."""
    case = Case(CUBIC, toy3)
    text = case.script(tmp_path)
    head, _, body = (tmp_path / "case.data").read_text().partition("Atoms # atomic\n\n")
    lines = [line.split(maxsplit=1) for line in body.strip().splitlines()]
    new = [int(1e9) - (len(lines) - int(k)) * 10_000_019 // 13 for k, _ in lines]
    assert new[-1] == 10**9 and new[0] > 0 and len(set(new)) == len(new)
    (tmp_path / "case.data").write_text(head + "Atoms # atomic\n\n" + "".join(f"{k} {rest}\n" for k, (_, rest)
                                                                             in zip(new, lines)))
    found = read_snapshot("case", tmp_path, run(text + "fix 1 all nve\nrun 3\n", tmp_path, ranks).output)
    plain = evaluate([Case(CUBIC, toy3)], tmp_path / "plain")["case"]
    require_signal(plain)
    assert_same(found, plain, double=True)


ZBL = "pair_coeff 1 1 zbl 11 11\npair_coeff 1 2 zbl 11 17\npair_coeff 2 2 zbl 17 17"
BESIDE = {    # pair commands of the other part alone, of both, and of both in the other order; kspace
    "zbl": ("pair_style zbl 3.0 4.0\n" + ZBL.replace(" zbl", ""),
            "pair_style hybrid/overlay mlip/dd {spec} zbl 3.0 4.0\npair_coeff * * mlip/dd Na Cl\n" + ZBL,
            "pair_style hybrid/overlay zbl 3.0 4.0 mlip/dd {spec}\npair_coeff * * mlip/dd Na Cl\n" + ZBL),
    "lj": ("pair_style lj/cut 6.0\npair_coeff * * 0.05 2.5",
           "pair_style hybrid/overlay mlip/dd {spec} lj/cut 6.0\npair_coeff * * mlip/dd Na Cl\n"
           "pair_coeff * * lj/cut 0.05 2.5",
           "pair_style hybrid/overlay lj/cut 6.0 mlip/dd {spec}\npair_coeff * * lj/cut 0.05 2.5\n"
           "pair_coeff * * mlip/dd Na Cl"),
    "pppm": ("pair_style coul/long 6.0\npair_coeff * *\nkspace_style pppm 1e-6",
             "pair_style hybrid/overlay mlip/dd {spec} coul/long 6.0\npair_coeff * * mlip/dd Na Cl\n"
             "pair_coeff * * coul/long\nkspace_style pppm 1e-6",
             "pair_style hybrid/overlay coul/long 6.0 mlip/dd {spec}\npair_coeff * * coul/long\n"
             "pair_coeff * * mlip/dd Na Cl\nkspace_style pppm 1e-6"),
}


@pytest.mark.parametrize("ranks", [2, MORE])
def test_beside_other_styles_in_both_orders(ranks, toy3, tmp_path):
    cases = [Case(SKEWED, toy3, "alone", style="charge")]
    for name, (other, first, second) in BESIDE.items():
        cases += [Case(SKEWED, toy3, name, style="charge", pair=other),
                  Case(SKEWED, toy3, f"{name}_first", style="charge", pair=first),
                  Case(SKEWED, toy3, f"{name}_second", style="charge", pair=second)]
    found = evaluate(cases, tmp_path, ranks)
    alone = found["alone"]
    for name in BESIDE:
        other = found[name]
        assert largest(other.forces) > tol.SIGNAL_FORCE
        for both in (found[f"{name}_first"], found[f"{name}_second"]):
            assert both.energy == pytest.approx(alone.energy + other.energy, rel=tol.DOUBLE_ENERGY)
            assert largest(both.forces - alone.forces - other.forces) <= tol.DOUBLE_FORCE
            assert largest(both.pressure - alone.pressure - other.pressure) <= 10 * tol.DOUBLE_PRESSURE


@pytest.mark.parametrize("ranks", [1, 2])
def test_numdiff_gives_the_same_forces(ranks, toy2, tmp_path):
    """LAMMPS moves each atom and asks for the energy alone, without new lists."""
    case = Case(rock_salt(1, amplitude=0.2), toy2, settings="atom_modify map yes")
    run(case.setup(tmp_path) + "fix 1 all numdiff 1 1e-4\nrun 0\n"
        "write_dump all custom out.dump id fx fy fz f_1[*] modify sort id format float %.17g\n", tmp_path, ranks)
    frame = read_dump(tmp_path / "out.dump")[-1]
    forces = frame.vectors("fx", "fy", "fz")
    assert largest(forces) > tol.SIGNAL_FORCE
    # Second-order differences with steps of 1e-4 A: 1e-8 of the forces' scale, and rounding of 1e-13 eV / 1e-4 A.
    assert largest(forces - frame.vectors("f_1[1]", "f_1[2]", "f_1[3]")) < 1e-6


# --- Restart files -----------------------------------------------------------------------------------------------

PAIR = "pair_style mlip/dd {spec}\npair_coeff * * Na Cl\n"


@pytest.fixture
def own(toy3, tmp_path) -> Model:
    """A copy of the model, to be changed or removed."""
    folder = tmp_path / "own"
    folder.mkdir()
    for file in (toy3.spec, toy3.file):
        shutil.copy(file, folder / file.name)
    return Model(folder / toy3.spec.name, True)


def written(model, folder, pair: str = PAIR) -> Case:
    """Leaves `folder`/all.restart behind, and the case that wrote it."""
    case = Case(CUBIC, model, pair=pair)
    folder.mkdir(exist_ok=True)
    run(case.script(folder) + "write_restart all.restart\n", folder, 2)
    return case


def resumed(commands: str = "") -> str:
    return f"read_restart all.restart\n{commands}{COMPUTES}thermo_style custom step pe c_potential[1]\nrun 0\n"


def test_restart_carries_the_style(own, tmp_path):
    """Without a pair_style command; and a restart of a restart, on another number of ranks."""
    case = written(own, tmp_path / "run")
    text = resumed() + case.report().replace("case", "resumed") + "write_restart again.restart\nclear\n" \
        + "read_restart all.restart\nwrite_restart unused.restart noinit\nclear\n" \
        + resumed().replace("all.", "again.") + case.report().replace("case", "again") + "clear\n" \
        + resumed().replace("all.", "unused.") + case.report().replace("case", "unused")
    first = read_snapshot("case", tmp_path / "run", (tmp_path / "run" / "output.txt").read_text())
    outcome = run(text, tmp_path / "run", 1)
    require_signal(first)
    for name in ("resumed", "again", "unused"):
        assert_same(read_snapshot(name, tmp_path / "run", outcome.output), first, double=True)
    assert "WARNING: mlip/dd" not in outcome.output


def test_restart_of_an_overlay(own, tmp_path):
    """Hybrid styles keep what their parts are, and no coefficients."""
    pair = "pair_style hybrid/overlay mlip/dd {spec} log no lj/cut 6.0\n"
    coefficients = "pair_coeff * * mlip/dd Na Cl\npair_coeff * * lj/cut 0.05 2.5\n"
    case = written(own, tmp_path / "run", pair + coefficients)
    first = read_snapshot("case", tmp_path / "run", (tmp_path / "run" / "output.txt").read_text())
    outcome = run(resumed(coefficients) + case.report(), tmp_path / "run", 2)
    assert_same(read_snapshot("case", tmp_path / "run", outcome.output), first, double=True)
    assert "mlip/dd: model" not in outcome.output    # options are kept too


def test_restart_with_another_model_is_noticed(own, tmp_path):
    case = written(own, tmp_path / "run")
    own.spec.write_text(own.spec.read_text() + "\n")
    outcome = launch(resumed(), tmp_path / "run", 2, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and len(outcome.error_lines) == 1
    assert "fingerprint" in outcome.error_lines[0] and "pair_style mlip/dd" in outcome.error_lines[0]
    outcome = run(resumed(case.pair_commands() + "\n"), tmp_path / "run", 2)
    assert "goes on with another model" in outcome.output
    swapped = run(resumed(case.pair_commands().replace("Na Cl", "Cl Na") + "\n"), tmp_path / "run", 2)
    assert "goes on with other elements" in swapped.output


def test_restart_without_its_files(own, toy3, tmp_path):
    """The files moved: one line says so, and the commands given anew help."""
    case = written(own, tmp_path / "run")
    shutil.rmtree(own.spec.parent)
    outcome = launch(resumed(), tmp_path / "run", 2, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and len(outcome.error_lines) == 1
    assert "spec.json" in outcome.error_lines[0] and "pair_coeff" in outcome.error_lines[0]
    assert "RESULT" not in outcome.output
    found = run(resumed(PAIR.format(spec=toy3.spec)) + case.report(), tmp_path / "run", 2)
    fresh = evaluate([Case(CUBIC, toy3)], tmp_path / "fresh")["case"]
    assert_same(read_snapshot("case", tmp_path / "run", found.output), fresh, double=True)


# --- Atoms that come and go by Monte Carlo ------------------------------------------------------------------------

class PairsAndRest(torch.nn.Module):
    """Soft pairs within 4 A, and the same energy for each atom."""

    def __init__(self, each: float):
        super().__init__()
        self.each = each

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor):
        pairs = (1.0 - (edge_vectors * edge_vectors).sum(1) / 16.0) ** 3
        sent = torch.ones_like(types).to(torch.float64).index_select(0, edge_index[1])
        rest = torch.full([types.size(0)], self.each, dtype=torch.float64)
        return rest.index_add(0, edge_index[0], 0.2 * pairs * sent), rest


def test_gcmc_counts_no_atom_twice(tmp_path):
    """An energy of each atom's own is a shift of the chemical potential: the same moves are then taken. An atom whose
    deletion is tried must be gone from the model."""
    if not usual().has_style("gcmc"):
        pytest.skip("this LAMMPS is without the package MC")
    places = []
    for each, name in ((0.0, "without"), (0.7, "with")):
        spec = scripted_spec(tmp_path, name, PairsAndRest(each), 4.0, GEOMETRY, ("node_energy", "each_atom"))
        case = Case(rock_salt((2, 1, 2)), single(tmp_path, name, spec), name, settings="atom_modify map yes")
        text = (case.setup(tmp_path) + f"fix 1 all gcmc 1 20 20 1 29494 3000 {each - 0.3} 1.0 full_energy\nrun 10\n"
            "thermo_style custom step atoms f_1[3] f_1[4] f_1[5] f_1[6]\nrun 10\n"
            f"write_dump all custom {name}.out id type x y z modify sort id format float %.17g\n")
        table = read_thermo(run(text, tmp_path).output)[-1]
        places.append(read_dump(tmp_path / f"{name}.out")[-1].vectors("type", "x", "y", "z"))
        tried_in, done_in, tried_out, done_out = (table[f"f_1[{k}]"][-1] for k in (3, 4, 5, 6))
        assert 0 < done_in < tried_in and 0 < done_out < tried_out
    assert places[0].shape == places[1].shape and largest(places[0] - places[1]) < 1e-9


def test_compressed_crystal_pushes_outward(tmp_path):
    """Atoms that repel each other: positive pressure, and a barostat lets the box grow."""
    spec = scripted_spec(tmp_path, "repelling", PairsAndRest(0.0), 4.0, GEOMETRY, ("node_energy", "each_atom"))
    case = Case(rock_salt(2), single(tmp_path, "repelling", spec))
    text = case.setup(tmp_path) + "thermo_style custom step vol c_potential[*]\nthermo 30\n" \
        "fix 1 all npt temp 10 10 0.1 iso 0 0 0.1\nrun 30\n"
    table = read_thermo(run(text, tmp_path, 2).output)[-1]
    assert min(table[f"c_potential[{k}]"][0] for k in (1, 2, 3)) * tol.LAMMPS_BAR > tol.SIGNAL_PRESSURE
    assert table["Volume"][-1] > 1.001 * table["Volume"][0]


def test_group_kept_from_all_is_out_of_the_model(toy3, tmp_path):
    chosen = np.arange(len(CUBIC)) % 5 == 2
    ids = " ".join(str(k + 1) for k in np.flatnonzero(chosen))
    found = evaluate([Case(CUBIC, toy3, "kept", changes=f"group out id {ids}\nneigh_modify exclude group out all"),
                      Case(CUBIC.part(~chosen), toy3, "fresh")], tmp_path, 2)
    require_signal(found["fresh"])
    assert found["kept"].energy == pytest.approx(found["fresh"].energy, rel=tol.DOUBLE_ENERGY)
    assert largest(found["kept"].forces[~chosen] - found["fresh"].forces) < tol.DOUBLE_FORCE
    assert largest(found["kept"].forces[chosen]) == 0.0
