"""If these fail, an editor that uses specs/spec.schema.json accepts what mlip-dd refuses, or marks
as wrong what it accepts; or the command's output or exit status is not what scripts rely on.

The command is found as $MLIP_DD_COMMAND, or `mlip-dd` on PATH."""

import copy
import json
import os
import pathlib
import shutil
import subprocess

import pytest

jsonschema = pytest.importorskip("jsonschema")

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("MLIP_DD_COMMAND") or shutil.which("mlip-dd")
pytestmark = pytest.mark.skipif(not COMMAND, reason="mlip-dd is not installed")

SEVENNET = {
    "spec": "SPEC_MPNN_HALO",
    "model": {"potential": "torchscript", "family": "sevennet", "file": "s.pt", "cutoff": 5.0,
              "layers": 5, "elements": ["H", "He"], "units": "metal", "dtype": "float32"},
}
GENERIC = {
    "spec": "SPEC_MPNN_HALO",
    "model": {"potential": "torchscript", "file": "s.pt", "cutoff": 5, "elements": ["Ar"],
              "inputs": {"types": "t"}, "outputs": {"node_energy": "e"}},
}
LJ = {"spec": "SPEC_LJ_HALO", "model": {"potential": "lj", "elements": ["Ar"], "cutoff": 7}}
EWALD = {"spec": "SPEC_EWALD_HALO", "model": {"potential": "ewald", "elements": ["Na", "Cl"]}}
WIRED = {
    "pipeline": {
        "models": {"a": LJ, "b": EWALD},
        "groups": [{"steps": ["a", {"model": "b", "wire": {"charges": "a.q"}}], "autograd": True}],
    }
}
PLAIN = {"version": 2, "core": {"policy": {"kind": "halo"}}}

GONE = object()

# Changes of one value; every one is judged by schema and reader.
CHANGES = [
    (SEVENNET, {
        "/model/cutof": [5], "/model/potential": [GONE, "torchscrip", 3], "/model/family": ["sevenet", GONE],
        "/model/file": [GONE, "", 1], "/model/cutoff": [GONE, 0, -5.0, "5", True, 1e300],
        "/model/layers": [-1, 2.5, 2.0, 0, 1e30, True, 2147483647, 2147483648],
        "/model/elements": [GONE, [], "Na", ["Na", "Cl"], ["H", "H"], ["he"], [2]],
        "/model/units": ["metl", "real", "lj"], "/model/dtype": ["float46", "float64", None],
        "/model/inputs": [{"types": 1}, {"types": "z"}, {}, {"types": ""}],
        "/model/outputs": [{"node_energy": "f"}, {"charges": "q", "node_energy": "e"}, {"a.b": "q"}],
        "/model/libraries": ["lib.so", ["lib.so"], [""], [1]], "/model/parameters": [1, {"a": [1]}],
        "/model": ["x", None, GONE], "/spec": [GONE, 2, "", PLAIN, {}, {"spec": "SPEC_LJ_HALO"}],
        "/$schema": ["spec.schema.json", 1], "/version": [2], "/core": [{}], "/pipeline": [{}],
    }),
    (GENERIC, {"/model/inputs": [GONE, {}], "/model/outputs": [GONE, {}], "/model/family": ["generic"]}),
    (LJ, {"/model/cutoff": [GONE], "/model/file": ["x.pt"], "/model/family": ["sevennet"],
          "/model/dtype": ["float64"], "/model/units": ["lj"]}),
    (EWALD, {"/model/cutoff": [GONE, 9.0]}),
    (WIRED, {
        "/pipeline/models/a": ["", 3, {"spec": "SPEC_LJ_HALO"}, {**PLAIN, "model": LJ["model"]}],
        "/pipeline/groups": [[], GONE, {}], "/pipeline/groups/0/autograd": ["yes"],
        "/pipeline/groups/0/steps/0": [{"model": "a", **more} for more in (
            {"weight": 0.5}, {"weight": "1"}, {"every": 1}, {"every": 2}, {"neutralise": "shift"})],
        "/pipeline/groups/0/steps/1/neutralize": ["none", "shift", "error", "yes"],
        "/pipeline/groups/0/steps": [[], GONE], "/pipeline/groups/0/autogard": [True],
        "/pipeline/groups/0/wire": [{"a.q": "b"}, {"a": "b.q"}, {"x": 1}],
        "/pipeline/groups/0/steps/1/wire": [{"charges": "q"}, {"charges": ".q"}, {"charges": "a."},
                                           {"": "a.q"}, {"charges": "a.q.r"}],
        "/pipeline/additive": [["energy"], [], [1], [""], "energy"], "/pipeline/extra": [1],
        "/spec": ["SPEC_LJ_HALO"], "/model": [LJ["model"]], "/$schema": ["s"],
    }),
    ({**PLAIN, "model": LJ["model"]}, {
        "/core/policy/kind": ["halo", "shard", "HALO", GONE],
        "/core/custom_ops": [[{"op": "a::b", "arg_transforms": {key: {"type": "slice_owned"}}}]
                             for key in ["0", "01", "-1", "+1", "x", "", " 1", "99999999999"]]
                            + [[{"op": op}] for op in ["a::b", "a", "::b", "a::", "a::b.c", 1]]
                            + [{}, {"a": 1}, "", None],
    }),
]

