"""Models of packages, each made once together with what the package itself gives for the systems of molecule_boxes."""

import subprocess
import sys
from pathlib import Path

import pytest
from model_cache import cache_folder, fingerprint
from models import Model
from molecule_boxes import DTYPES, Packaged, load_results

HERE = Path(__file__).parent
EXPORT_LIMIT = 300.0    # s; one of the packages compiles kernels when it is imported


@pytest.fixture(scope="session")
def packaged(tmp_path_factory):
    """packaged(script, *packages, arguments): what packages/script.py writes, now or in an earlier run of the tests, by
    dtype."""
    cache = cache_folder(tmp_path_factory.mktemp("packages"))

    def make(script: str, *packages: str, arguments: tuple[str, ...] = ()) -> dict[str, Packaged]:
        sources = [HERE / "packages" / f"{script}.py", HERE / "molecule_boxes.py", HERE.parent / "systems.py",
                   HERE.parent / "models.py"]
        folder = cache / fingerprint((script, *arguments), packages, sources)
        specs = {dtype: folder / dtype / "spec.json" for dtype in DTYPES}    # written last
        if not all(spec.exists() for spec in specs.values()):
            done = subprocess.run([sys.executable, str(sources[0]), str(folder), *arguments], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=EXPORT_LIMIT)
            assert done.returncode == 0, done.stdout
        # A package in float32 rounds positions before it takes their differences, and is further from its own float64
        # results than the model in LAMMPS is: those are what both are compared with.
        results = load_results(folder)
        return {dtype: Packaged(Model(spec, double=dtype == "float64"), results)
                for dtype, spec in specs.items()}

    return make
