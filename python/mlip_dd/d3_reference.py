"""`mlip-dd d3-reference`: makes the file of DFT-D3 reference values from a package that ships them."""

import argparse
import importlib.metadata
import importlib.util
import json
import os
from pathlib import Path

from mlip_dd.errors import UserError, missing_package

HELP = "make the file of DFT-D3 reference values from the package torch-dftd"

FORMAT = "mlip-dd dftd3 reference 1"    # read by the potential dftd3
_PACKAGE = "torch-dftd"
_TABLE = Path("nn", "params", "dftd3_params.npz")


def usual_file() -> Path:
    """Where the potential looks when its spec names no file."""
    named = os.environ.get("MLIP_DD_D3_REFERENCE")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "mlip-dd" / "dftd3-reference.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=f"file to write (default: {usual_file()})")
    parser.add_argument("--table", type=Path, metavar="FILE",
                        help="dftd3_params.npz of torch-dftd (default: that of the installed package)")


def installed_table() -> tuple[Path, str]:
    # The package itself is not imported: it would load torch and ASE for a file of numbers.
    found = importlib.util.find_spec("torch_dftd")
    if found is None or not found.submodule_search_locations:
        raise UserError(f"the DFT-D3 reference values come with the Python package {_PACKAGE}, which is not installed. "
                        f"Run: pip install --no-deps {_PACKAGE}==0.5.3")
    return Path(found.submodule_search_locations[0], _TABLE), f"{_PACKAGE} {importlib.metadata.version(_PACKAGE)}"


def convert(table: Path, source: str) -> dict:
    """The contents of a reference file, from torch-dftd's arrays indexed by atomic number. Atomic units.

    c6ab holds C6 and the coordination numbers of both references, -1 or 0 where an element has fewer.
    """
    try:
        import numpy as np
    except ImportError as error:
        raise missing_package(error, "the table of torch-dftd", {}) from error
    try:
        arrays = np.load(table)
        c6, coordination = arrays["c6ab"][..., 0], arrays["c6ab"][..., 1]
        radii, r4r2, cutoff_radii = arrays["rcov"], arrays["r2r4"], arrays["r0ab"]
    except (OSError, KeyError, ValueError) as error:
        raise UserError(f"{table} is not the table of torch-dftd ({error}). Give its dftd3_params.npz") from error

    own = [c6[z, z].diagonal() > 0 for z in range(len(c6))]
    elements = [z for z in range(1, len(c6)) if own[z].any()]
    count = {z: int(own[z].sum()) for z in elements}
    references = {z: coordination[z, z, :count[z], 0] for z in elements}
    for a in elements:
        for b in elements:
            block = slice(count[a]), slice(count[b])
            # A pair of references must be made of one of each atom, whatever the other is.
            if not ((c6[a, b][block] > 0).all() and np.array_equal(c6[a, b], c6[b, a].T)
                    and (coordination[a, b][block] == references[a][:, None]).all()):
                raise UserError(f"{table}: the references of elements {a} and {b} are not independent of each other. "
                                "Is this the table of another method?")
    return {
        "format": FORMAT,
        "source": f"Grimme, Antony, Ehrlich, Krieg, J. Chem. Phys. 132, 154104 (2010), from {source}",
        "units": "Bohr, Hartree; c6 and cutoff_radii: lower triangles by elements; c6: references of the first in rows",
        "elements": elements,
        "covalent_radii": [float(radii[z]) for z in elements],
        "r4r2": [float(r4r2[z]) for z in elements],
        "coordination": [references[z].tolist() for z in elements],
        "c6": [[c6[a, b][:count[a], :count[b]].tolist() for b in elements[:k + 1]] for k, a in enumerate(elements)],
        "cutoff_radii": [[float(cutoff_radii[a, b]) for b in elements[:k + 1]] for k, a in enumerate(elements)],
    }


def run(arguments: argparse.Namespace) -> None:
    table, source = (arguments.table, arguments.table.name) if arguments.table else installed_table()
    contents = convert(table, source)
    output = arguments.output or usual_file()
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: runs may be reading the file that is there.
        unfinished = output.with_name(output.name + f".{os.getpid()}")
        unfinished.write_text(json.dumps(contents, separators=(",", ":")) + "\n")
        unfinished.replace(output)
    except OSError as error:
        raise UserError(f"cannot write {output} ({error.strerror}). Name another file with -o") from error
    print(f"{output}: reference values of {len(contents['elements'])} elements from {source}")
