"""python aimnet2.py FOLDER [open_shell]: exports an untrained AIMNet2, and saves what the package's own model gives.

The package takes long to import, so that both are done here, in one process.
"""

import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import torch

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
torch.set_num_threads(1)
# The package casts its inputs to what is torch's default when it is imported.
DTYPE = torch.float64
torch.set_default_dtype(DTYPE)

from mlip_dd.export import aimnet2, spec_file  # noqa: E402
from models import pairs_within  # noqa: E402
from molecule_boxes import CHARGE, DTYPES, NUMBERS, SMALL, SPIN, PackageResults, save_results  # noqa: E402

SEED = 3


def package_results(model, system) -> PackageResults:
    """By the package's matrix of neighbours, whose last row and free places hold an atom that is none."""
    receivers, senders, vectors = pairs_within(system, 5.0)
    n = len(system)
    width = np.bincount(receivers, minlength=n).max()
    matrix, filled = np.full((n + 1, width), n), np.zeros(n, int)
    # Shifts in the package are whole numbers of box vectors.
    shifts = np.zeros((n + 1, width, 3))
    whole = (vectors - system.positions[senders] + system.positions[receivers]) @ np.linalg.inv(system.cell)
    assert np.abs(whole - np.round(whole)).max() < 1e-9
    for i, j, shift in zip(receivers, senders, np.round(whole)):
        matrix[i, filled[i]], shifts[i, filled[i]] = j, shift
        filled[i] += 1
    strain = torch.zeros(3, 3, dtype=DTYPE, requires_grad=True)
    bend = torch.eye(3, dtype=DTYPE) + 0.5 * (strain + strain.T)
    positions = torch.tensor(np.vstack([system.positions, np.zeros(3)]), dtype=DTYPE).requires_grad_(True)
    numbers = [NUMBERS[system.elements[kind - 1]] for kind in system.types]
    out = model({
        "coord": positions @ bend, "cell": torch.tensor(system.cell, dtype=DTYPE) @ bend,
        "numbers": torch.tensor(numbers + [0]), "charge": torch.tensor([CHARGE], dtype=DTYPE), "mult": torch.tensor([2.0 * SPIN + 1.0], dtype=DTYPE),
        "mol_idx": torch.zeros(n + 1, dtype=torch.long), "nbmat": torch.tensor(matrix, dtype=torch.int32),
        "shifts": torch.tensor(shifts, dtype=DTYPE)})
    gradient, strained = torch.autograd.grad(out["energy"].sum(), [positions, strain])
    return PackageResults(float(out["energy"].sum()), -gradient[:n].numpy(), strained.numpy() / system.volume,
                          out["charges"][:n].detach().numpy(),
                          out["spin_charges"][:n].detach().numpy() if "spin_charges" in out else None)


def main() -> None:
    folder = Path(sys.argv[1])
    open_shell = sys.argv[2:] == ["open_shell"]
    model = aimnet2.untrained(SEED, open_shell).to(DTYPE)
    save_results(folder, {name: package_results(model, system) for name, system in SMALL.items()})
    for dtype in DTYPES:
        exported = aimnet2.run(Namespace(model=None, untrained=SEED, open_shell=open_shell, dtype=dtype, output=folder / dtype))
        exported.fields["parameters"] = {"total_charge": CHARGE} | ({"total_spin": SPIN} if open_shell else {})
        spec_file.write_spec(exported, folder / dtype)


main()
