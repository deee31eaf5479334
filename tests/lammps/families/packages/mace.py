"""python mace.py FOLDER DTYPE: exports an untrained MACE in both forms, and saves what its own calculator gives."""

import sys
import warnings
from pathlib import Path

# This folder holds files named like the packages.
sys.path[:1] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from crystal_systems import EVERY, PackageResults, atoms, save_results  # noqa: E402
from e3nn import o3  # noqa: E402
from mace import modules  # noqa: E402
from mace.calculators import MACECalculator  # noqa: E402

from mlip_dd.export import mace, spec_file  # noqa: E402

folder, dtype = Path(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
torch.set_default_dtype(getattr(torch, dtype))
torch.manual_seed(7)
np.random.seed(7)
# Scaled so that both layers, and their angles, are heard in the forces.
model = modules.ScaleShiftMACE(
    r_max=5.0, num_bessel=6, num_polynomial_cutoff=5, max_ell=2,
    interaction_cls_first=modules.interaction_classes["RealAgnosticInteractionBlock"],
    interaction_cls=modules.interaction_classes["RealAgnosticResidualInteractionBlock"], num_interactions=2,
    num_elements=2, hidden_irreps=o3.Irreps("8x0e+8x1o"), MLP_irreps=o3.Irreps("8x0e"),
    atomic_energies=np.array([-1.0, -2.0]), avg_num_neighbors=18.0, atomic_numbers=[11, 17], correlation=2,
    gate=torch.nn.functional.silu, pair_repulsion=True, distance_transform="Agnesi", atomic_inter_scale=20.0,
    atomic_inter_shift=0.1)
calculator = MACECalculator(models=[model], device="cpu", default_dtype=dtype)
results = {}
for name, system in EVERY.items():
    copy = atoms(system)
    copy.calc = calculator
    stress = copy.get_stress(voigt=False) if all(system.periodic) else None
    results[name] = PackageResults(copy.get_potential_energy(), copy.get_forces(), stress)
save_results(folder, results)
for form in mace.FORMS:
    spec_file.write_spec(mace.export_model(model, folder / form, "mace", form), folder / form)
