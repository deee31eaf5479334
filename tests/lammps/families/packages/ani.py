"""python ani.py FOLDER: exports ANI-1x, and saves what the package's ensemble gives."""

import sys
from argparse import Namespace
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
torch.set_num_threads(1)

from ase.units import Hartree  # noqa: E402
from mlip_dd.export import ani, spec_file  # noqa: E402
from mlip_dd.export.ani_model import HARTREE  # noqa: E402
from molecule_boxes import DTYPES, SMALL, PackageResults, save_results  # noqa: E402

assert abs(Hartree - HARTREE) < 1e-6 * HARTREE    # ASE has the constants of 2014


def package_results(model, system) -> PackageResults:
    dtype = torch.float64
    strain = torch.zeros(3, 3, dtype=dtype, requires_grad=True)
    bend = torch.eye(3, dtype=dtype) + 0.5 * (strain + strain.T)
    positions = torch.tensor(system.positions, dtype=dtype).requires_grad_(True)
    periodic = all(system.periodic)
    box = {"cell": torch.tensor(system.cell, dtype=dtype) @ bend, "pbc": torch.tensor([True] * 3)} if periodic else {}
    energy = HARTREE * model((torch.tensor(system.types - 1)[None], (positions @ bend)[None]), **box).energies.sum()
    gradient, strained = torch.autograd.grad(energy, [positions, strain])
    return PackageResults(float(energy.detach()), -gradient.numpy(), strained.numpy() / system.volume if periodic else None,
                          None)


def main() -> None:
    folder = Path(sys.argv[1])
    model = ani.ensemble("ani1x", "float64")
    save_results(folder, {name: package_results(model, system) for name, system in SMALL.items()})
    for dtype in DTYPES:
        exported = ani.run(Namespace(model="ani1x", dtype=dtype, output=folder / dtype))
        spec_file.write_spec(exported, folder / dtype)


main()
