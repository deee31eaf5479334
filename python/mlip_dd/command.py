"""The command `mlip-dd`: what is written in Python here, everything else in the compiled program."""

import argparse
import os
import subprocess
import sys
from typing import NoReturn

from mlip_dd import d3_reference, export, locations
from mlip_dd.errors import UserError

# Subcommands in Python. Any other goes to the compiled program (inspect, merge, presets, ...).
_COMMANDS = {"export": export, "d3-reference": d3_reference}


def _run_program(arguments: list[str]) -> NoReturn:
    program = locations.program()
    if not os.access(program, os.X_OK):
        raise UserError(f"'mlip-dd {arguments[0]}' is done by the compiled program, which this installation "
                        f"lacks ({program}). Install mlip-dd with `pip install .` from its source folder.")
    sys.stdout.flush()
    os.execv(program, ["mlip-dd", *arguments])


def _print_help(parser: argparse.ArgumentParser) -> None:
    parser.print_help()
    if os.access(locations.program(), os.X_OK):
        print("\nThe compiled program adds:\n", flush=True)
        subprocess.run([locations.program(), "--help"], check=False)


def _run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="mlip-dd", description="Machine-learned potentials on any number of LAMMPS's ranks.")
    subparsers = parser.add_subparsers(dest="command", metavar="command")
    for name, module in _COMMANDS.items():
        subparser = subparsers.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(subparser)
    if not arguments or arguments[0] in ("-h", "--help"):
        _print_help(parser)
    elif arguments[0] in _COMMANDS:
        parsed = parser.parse_args(arguments)
        _COMMANDS[arguments[0]].run(parsed)
    else:
        _run_program(arguments)


def main() -> None:
    try:
        _run(sys.argv[1:])
    except UserError as error:
        sys.exit(f"mlip-dd: error: {error}")
