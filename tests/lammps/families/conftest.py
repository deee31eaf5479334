"""Models of packages, each made once together with what the package itself gives for the systems of molecule_boxes or
crystal_systems."""

import subprocess
import sys
from pathlib import Path

import crystal_systems
import molecule_boxes
import pytest
from model_cache import cache_folder, fingerprint
from models import Model

HERE = Path(__file__).parent
EXPORT_LIMIT = 300.0    # s; some packages take long to import, or compile kernels then
CRYSTAL_SCRIPTS = {"mace": ("mace",), "nequip": ("nequip", "nequip"), "allegro": ("nequip", "allegro")}


def export(script: str, *arguments: str) -> None:
    done = subprocess.run([sys.executable, str(HERE / "packages" / f"{script}.py"), *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=EXPORT_LIMIT)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="session")
def packaged(tmp_path_factory):
    """packaged(script, *packages, arguments): what packages/script.py writes, now or in an earlier run of the tests, by
    dtype."""
    cache = cache_folder(tmp_path_factory.mktemp("packages"))

    def make(script: str, *packages: str, arguments: tuple[str, ...] = ()) -> dict[str, molecule_boxes.Packaged]:
        sources = [HERE / "packages" / f"{script}.py", HERE / "molecule_boxes.py", HERE.parent / "systems.py",
                   HERE.parent / "models.py"]
        folder = cache / fingerprint((script, *arguments), packages, sources)
        specs = {dtype: folder / dtype / "spec.json" for dtype in molecule_boxes.DTYPES}    # written last
        if not all(spec.exists() for spec in specs.values()):
            export(script, str(folder), *arguments)
        # A package in float32 rounds positions before it takes their differences, and is further from its own float64
        # results than the model in LAMMPS is: those are what both are compared with.
        results = molecule_boxes.load_results(folder)
        return {dtype: molecule_boxes.Packaged(Model(spec, double=dtype == "float64"), results)
                for dtype, spec in specs.items()}

    return make


@pytest.fixture(scope="session")
def crystal_package(tmp_path_factory):
    """crystal_package(family, dtype): the family's models in every form."""
    cache = cache_folder(tmp_path_factory.mktemp("crystals"))

    def make(family: str, dtype: str = "float64") -> crystal_systems.Packaged:
        script, *arguments = CRYSTAL_SCRIPTS[family]
        sources = [HERE / "packages" / f"{script}.py", HERE / "crystal_systems.py", HERE.parent / "systems.py"]
        folder = cache / fingerprint((family, dtype), ("mace-torch", "nequip", "nequip-allegro", "e3nn"), sources)
        specs = {form: folder / form / "spec.json" for form in crystal_systems.FORMS[family]}    # written last
        if not all(spec.exists() for spec in specs.values()):
            folder.mkdir(parents=True, exist_ok=True)
            export(script, str(folder), dtype, *arguments)
        return crystal_systems.Packaged({form: Model(spec, double=dtype == "float64") for form, spec in specs.items()},
                                        crystal_systems.load_results(folder))

    return make
