"""Shared libraries whose functions a run calls in place of LAMMPS's or MPI's: variables={"LD_PRELOAD": ...}."""

import shutil
import subprocess
from pathlib import Path

import pytest


def build_preload(source: str, folder: Path) -> Path:
    """Compiles `source`, C++ that may call what it stands for by dlsym(RTLD_NEXT, ...)."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler was found")
    (folder / "preload.cpp").write_text(source)
    library = folder / "preload.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, folder / "preload.cpp", "-ldl"],
                   check=True, timeout=60)
    return library