# Golden cases and rules that need more than one place of the file, which a schema can't state.
BEYOND_A_SCHEMA = {"key in both sets accepted"}
BEYOND = [
    {**PLAIN, "all_reduce_outputs": ["f"], "output_kinds": [["f", "per_node"]]},
    {**SEVENNET, "model": {**SEVENNET["model"], "inputs": {"types": "edge_index"}}},
    {**SEVENNET, "model": {**SEVENNET["model"], "inputs": {"edge_vector": "e"}}},
    {**SEVENNET, "model": {**SEVENNET["model"], "outputs": {"node_energies": "e"}}},
    {"pipeline": {"models": {"a": LJ, "b": LJ}, "groups": [{"steps": ["a"]}]}},
    {"pipeline": {"models": {"a": LJ}, "groups": [{"steps": [{"model": "a", "neutralize": "shift"}]}]}},
    {"pipeline": {"models": {"a": LJ}, "groups": [{"steps": ["a", "a"]}]}},
    {"pipeline": {"models": {"a": LJ, "b": EWALD},
                  "groups": [{"steps": ["a", {"model": "b", "wire": {"charges": "a.q"}}]}]}},
    {"pipeline": {"models": {"a": "none.json"}, "groups": [{"steps": ["a"]}]}},
    {"spec": "SPEC_NONE", "model": LJ["model"]},
]


def changed(start, pointer, value):
    result = copy.deepcopy(start)
    *path, last = pointer[1:].split("/")
    place = result
    for key in path:
        place = place[int(key) if isinstance(place, list) else key]
    if value is GONE:
        place.pop(last, None)
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return result


def cases():
    for start, changes in CHANGES:
        yield "start", start
        for pointer, values in changes.items():
            for value in values:
                yield f"{pointer} = {'(removed)' if value is GONE else json.dumps(value)}", changed(
                    start, pointer, value)
    golden = json.loads((ROOT / "tests/golden/specs/edge_cases.json").read_text())
    for case in golden["from_dict_cases"]:
        if case["name"] not in BEYOND_A_SCHEMA:
            yield "golden: " + case["name"], case["input"]


def validator():
    schema = json.loads((ROOT / "specs/spec.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def reader_verdicts(folder, values):
    """Accepted or not, for each value, by one call of the command."""
    for number, value in enumerate(values):
        (folder / f"{number}.json").write_text(json.dumps(value))
    names = [f"{number}.json" for number in range(len(values))]
    result = subprocess.run([COMMAND, "check", *names], cwd=folder, capture_output=True, text=True)
    lines = result.stdout.splitlines()
    assert len(lines) == len(values), result.stderr
    return [line.endswith(": ok") for line in lines]


def test_schema_and_reader_agree(tmp_path):
    names, values = zip(*cases())
    accepts = validator().is_valid
    verdicts = reader_verdicts(tmp_path, values)
    differing = [(name, "reader accepts" if verdict else "reader refuses")
                 for name, value, verdict in zip(names, values, verdicts) if accepts(value) != verdict]
    assert differing == []
    # Both verdicts must occur often, or agreeing means nothing.
    assert sum(verdicts) > 50 and len(verdicts) - sum(verdicts) > 100


def test_rules_beyond_a_schema_are_the_readers(tmp_path):
    accepts = validator().is_valid
    assert all(accepts(value) for value in BEYOND)
    assert not any(reader_verdicts(tmp_path, BEYOND))


def test_ready_specs_pass_both():
    files = sorted(path for path in (ROOT / "specs").glob("*.json") if ".schema." not in path.name)
    assert len(files) > 10
    accepts = validator().is_valid
    assert all(accepts(json.loads(path.read_text())) for path in files)
    result = subprocess.run([COMMAND, "check", *files], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def run(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)


def test_inspect_in_words_and_as_json():
    words = run("inspect", ROOT / "specs/sevennet.json")
    assert words.returncode == 0
    for part in ("halo rows", "per layer", "cutoff      5 Angstrom", "forces", "stress: per_graph"):
        assert part in words.stdout
    value = json.loads(run("inspect", "--json", ROOT / "specs/sevennet.json").stdout)
    assert value["models"][0]["cutoff"] == 5.0
    assert value["models"][0]["policy"]["kind"] == "halo"
    assert {entry["name"] for entry in value["models"][0]["outputs"]} >= {"energy", "forces"}
    helpers = run("inspect", ROOT / "tests/golden/specs/wrapper_aimnet2.json")
    assert "no meaning outside Python" in helpers.stdout


def test_merge_presets_and_refusals(tmp_path):
    golden = ROOT / "tests/golden/specs"
    merged = run("merge", golden / "wrapper_lj.json", golden / "wrapper_dftd3.json")
    assert merged.returncode == 0
    assert json.loads(merged.stdout)["node_virial_key"] == "atomic_virial"
    refused = run("merge", "SPEC_MPNN_GP", "SPEC_LJ_HALO")
    assert refused.returncode == 1 and refused.stdout == ""
    assert "different policies" in refused.stderr
    example = (golden / "_saved_format_example.json").read_text()
    assert run("presets", "SPEC_MPNN_GP").stdout == example + "\n"
    assert len(run("presets").stdout.splitlines()) == 7
    assert 'Did you mean "SPEC_LJ_HALO"?' in run("presets", "SPEC_LJ_HALLO").stderr
    missing = run("inspect", tmp_path / "none.json")
    assert missing.returncode == 1 and str(tmp_path / "none.json") in missing.stderr
    commented = tmp_path / "c.json"
    commented.write_text('{"spec": "SPEC_LJ_HALO", "comment": 1}')
    assert run("check", commented).returncode == 1
    lenient = run("check", "--lenient", commented)
    assert lenient.returncode == 0 and "warning" in lenient.stderr
