"""If these fail, a wrong input hangs the ranks, ends with success, or leaves the user without the place of the fault
and a way out of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from run import launch
from systems import System, rock_salt, write_data
from tolerances import ERROR_LIMIT

CELL = rock_salt(1)


@pytest.fixture
def spec(toy3, tmp_path):
    """change(**model fields): a spec of its own for this test; None removes a field."""
    (tmp_path / "toy.pt").write_bytes(toy3.file.read_bytes())
    whole = json.loads(toy3.spec.read_text())

    def change(top=None, **fields) -> Path:
        model = {**whole["model"], "file": "toy.pt", **fields}
        text = {**whole, **(top or {}), "model": {key: value for key, value in model.items() if value is not None}}
        path = tmp_path / "spec.json"
        path.write_text(json.dumps(text, indent=2))
        return path

    return change


def script(system: System, folder: Path, *, pair: str, before: str = "units metal", after: str = "",
           style: str = "atomic", then: str = "run 0", read: str = "read_data atoms.data") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    write_data(system, folder / "atoms.data", style)
    return f"{before}\natom_style {style}\n{read}\n{after}\n{pair}\n{then}\n"


def must_fail(text: str, folder: Path, ranks: int, *words: str) -> None:
    """All ranks end in time, non-zero, with one message that has all of `words`."""
    outcome = launch(text, folder, ranks, limit=ERROR_LIMIT)
    assert outcome.status != 0, outcome.output
    assert len(outcome.error_lines) == 1, outcome.output
    message = outcome.error_lines[0]
    missing = [word for word in words if word not in message]
    assert not missing, f"{missing} not in: {message}"
    assert "frame #" not in outcome.output and "terminate called" not in outcome.output, outcome.output


RANKS = pytest.mark.parametrize("ranks", [1, 3])


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


# Name; spec fields; what happens to the files; words of the message: the place, and the cure.
FILES = [
    ("missing_spec", {}, lambda f: (f / "spec.json").unlink(), ["spec.json"]),
    ("spec_is_directory", {}, lambda f: ((f / "spec.json").unlink(), (f / "spec.json").mkdir()),
     ["spec.json", "directory"]),
    ("truncated_spec", {}, lambda f: truncate(f / "spec.json"), ["spec.json", "line"]),
    ("empty_spec", {}, lambda f: (f / "spec.json").write_text(""), ["spec.json"]),
    ("missing_model", {"file": "gone.pt"}, lambda f: None, ["gone.pt", "/model/file"]),
    ("model_is_directory", {"file": "folder"}, lambda f: (f / "folder").mkdir(),
     ["folder", "directory", "/model/file"]),
    ("truncated_model", {}, lambda f: truncate(f / "toy.pt"), ["toy.pt", "export"]),
    ("empty_model", {}, lambda f: (f / "toy.pt").write_bytes(b""), ["toy.pt", "export"]),
    ("text_for_model", {}, lambda f: (f / "toy.pt").write_text("not a model"), ["toy.pt", "export"]),
    ("no_cutoff", {"cutoff": None}, lambda f: None, ["spec.json", "cutoff", "Add"]),
    ("negative_cutoff", {"cutoff": -1.0}, lambda f: None, ["spec.json", "/model/cutoff", "above zero"]),
    ("misspelt_key", {"cutof": 5.0, "cutoff": None}, lambda f: None, ["spec.json", "cutof", "\"cutoff\""]),
    ("misspelt_top_key", {"top": {"modell": {}}}, lambda f: None, ["spec.json", "modell", "\"model\""]),
    ("unknown_family", {"family": "sevenet"}, lambda f: None, ["spec.json", "sevenet", "sevennet"]),
    ("no_such_input", {"inputs": {"types": "kinds", "edge_index": "edge_index", "edge_vectors": "edge_vectors"}},
     lambda f: None, ["kinds", "/model/inputs", "types"]),
    ("wrong_dtype", {"dtype": "float32"}, lambda f: None, ["toy.pt", "float64", "dtype"]),
]


@RANKS
@pytest.mark.parametrize("name, fields, spoil, words", FILES, ids=[case[0] for case in FILES])
def test_files(name, fields, spoil, words, ranks, spec, tmp_path):
    spec(**fields)
    spoil(tmp_path)
    text = script(CELL, tmp_path / "run", pair=f"pair_style mlip/dd {tmp_path}/spec.json\npair_coeff * * Na Cl")
    must_fail(text, tmp_path / "run", ranks, *words)


# Name; arguments of pair_style after the spec; pair_coeff; words of the message.
COMMANDS = [
    ("unknown_element", "", "* * Na Xx", ["Xx", "Na Cl"]),
    ("element_not_of_the_model", "", "* * Na K", ["K", "Na Cl", "type 2"]),
    ("too_few_names", "", "* * Na", ["2", "1 names", "pair_coeff * *"]),
    ("too_many_names", "", "* * Na Cl Na", ["2", "3 names", "pair_coeff * *"]),
    ("not_all_types", "", "1 1 Na Cl", ["* *", "mlip/dd"]),    # LAMMPS's own message
    ("only_null", "", "* * NULL NULL", ["pair_coeff", "at least one atom type"]),
    ("misspelt_keyword", "halos wide", "* * Na Cl", ["halos", "halo"]),
    ("keyword_without_value", "log", "* * Na Cl", ["log", "value"]),
    ("unknown_halo", "halo narrow", "* * Na Cl", ["halo", "narrow", "wide"]),
    ("no_threads", "threads 0", "* * Na Cl", ["threads", "0", "1"]),
    ("no_such_device", "device gpu", "* * Na Cl", ["device", "gpu", "cuda"]),
    ("device_beyond_the_last", "device cuda:99", "* * Na Cl", ["CUDA device", "cuda:99", "Use `device "]),
    ("no_gpu", "device cuda", "* * Na Cl", ["no CUDA device", "device cuda", "Use `device cpu`"]),
]


@RANKS
@pytest.mark.parametrize("name, options, coeff, words", COMMANDS, ids=[case[0] for case in COMMANDS])
def test_commands(name, options, coeff, words, ranks, toy3, tmp_path):
    if name == "no_gpu" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    text = script(CELL, tmp_path, pair=f"pair_style mlip/dd {toy3.spec} {options}\npair_coeff {coeff}")
    must_fail(text, tmp_path, ranks, *words)


BONDED = replace(CELL, bonds=((1, 5), (2, 6)))
SMALL_STEP = "velocity all create 300 1\nfix 1 all nve\n"
# Name; how the run differs; words of the message: the offending command and its cure.
REFUSALS = [
    ("no_pair_coeff", {"pair_coeff": ""}, ["pair"]),
    ("units_lj", {"before": "units lj"}, ["units", "lj", "units metal"]),
    ("no_ids", {"before": "units metal\natom_modify id no", "read": "region all block 0 8 0 8 0 8\ncreate_box 2 all\n"
                "create_atoms 1 single 1 1 1\ncreate_atoms 2 single 3 3 3\nmass * 20.0"}, ["atom_modify id yes"]),
    ("exclude_type", {"after": "neigh_modify exclude type 1 1"}, ["neigh_modify exclude"]),
    ("exclude_group", {"after": "group g type 1\nneigh_modify exclude group g g"}, ["neigh_modify exclude"]),
    ("include", {"after": "group g type 1\natom_modify first g\nneigh_modify include g"}, ["neigh_modify include"]),
    ("special_bonds", {"style": "full", "system": BONDED, "after": "bond_style zero\nbond_coeff *"},
     ["special_bonds", "1.0 1.0 1.0"]),
    ("special_bonds_of_new_bonds", {"style": "full", "system": BONDED, "after": "bond_style zero\nbond_coeff *\n"
     "delete_bonds all multi remove special", "then": "run 0\ncreate_bonds single/bond 1 1 5\nrun 0"},
     ["special_bonds", "bonds of atom 1", "1.0 1.0 1.0"]),
    # LAMMPS's own message.
    ("respa", {"then": SMALL_STEP + "run_style respa 2 2 inner 1 2.0 3.0 outer 2\nrun 1"}, ["rRESPA"]),
    ("respa_plain", {"then": SMALL_STEP + "run_style respa 2 2\nrun 1"}, ["respa", "run_style verlet"]),
    ("wide_multi", {"options": "halo wide", "after": "neighbor 1.0 multi\ncomm_modify mode multi"},
     ["halo wide", "comm_modify mode single"]),
]


@pytest.mark.parametrize("name, change, words", REFUSALS, ids=[case[0] for case in REFUSALS])
def test_refusals(name, change, words, toy3, tmp_path):
    change = dict(change)
    system, options = change.pop("system", CELL), change.pop("options", "")
    pair = f"pair_style mlip/dd {toy3.spec} {options}\n{change.pop('pair_coeff', 'pair_coeff * * Na Cl')}"
    must_fail(script(system, tmp_path, pair=pair, **change), tmp_path, 2, *words)
