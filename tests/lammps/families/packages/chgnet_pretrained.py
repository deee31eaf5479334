"""python chgnet_pretrained.py FOLDER: exports the pretrained CHGNet, and saves what the package's model gives."""

import sys
from argparse import Namespace
from pathlib import Path

import chgnet.graph.converter
import chgnet.model.model
import torch
from pymatgen.core import Lattice, Structure

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
torch.set_num_threads(1)
# In what the package writes its inputs.
chgnet.graph.converter.TORCH_DTYPE = chgnet.model.model.TORCH_DTYPE = torch.float64

from family_checks import CRYSTALS  # noqa: E402
from mlip_dd.export import chgnet as exporter  # noqa: E402
from mlip_dd.export import spec_file  # noqa: E402
from molecule_boxes import DTYPES, PackageResults, save_results  # noqa: E402


def package_results(model, references, system) -> PackageResults:
    symbols = [system.elements[kind - 1] for kind in system.types]
    structure = Structure(Lattice(system.cell), symbols, system.positions, coords_are_cartesian=True)
    found = model.predict_structure(structure, task="efs")
    # Energies of free atoms are added here, as the package does in single precision alone.
    free = sum(float(references[site.specie.Z - 1]) for site in structure)
    return PackageResults(float(found["e"]) * len(system) + free, found["f"], found["s"] / 160.21766208, None)


def main() -> None:
    folder = Path(sys.argv[1])
    model = exporter.pretrained("0.3.0", "float64")
    references = model.composition_model.fc.weight.detach().view(-1)
    model.composition_model = None
    save_results(folder, {name: package_results(model, references, system) for name, system in CRYSTALS.items()})
    for dtype in DTYPES:
        exported = exporter.run(Namespace(model="0.3.0", places=exporter.PLACES, dtype=dtype, output=folder / dtype))
        spec_file.write_spec(exported, folder / dtype)


main()
