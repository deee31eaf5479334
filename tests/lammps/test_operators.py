"""If these fail, a model with operators of a library of its own is not loaded by LAMMPS, gives other numbers on
several ranks than on one, or is run although nobody said what its operators do over ranks."""

import json

import numpy as np
import pytest
from evaluate import Batches, Case, assert_same, require_signal
from operator_models import OPERATORS, operator_model
from systems import rock_salt
from test_errors import must_fail, script

SYSTEM = rock_salt(2)
RANKS = (2, 4)
# Ways of holding rows that each adapter allows.
WAYS = {"mutual": ("auto", "padded", "all"), "moments": ("auto", "padded", "wide"), "attend": ("auto",)}


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operators")
    models = {name: operator_model(name, folder / name) for name in OPERATORS}
    of_ranks = {1: [Case(SYSTEM, model, name) for name, model in models.items()]}
    for ranks in RANKS:
        of_ranks[ranks] = [Case(SYSTEM, models[name], f"{name}_{way}", options=f"halo {way}")
                           for name, ways in WAYS.items() for way in ways]
    return {ranks: Batches(cases, ranks, folder / f"ranks{ranks}") for ranks, cases in of_ranks.items()}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name, way", [(name, way) for name, ways in WAYS.items() for way in ways])
def test_operators_on_ranks_equal_one_rank(name, way, ranks, snapshots):
    whole, parts = snapshots[1][name], snapshots[ranks][f"{name}_{way}"]
    require_signal(whole)
    assert len(np.unique(parts.ranks)) == ranks and parts.rows("halo rows")[0] > 0
    assert_same(parts, whole, double=True)


def test_an_operator_that_nobody_describes_is_refused(tmp_path):
    model = operator_model("mutual", tmp_path / "model", adapted=False)
    must_fail(script(SYSTEM, tmp_path, pair=f"pair_style mlip/dd {model.spec}\npair_coeff * * Na Cl"), tmp_path, 2,
              "mlip_dd_test::mutual", "/core/custom_ops")


def test_a_missing_library_and_an_unknown_operator_are_named(tmp_path):
    model = operator_model("mutual", tmp_path / "model")
    text = json.loads(model.spec.read_text())
    pair = f"pair_style mlip/dd {model.spec}\npair_coeff * * Na Cl"
    model.spec.write_text(json.dumps({**text, "model": {**text["model"], "libraries": ["libgone.so"]}}))
    must_fail(script(SYSTEM, tmp_path, pair=pair), tmp_path, 1, "libgone.so", "/model/libraries")
    text["core"]["custom_ops"][0]["op"] = "mlip_dd_test::mutuel"
    model.spec.write_text(json.dumps(text))
    must_fail(script(SYSTEM, tmp_path, pair=pair), tmp_path, 2, "mutuel", "mlip_dd_test::mutual")
