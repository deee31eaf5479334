"""If these fail, ranks hold or send rows that no edge needs, and cost grows with the number of ranks or of periodic
images; or they lack rows, and the model is wrong."""

import numpy as np
import pytest
from evaluate import Batches, Case
from models import pairs_within
from run import spread
from systems import LATTICE, System, crystal, rock_salt, supercell

SYSTEMS = {
    "cubic": rock_salt(3),
    "cell": rock_salt(1),
    "skewed": supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]]), np.diag([3, 2, 2]))[0],
}
SKINS = (0.0, 0.7)
GRIDS = {1: "", 2: "", 3: "processors 3 1 1", 4: "processors 2 2 1"}


@pytest.fixture(scope="module")
def snapshots(toy3, tmp_path_factory):
    def cases(ranks: int) -> list[Case]:
        return [Case(system, toy3, f"{name}_{way}_{skin}", settings=GRIDS[ranks], options=f"halo {way}", skin=skin)
                for name, system in SYSTEMS.items() for skin in SKINS
                for way in (("exchange", "wide") if ranks < 4 and skin else ("exchange",))]

    return {ranks: Batches(cases(ranks), ranks, tmp_path_factory.mktemp(f"ranks{ranks}")) for ranks in GRIDS}


def spread_of(counts) -> tuple[float, float, float]:
    return min(counts), pytest.approx(sum(counts) / len(counts), rel=1e-5), max(counts)    # printed with 6 digits


def remote_within(system: System, reach: float, owners: np.ndarray, ranks: int, hops: int) -> list[int]:
    """For each rank, the distinct atoms of others that lie up to `hops` edges from its own. By brute force."""
    receivers, senders, _ = pairs_within(system, reach)
    counts = []
    for rank in range(ranks):
        reached = owners == rank
        for _ in range(hops):
            step = reached.copy()
            step[senders[reached[receivers]]] = True
            reached = step
        counts.append(int(np.count_nonzero(reached & (owners != rank))))
    return counts


@pytest.mark.parametrize("skin", SKINS)
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("ranks", GRIDS)
def test_halo_rows_are_the_distinct_remote_atoms_within_the_cutoff(name, skin, ranks, snapshots, toy3):
    found, system = snapshots[ranks][f"{name}_exchange_{skin}"], SYSTEMS[name]
    owned = np.bincount(found.ranks, minlength=ranks).tolist()
    remote = remote_within(system, toy3.cutoff + skin, found.ranks, ranks, hops=1)
    assert (max(remote) > 0) == (ranks > 1)
    assert found.rows("owned rows") == spread_of(owned)
    assert found.rows("halo rows") == spread_of(remote)
    # The model computes on owned rows alone, so that one rank computes on the atoms and no more.
    assert found.rows("rows the model sees") == spread_of(owned)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_wide_halo_holds_what_all_layers_reach(name, ranks, snapshots, toy3):
    skin = SKINS[1]
    found, system = snapshots[ranks][f"{name}_wide_{skin}"], SYSTEMS[name]
    remote = remote_within(system, toy3.cutoff + skin, found.ranks, ranks, hops=toy3.layers)
    owned = np.bincount(found.ranks, minlength=ranks)
    assert found.rows("halo rows") == spread_of(remote)
    assert found.rows("rows the model sees") == spread_of((owned + remote).tolist())


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("ranks", GRIDS)
def test_edges_are_the_pairs_within_the_cutoff(name, ranks, snapshots, toy3):
    found, system = snapshots[ranks][f"{name}_exchange_{SKINS[1]}"], SYSTEMS[name]
    receivers, _, _ = pairs_within(system, toy3.cutoff)
    assert found.rows("edges") == spread_of(np.bincount(found.ranks[receivers], minlength=ranks).tolist())


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_bytes_sent_are_those_of_the_rows(ranks, snapshots, toy3):
    """Eight scalars and eight vectors a layer forward, all but those of the first layer (types alone) back; charges
    forward, forces back. Nothing else travels, and nothing is padded."""
    found = snapshots[ranks][f"cubic_exchange_{SKINS[1]}"]
    numbers = toy3.layers * (8 + 8 * 3) + 1 + (toy3.layers - 1) * (8 + 8 * 3) + 3
    _, rows, _ = found.rows("halo rows")
    output = (found.log.split("mlip/dd: after 1 evaluations")[-1])
    _, average, _ = spread(output, "bytes sent")[0]
    assert average == pytest.approx(rows * numbers * 8, rel=1e-5)
    assert (average > 0) == (ranks > 1)
