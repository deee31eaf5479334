"""`mlip-dd export`: writes a model file and the spec file that goes with it.

Each family is one module in this folder with HELP, `add_arguments(parser)` and
`run(arguments) -> ExportedModel`; a line in FAMILIES plugs it in. Heavy packages are imported inside
`run`, so that `--help` is quick and a family's packages are needed for that family alone.
"""

import argparse
from pathlib import Path

from mlip_dd.export import aimnet2, ani, chgnet, mace, nequip, sevennet, so3lr, toy
from mlip_dd.export.citations import CITATIONS
from mlip_dd.export.spec_file import write_spec

HELP = "export a model to DIR/spec.json and the model file beside it"
FAMILIES = {"aimnet2": aimnet2, "ani": ani, "chgnet": chgnet, "mace": mace, "nequip": nequip, "sevennet": sevennet,
            "so3lr": so3lr, "toy": toy}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    subparsers = parser.add_subparsers(dest="family", metavar="family", required=True)
    for name, module in FAMILIES.items():
        subparser = subparsers.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(subparser)
        subparser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True,
                               help="folder to write to; made if it does not exist")


def run(arguments: argparse.Namespace) -> None:
    model = FAMILIES[arguments.family].run(arguments)
    if citations := CITATIONS.get(model.fields["family"]):
        model.fields["citations"] = citations
    spec = write_spec(model, arguments.output)
    print(f"Wrote {spec} and {arguments.output / model.fields['file']}: {model.summary}.")
