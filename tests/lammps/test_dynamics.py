"""If these fail, long runs heat up, leak, or slow down."""

import resource
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tolerances as tol
from evaluate import Case
from run import read_thermo, run
from systems import rock_salt

# Longer than the limit of other calls: these runs are long by purpose.
LONG_LIMIT = 400.0


class Memory:
    """Resident memory of each rank beside the last step in the log, sampled while a run goes on."""

    def __init__(self, folder: Path):
        self.output = folder / "output.txt"
        self.ranks: list[int] = []
        self.samples: list[tuple[int, list[float]]] = []    # step, MiB of each rank

    def __call__(self, launcher: int) -> None:
        step = _last_step(self.output)
        if step is None:
            return
        self.ranks = self.ranks or [process for process in _descendants(launcher) if _is_lmp(process)]
        resident = [_resident(process) for process in self.ranks]
        if resident and all(resident):
            self.samples.append((step, resident))

    def floors(self, first: float, last: float) -> float:
        """MiB: the least that each rank held between two fractions of the samples after step 100, summed over ranks.
        Within a step tensors come and go by much more than a leak adds to each; a leak raises what is left between."""
        late = [resident for step, resident in self.samples if step > 100]
        part = late[int(first * len(late)):int(last * len(late))]
        assert len(part) > 20
        return sum(min(rank) for rank in zip(*part))


def _descendants(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], text=True, stdout=subprocess.PIPE, check=True).stdout
    parents = dict(tuple(map(int, line.split())) for line in listed.splitlines())
    found = [process]
    for ancestor in found:
        found += [child for child, parent in parents.items() if parent == ancestor]
    return found[1:]


def _is_lmp(process: int) -> bool:
    try:
        return "in.lammps" in Path(f"/proc/{process}/cmdline").read_text() and _resident(process) > 100
    except OSError:
        return False


def _resident(process: int) -> float:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    except (OSError, IndexError):
        return 0.0


def _last_step(output: Path) -> int | None:
    with output.open("rb") as lines:
        lines.seek(max(0, output.stat().st_size - 500))
        text = lines.read().decode(errors="replace")
    for line in reversed(text.splitlines()[-3:]):
        words = line.split()
        if len(words) == 3 and words[0].isdigit():
            return int(words[0])
    return None


def dynamics(case: Case, folder: Path, steps: int, temperature: float, timestep: float, memory=None,
             limit: float = LONG_LIMIT):
    folder.mkdir(parents=True, exist_ok=True)
    text = case.setup(folder) + f"""
velocity all create {temperature} 87287 loop geom mom yes
fix 1 all nve
timestep {timestep}
thermo_style custom step etotal cpu
thermo_modify norm no format float %.17g flush yes
thermo 1
run {steps}
"""
    return read_thermo(run(text, folder, ranks=2, limit=limit, watch=memory).output)[-1]


def drift(table, timestep: float, n_atoms: int) -> float:
    """eV/ps per atom. The first tenth, in which a lattice turns half its heat into potential energy, is left out."""
    start = len(table["Step"]) // 10
    time = table["Step"][start:] * timestep
    return np.polyfit(time - time.mean(), table["TotEng"][start:], 1)[0] / n_atoms


@pytest.fixture(scope="module")
def toy_run(toy3, tmp_path_factory):
    system, folder, timestep = rock_salt(3, amplitude=0.02), tmp_path_factory.mktemp("toy"), 0.001
    memory = Memory(folder)
    table = dynamics(Case(system, toy3), folder, 5000, 300.0, timestep, memory)
    return system, table, timestep, memory


@pytest.fixture(scope="module")
def sevennet_run(sevennet, tmp_path_factory):
    system, folder, timestep = rock_salt(2, amplitude=0.02), tmp_path_factory.mktemp("sevennet"), 0.001
    memory = Memory(folder)
    table = dynamics(Case(system, sevennet), folder, 300, 300.0, timestep, memory)
    return system, table, timestep, memory


RUNS = pytest.mark.parametrize("name, allowed", [("toy_run", tol.DRIFT_DOUBLE), ("sevennet_run", tol.DRIFT_SINGLE)])


@RUNS
def test_energy_is_conserved(name, allowed, request):
    system, table, timestep, _ = request.getfixturevalue(name)
    # A guard: total energy is printed finely enough, and atoms do move.
    assert np.ptp(table["TotEng"]) > 1e-7
    found = drift(table, timestep, len(system))
    print(f"{name}: drift {found:.2g} eV/ps per atom, allowed {allowed:g}")
    assert abs(found) < allowed


@RUNS
def test_resident_memory_is_flat(name, allowed, request):
    _, table, _, memory = request.getfixturevalue(name)
    early, late = memory.floors(0.0, 0.4), memory.floors(0.6, 1.0)
    print(f"{name}: {late:.0f} MiB resident on both ranks, grown by {late - early:.2f} MiB after step 100")
    assert early > 200
    assert late - early < tol.RESIDENT_GROWTH


@pytest.mark.whole
def test_resident_memory_is_flat_for_20000_steps(toy2, tmp_path):
    memory = Memory(tmp_path)
    dynamics(Case(rock_salt(1, amplitude=0.02), toy2), tmp_path, 20000, 300.0, 0.001, memory, limit=4 * LONG_LIMIT)
    early, late = memory.floors(0.0, 0.4), memory.floors(0.6, 1.0)
    print(f"{late:.0f} MiB resident on both ranks, grown by {late - early:.2f} MiB")
    assert early > 200
    assert late - early < tol.RESIDENT_GROWTH


@pytest.mark.parametrize("name", ["toy3", "sevennet"])
def test_step_time_settles(name, request, tmp_path):
    """The run is repeated bit for bit, and each step counts with its quickest time: a busy machine does not hit the
    same step every time, while a rebuild of kernels or a growing buffer does."""
    model = request.getfixturevalue(name)
    repeats, steps = (3, 300) if name == "toy3" else (2, 30)
    system = rock_salt(3 if name == "toy3" else 2, amplitude=0.02)
    tables = [dynamics(Case(system, model), tmp_path / str(k), steps, 900.0, 0.002) for k in range(repeats)]
    for table in tables[1:]:
        assert np.array_equal(table["TotEng"], tables[0]["TotEng"])
    quickest = np.min([np.diff(table["CPU"]) for table in tables], axis=0)
    late = quickest[10:]
    print(f"{name}: median step {1e3 * np.median(late):.1f} ms, slowest {late.max() / np.median(late):.2f} times that")
    assert late.max() < tol.STEP_TIME_RATIO * np.median(late), f"step {10 + late.argmax()}"
