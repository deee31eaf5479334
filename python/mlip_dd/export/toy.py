"""A small seeded message-passing model of our own, for tests and for trying things out."""

import argparse

from mlip_dd.errors import UserError, missing_package
from mlip_dd.export.spec_file import ExportedModel, prepare_folder

HELP = "a small untrained message-passing model, the same for the same seed"


def _positive(kind):
    def parse(text: str):
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not positive and finite")
        return value
    parse.__name__ = f"positive {kind.__name__}"  # argparse shows it when the text is no number
    return parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--layers", type=_positive(int), default=3, help="rounds of message passing (3)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the weights (1)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float64", help="(float64)")
    parser.add_argument("--cutoff", type=_positive(float), default=5.0, help="in Angstrom (5.0)")
    parser.add_argument("--elements", default="Na,Cl", help="symbols in the order of the types, with commas (Na,Cl)")
    parser.add_argument("--channels", type=_positive(int), default=8, help="width of the features (8)")


def run(arguments: argparse.Namespace) -> ExportedModel:
    elements = [symbol.strip() for symbol in arguments.elements.split(",")]
    if "" in elements or len(set(elements)) != len(elements):
        raise UserError(f"--elements {arguments.elements!r} has an empty or a repeated symbol. "
                        "Give each symbol once, as in Na,Cl.")
    try:
        from mlip_dd.export import toy_model
    except ImportError as error:
        raise missing_package(error, "Exporting the toy model", {"torch": "torch==2.11.0"}) from error
    file = prepare_folder(arguments.output) / "toy.pt"
    toy_model.save(file, toy_model.Size(len(elements), arguments.layers, arguments.channels, arguments.cutoff),
                   seed=arguments.seed, dtype=arguments.dtype)
    return ExportedModel(
        spec="SPEC_MPNN_HALO",
        fields={"potential": "torchscript", "family": "generic", "file": file.name, "cutoff": arguments.cutoff,
                "layers": arguments.layers, "elements": elements, "units": "metal", "dtype": arguments.dtype,
                "inputs": {name: name for name in ("types", "edge_index", "edge_vectors")},
                "outputs": {"node_energy": "node_energy"}},
        summary=f"toy model, seed {arguments.seed}, {len(elements)} elements, cutoff {arguments.cutoff:g} A, "
                f"{arguments.layers} layers, {arguments.dtype}")
