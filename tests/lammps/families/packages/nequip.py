"""python nequip.py FOLDER DTYPE FAMILY: exports an untrained NequIP or Allegro in both forms, and saves what the
package's model gives where it is not exported."""

import sys
import warnings
from pathlib import Path

# This folder holds files named like the packages.
sys.path[:1] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
warnings.simplefilter("ignore")

import torch  # noqa: E402
from crystal_systems import EVERY, PackageResults, atoms, save_results  # noqa: E402
from nequip.data import from_ase  # noqa: E402
from nequip.data.transforms import ChemicalSpeciesToAtomTypeMapper, NeighborListTransform  # noqa: E402
from nequip.utils.global_state import set_global_state  # noqa: E402

from mlip_dd.export import nequip, spec_file  # noqa: E402

folder, dtype, family = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.set_num_threads(1)
set_global_state(allow_tf32=False)
CUTOFF, TYPES = 5.0, ["Na", "Cl"]
COMMON = {"seed": 7, "model_dtype": dtype, "r_max": CUTOFF, "type_names": TYPES, "avg_num_neighbors": 18.0,
          "per_type_energy_scales": 2.0, "per_type_energy_shifts": {"Na": -1.0, "Cl": -2.0}}
if family == "nequip":
    from nequip.model import NequIPGNNModel
    model = NequIPGNNModel(num_layers=3, l_max=1, parity=True, num_features=[8, 4], radial_mlp_width=8, **COMMON)
else:
    from allegro.model import AllegroModel
    model = AllegroModel(
        l_max=1, parity=True, num_layers=2, num_scalar_features=8, num_tensor_features=4, radial_chemical_embed_dim=8,
        radial_chemical_embed={"_target_": "allegro.nn.TwoBodyBesselScalarEmbed", "num_bessels": 6},
        allegro_mlp_hidden_layers_width=8, readout_mlp_hidden_layers_width=8, scalar_embed_mlp_hidden_layers_width=8,
        **COMMON)
model.eval()
results = {}
for name, system in EVERY.items():
    data = NeighborListTransform(r_max=CUTOFF)(ChemicalSpeciesToAtomTypeMapper(TYPES)(from_ase(atoms(system))))
    out = model(data)
    stress = out["stress"][0].detach().numpy() if all(system.periodic) else None
    results[name] = PackageResults(float(out["total_energy"]), out["forces"].detach().numpy(), stress)
save_results(folder, results)
for form in nequip.FORMS:
    spec_file.write_spec(nequip.export_model(model, folder / form, family, form), folder / form)
