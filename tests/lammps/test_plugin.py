"""If these fail, every LAMMPS run pays for torch, or torch computes with LAMMPS's plain linear algebra."""

import re

from evaluate import Case
from run import run
from systems import rock_salt

MAPS = 'shell "cat /proc/$PPID/maps > {}"\n'


def test_torch_comes_with_the_style(toy3, tmp_path):
    case = Case(rock_salt(1), toy3)
    run(MAPS.format("before") + case.script(tmp_path) + MAPS.format("after"), tmp_path)
    before, after = (tmp_path / name for name in ("before", "after"))
    assert "mlipddplugin.so" in before.read_text() and "liblammps" in before.read_text()
    assert "libtorch_cpu" not in before.read_text()
    assert "libtorch_cpu" in after.read_text()


def test_torch_uses_its_own_linear_algebra(toy3, tmp_path):
    """The loader says to which library each symbol is bound; LAMMPS has a dgemm_ too."""
    case = Case(rock_salt(1), toy3)
    outcome = run(case.script(tmp_path), tmp_path, variables={"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": "bound"})
    bound = "".join(file.read_text(errors="replace") for file in tmp_path.glob("bound.*"))
    found = re.findall(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `dgemm_'", bound)
    by_torch = [target for source, target in found if "libtorch_cpu" in source]
    assert by_torch and all("libtorch_cpu" in target for target in by_torch), (found, outcome.output[-500:])
