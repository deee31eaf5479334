"""python so3lr.py FOLDER: exports the pretrained SO3LR, and saves what the package's calculator gives."""

import sys
from argparse import Namespace
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
torch.set_num_threads(1)

from ase import Atoms  # noqa: E402
from ase.stress import voigt_6_to_full_3x3_stress  # noqa: E402
from mlip_dd.export import so3lr, spec_file  # noqa: E402
from molecule_boxes import CHARGE, DTYPES, SMALL, SPIN, PackageResults, save_results  # noqa: E402
from so3krates_torch.calculator.so3 import SO3LRCalculator  # noqa: E402


def package_results(calculator, system) -> PackageResults:
    symbols = [system.elements[kind - 1] for kind in system.types]
    atoms = Atoms(symbols, system.positions, cell=system.cell, pbc=system.periodic)
    atoms.info.update(charge=CHARGE, total_spin=SPIN)
    calculator.compute_stress = all(system.periodic)
    calculator.calculate(atoms)
    found = calculator.results
    stress = voigt_6_to_full_3x3_stress(found["stress"]) if calculator.compute_stress else None
    return PackageResults(found["energy"], found["forces"], stress, found["partial_charges"])


def main() -> None:
    folder = Path(sys.argv[1])
    calculator = SO3LRCalculator(device="cpu", default_dtype="float64")
    save_results(folder, {name: package_results(calculator, system) for name, system in SMALL.items()})
    for dtype in DTYPES:
        exported = so3lr.run(Namespace(model="so3lr", long_cutoff=12.0, electrostatics=True, dtype=dtype, output=folder / dtype))
        exported.fields["parameters"] = {"total_charge": CHARGE, "total_spin": SPIN}
        spec_file.write_spec(exported, folder / dtype)


main()
