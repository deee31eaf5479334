"""Models with operators of their own, from the small library that the unit tests build, and spec files that describe
these operators."""

import json
import os
from pathlib import Path

import pytest
import torch
from models import Model

CUTOFF = 5.0
LIBRARY = "tests/unit/libmlip_dd_test_ops.so"
# How each operator's rows are made and used over ranks: how its result enters the layer, and its adapter.
OPERATORS = {
    "mutual": ("0.4 * torch.ops.mlip_dd_test.mutual(x, w, edge_index)",
               {"arg_transforms": {"0": {"type": "gather_inputs"}},
                "output_transforms": {"0": {"type": "scatter_outputs"}}}),
    "moments": ("x * torch.ops.mlip_dd_test.moments(x)[0] + 0.1 * torch.ops.mlip_dd_test.moments(x)[1]",
                {"arg_transforms": {"0": {"type": "slice_owned"}},
                 "output_transforms": {"0": {"type": "all_reduce_sum"}, "1": {"type": "all_reduce_sum"}}}),
    "attend": ("0.1 * torch.ops.mlip_dd_test.attend(x)",
               {"arg_transforms": {"0": {"type": "gather_inputs_full"}},
                "output_transforms": {"0": {"type": "slice_outputs_owned"}}}),
}
SOURCE = """
def forward(self, types, edge_index, edge_vectors):
    squared = (edge_vectors * edge_vectors).sum(1)
    w = (1.0 - squared / {cutoff} ** 2).clamp(min=0.0) ** 3
    x = self.table[types] + torch.zeros([types.size(0), 3], dtype=torch.float64).index_add(
        0, edge_index[0], 0.2 * w.unsqueeze(1) * edge_vectors)
    for layer in range(2):
        x = x + torch.tanh({operator})
    return (x * x).sum(1)
"""


def operator_library() -> Path:
    """Beside the plugin in the build folder."""
    folders = [Path(folder).parent for folder in os.environ.get("LAMMPS_PLUGIN_PATH", "").split(":") if folder]
    folders.append(Path(os.environ.get("MLIP_DD_BUILD", Path(__file__).parents[2] / "build")))
    found = [folder / LIBRARY for folder in folders if (folder / LIBRARY).exists()]
    if not found:
        pytest.skip(f"{LIBRARY} was not built: configure with -DMLIP_DD_TESTS=ON")
    return found[0]


def operator_model(name: str, folder: Path, adapted: bool = True) -> Model:
    """A float64 model of two layers with the operator, and its spec; without the adapter where not `adapted`."""
    library = operator_library()
    torch.ops.load_library(str(library))
    expression, adapter = OPERATORS[name]
    module = type(name, (torch.nn.Module,), {})()    # scripted modules of one class share their methods
    table = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    module.register_buffer("table", table)
    scripted = torch.jit.script(module)
    scripted.define(SOURCE.format(cutoff=CUTOFF, operator=expression))
    folder.mkdir(parents=True, exist_ok=True)
    scripted.save(str(folder / "model.pt"))
    names = ["types", "edge_index", "edge_vectors"]
    core = {"policy": {"kind": "halo"}}
    if adapted:
        core["custom_ops"] = [{"op": f"mlip_dd_test::{name}", **adapter}]
    spec = folder / "spec.json"
    spec.write_text(json.dumps({
        "version": 2, "core": core,
        "model": {"potential": "torchscript", "file": "model.pt", "cutoff": CUTOFF, "layers": 2, "dtype": "float64",
                  "elements": ["Na", "Cl"], "libraries": [os.path.relpath(library, folder)],
                  "inputs": {key: key for key in names}, "outputs": {"node_energy": "node_energy"}}}, indent=2))
    return Model(spec, double=True)
