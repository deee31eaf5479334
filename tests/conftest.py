"""`--whole`: also the cases marked `whole`, which cost much more time than they are likely to find faults.
`--kokkos PREFIX`: also the tests of the Kokkos variant, by the LAMMPS with KOKKOS in PREFIX.
`--all-kokkos T`: every script of every test runs there with T threads on each rank, with the Kokkos variants."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="also the cases marked `whole`")
    parser.addoption("--kokkos", metavar="PREFIX", help="a LAMMPS with KOKKOS, for the tests of the Kokkos variant")
    parser.addoption("--all-kokkos", metavar="T", type=int, help="run every script there with T threads on each rank")


def pytest_configure(config):
    config.addinivalue_line("markers", "whole: left out unless --whole is given")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--whole"):
        return
    left_out = pytest.mark.skip(reason="only with --whole")
    for item in items:
        if "whole" in item.keywords:
            item.add_marker(left_out)
