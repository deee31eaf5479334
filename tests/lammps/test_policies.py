"""If these fail, a policy of the spec file, or a way of carrying it out that the user asks for, is not what LAMMPS runs,
or changes the numbers."""

import json

import pytest
from evaluate import Batches, Case, assert_same, require_signal
from models import Model
from systems import rock_salt
from test_errors import must_fail, script

SYSTEM = rock_salt(2)
RANKS = (2, 4)
HALO, LOCAL = "halo", {"scatter_mode": "local", "gather_mode": "local"}
# Name: kind, more of the policy, more of the spec; ways that the user may ask for, with what the log calls them.
EXCHANGE, PADDED = "exchange per layer, node tensors hold owned rows", "node tensors hold owned and halo rows"
ALL, WIDE = "every other atom gathered per layer", "wide"
POLICIES = {
    "halo": (HALO, {}, {}, {"auto": EXCHANGE, "padded": PADDED, "all": ALL, "wide": WIDE}),
    "corrected": (HALO, {"gather_mode": "local"}, {}, {"auto": EXCHANGE}),
    "silent": (HALO, LOCAL, {}, {"auto": WIDE}),
    "refreshed": ("refresh_halo", {}, {}, {"auto": EXCHANGE}),
    "local": ("local", {}, {}, {"auto": WIDE}),
    "shard": ("shard", {}, {}, {"auto": EXCHANGE}),
    "parallel": ("graph_parallel", {}, {}, {"auto": ALL, "exchange": EXCHANGE}),
    "replicated": ("graph_parallel", {}, {"gp_replicate_geometry": True}, {"auto": "the rows of all atoms"}),
}
WAYS = [(name, way) for name, policy in POLICIES.items() for way in policy[3]]


@pytest.fixture(scope="module")
def with_policy(toy2, tmp_path_factory):
    folder = tmp_path_factory.mktemp("policies")
    (folder / "toy.pt").write_bytes(toy2.file.read_bytes())

    def make(name: str) -> Model:
        kind, more, spec, _ = POLICIES[name]
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"version": 2, "core": {"policy": {"kind": kind, **more}}, **spec,
                                    "model": {**toy2.fields, "file": "toy.pt"}}))
        return Model(path, double=True)

    return make


@pytest.fixture(scope="module")
def snapshots(toy2, with_policy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    models = {name: with_policy(name) for name in POLICIES}
    of_ranks = {1: [Case(SYSTEM, toy2, "whole")]}
    for ranks in RANKS:
        of_ranks[ranks] = [Case(SYSTEM, models[name], f"{name}_{way}", options=f"halo {way}", skin=0.5)
                           for name, way in WAYS]
    return {ranks: Batches(cases, ranks, folder / f"ranks{ranks}") for ranks, cases in of_ranks.items()}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name, way", WAYS)
def test_each_policy_in_each_way_equals_one_rank(name, way, ranks, snapshots):
    whole, parts = snapshots[1]["whole"], snapshots[ranks][f"{name}_{way}"]
    require_signal(whole)
    assert_same(parts, whole, double=True)
    line = next(line for line in parts.log.splitlines() if "mlip/dd: halo:" in line)
    assert POLICIES[name][3][way] in line
    if "every other atom" in line:
        assert parts.rows("halo rows")[0] + parts.rows("owned rows")[2] == len(SYSTEM)


@pytest.mark.parametrize("name, way, words", [
    ("local", "exchange", ["exchanges nothing", "SPEC_MPNN_HALO"]),
    ("silent", "padded", ["exchanges nothing", "local"]),
    ("shard", "wide", ["owned rows alone", "shard"]),
])
def test_a_way_that_contradicts_the_policy_is_refused(name, way, words, with_policy, tmp_path):
    pair = f"pair_style mlip/dd {with_policy(name).spec} halo {way}\npair_coeff * * Na Cl"
    must_fail(script(SYSTEM, tmp_path, pair=pair), tmp_path, 2, *words, "/core/policy")
