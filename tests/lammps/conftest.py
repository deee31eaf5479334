"""Models for the tests, exported once and kept; folders for their runs."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
import run
import torch
from mlip_dd import d3_reference as tables
from model_cache import cache_folder, fingerprint
from models import Model
from program import KokkosLammps

torch.set_num_threads(1)    # lmp's ranks need the other cores


def pytest_configure(config):
    # torch recommends its newer format; TorchScript files are what is tested here.
    config.addinivalue_line("filterwarnings", "ignore:.*torch.jit:DeprecationWarning")
    threads = config.getoption("--all-kokkos")
    if threads:
        run.usual = lambda: KokkosLammps(Path(config.getoption("--kokkos")).resolve()).kk(threads)


@pytest.fixture(scope="session")
def export(tmp_path_factory):
    """export(*arguments): runs `python -m mlip_dd export ...`, or finds what an earlier run of it left."""
    cache = cache_folder(tmp_path_factory.mktemp("models"))

    def export_model(*arguments: str) -> Path:
        folder = cache / fingerprint(arguments, ["sevenn"])
        spec = folder / "spec.json"    # written last by the exporter
        if not spec.exists():
            done = subprocess.run([sys.executable, "-m", "mlip_dd", "export", *arguments, "-o", str(folder)],
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            assert done.returncode == 0, done.stdout
        return spec

    return export_model


@pytest.fixture(scope="session")
def kokkos(request) -> KokkosLammps:
    prefix = request.config.getoption("--kokkos")
    if not prefix:
        pytest.skip("no LAMMPS with KOKKOS was given: tests/run.sh --kokkos PREFIX (docs/kokkos.md)")
    return KokkosLammps(Path(prefix).resolve())


@pytest.fixture(scope="session")
def toy2(export) -> Model:
    return Model(export("toy", "--layers", "2"), double=True)


@pytest.fixture(scope="session")
def toy3(export) -> Model:
    return Model(export("toy", "--layers", "3"), double=True)


@pytest.fixture(scope="session", params=["toy2", "toy3"])
def toy(request) -> Model:
    """Each of the float64 models."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def toy_single(export) -> Model:
    return Model(export("toy", "--layers", "3", "--dtype", "float32"), double=False)


@pytest.fixture(scope="session")
def sevennet(export) -> Model:
    if importlib.util.find_spec("sevenn") is None:
        pytest.skip("the package sevenn, which ships SevenNet-0, is not installed")
    return Model(export("sevennet", "7net-0"), double=False)


@pytest.fixture(scope="session")
def reference(tmp_path_factory) -> Path:
    """The file of reference values that dftd3 takes."""
    if importlib.util.find_spec("torch_dftd") is None:
        pytest.skip("the package torch-dftd, which ships the reference values, is not installed")
    file = tmp_path_factory.mktemp("d3") / "reference.json"
    table, source = tables.installed_table()
    file.write_text(json.dumps(tables.convert(table, source)))
    return file
