"""If these fail, `device cuda` gives other numbers than the CPU, GPU rows change on their way between ranks, or the
keyword `mpi` is ignored. What needs a GPU is skipped where there is none; tests/gpu.sh runs this file on a machine
that has one."""

import pytest
import torch
from evaluate import Batches, Case, assert_same, require_signal
from run import launch
from systems import rock_salt
from tolerances import ERROR_LIMIT

SYSTEM = rock_salt(3)
NEEDS_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device")
WAYS = {"exchange": "halo exchange", "host": "halo exchange mpi host", "padded": "halo padded", "wide": "halo wide"}


@pytest.fixture(scope="module")
def on_cpu(toy3, toy_single, tmp_path_factory):
    cases = [Case(SYSTEM, toy3, "double", options="device cpu"), Case(SYSTEM, toy_single, "single", options="device cpu"),
             Case(SYSTEM, toy3, "host", options="device cpu mpi host")]
    return Batches(cases, 1, tmp_path_factory.mktemp("cpu"))


@pytest.fixture(scope="module")
def on_gpu(toy3, toy_single, tmp_path_factory):
    """on_gpu(ranks)[way]"""
    known = {}

    def make(ranks: int) -> Batches:
        if ranks not in known:
            cases = [Case(SYSTEM, toy3, way, options=f"device cuda {options}") for way, options in WAYS.items()]
            cases.append(Case(SYSTEM, toy_single, "single", options="device cuda"))
            known[ranks] = Batches(cases, ranks, tmp_path_factory.mktemp(f"gpu{ranks}"))
        return known[ranks]

    return make


def test_host_messages_of_cpu_rows_change_nothing(on_cpu):
    require_signal(on_cpu["double"])
    assert_same(on_cpu["host"], on_cpu["double"], double=True)
    assert "messages:" not in on_cpu["host"].log    # there is no choice to tell of


@pytest.mark.parametrize("options, words", [
    ("device cpu mpi device", ["mpi device", "a model on the CPU", "mpi auto"]),
    ("mpi gpu", ["keyword mpi", "gpu", "mpi auto|host|device"])], ids=["device", "gpu"])
def test_messages_that_cannot_be_had_are_refused(options, words, toy3, tmp_path):
    text = Case(SYSTEM, toy3, options=options).script(tmp_path)
    outcome = launch(text, tmp_path, 2, limit=ERROR_LIMIT)
    assert outcome.status != 0 and len(outcome.error_lines) == 1, outcome.output
    assert not [word for word in words if word not in outcome.error_lines[0]], outcome.error_lines[0]


@NEEDS_GPU
@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("way", WAYS)
def test_equal_to_the_cpu(way, ranks, on_cpu, on_gpu):
    require_signal(on_cpu["double"])
    assert_same(on_gpu(ranks)[way], on_cpu["double"], double=True)


@NEEDS_GPU
@pytest.mark.parametrize("ranks", [1, 2])
def test_single_precision_is_equal_to_the_cpu(ranks, on_cpu, on_gpu):
    assert_same(on_gpu(ranks)["single"], on_cpu["single"], double=False)


@NEEDS_GPU
def test_the_log_says_where_messages_lie_and_why(on_gpu):
    log = on_gpu(2)["exchange"].log
    line = next(line for line in log.splitlines() if "messages: rows leave from" in line)
    assert "MPI" in line, line
    assert "rows leave from host memory; asked for" in on_gpu(2)["host"].log


@NEEDS_GPU
def test_device_messages_are_made_or_refused(toy3, on_gpu, on_cpu, tmp_path):
    case = Case(SYSTEM, toy3, "direct", options="device cuda mpi device")
    outcome = launch(case.script(tmp_path), tmp_path, 2)
    if "leave from GPU memory" in on_gpu(2)["exchange"].log:
        assert outcome.status == 0 and "leave from GPU memory" in outcome.output, outcome.output
    else:
        assert outcome.status != 0 and "mpi host" in outcome.error_lines[0], outcome.output
