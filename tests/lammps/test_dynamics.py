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
        early, late = memory.floors(0.0, 0.4), memory.floors(0.6, 1.0)
    print(f"{name}: {late:.0f} MiB resident on both ranks, grown by {late - early:.2f} MiB after step 100")
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
