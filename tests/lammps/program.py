"""Which `lmp` runs the scripts, and how: the environment's own, or a LAMMPS with KOKKOS under which they use the
Kokkos variants of all styles that have one."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def found_program(name: str) -> str:
    beside = Path(sys.prefix, "bin", name)
    found = str(beside) if beside.exists() else shutil.which(name)
    assert found, f"{name} is neither in {beside.parent} nor on PATH"
    return found


@dataclass(frozen=True)
class Program:
    lmp: str
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    def command(self, ranks: int) -> list[str]:
        return [found_program("mpirun"), "-np", str(ranks), self.lmp, *self.arguments]

    @cached_property
    def help(self) -> str:
        """What it says of its packages and styles."""
        return subprocess.run([self.lmp, "-h"], env={**os.environ, **self.variables}, text=True,
                              stdout=subprocess.PIPE, check=True).stdout

    def has_style(self, style: str) -> bool:
        return style in self.help.split()


def own() -> Program:
    return Program(found_program("lmp"))


@dataclass(frozen=True)
class KokkosLammps:
    """A LAMMPS with KOKKOS, and the plugin built for it (CMake's MLIP_DD_KOKKOS_LAMMPS)."""

    prefix: Path

    @cached_property
    def precision(self) -> str:
        """Of its Kokkos arrays: double; mixed, with positions in float32; or single, with forces too."""
        return re.search(r"KOKKOS package precision: (\w+)", self.plain().help)[1]

    def _variables(self) -> dict[str, str]:
        plugin = Path(os.environ.get("MLIP_DD_BUILD", ROOT / "build"), "lammps-plugin", "kokkos")
        assert (plugin / "mlipddplugin.so").exists(), \
            f"no plugin for a LAMMPS with KOKKOS in {plugin}: configure with -D MLIP_DD_KOKKOS_LAMMPS={self.prefix}"
        # The environment's MPI.
        libraries = [str(Path(sys.prefix, "lib")), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return {"LAMMPS_PLUGIN_PATH": str(plugin), "LD_LIBRARY_PATH": ":".join(libraries)}

    def plain(self) -> Program:
        """With the plain styles."""
        return Program(str(self.prefix / "bin" / "lmp"), (), self._variables())

    def kk(self, threads: int = 1, package: str = "") -> Program:
        """With the Kokkos variants; `package` is what the command `package kokkos` is given."""
        more = ("-pk", "kokkos", *package.split()) if package else ()
        # Threads that spin while they wait would keep those of other ranks from few cores.
        waiting = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", "OMP_PROC_BIND": "false"}
        return Program(str(self.prefix / "bin" / "lmp"), ("-k", "on", "t", str(threads), "-sf", "kk", *more),
                       {**self._variables(), **waiting})
