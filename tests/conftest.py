"""`--whole`: also the cases marked `whole`, which cost much more time than they are likely to find faults."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="also the cases marked `whole`")


def pytest_configure(config):
    config.addinivalue_line("markers", "whole: left out unless --whole is given")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--whole"):
        return
    left_out = pytest.mark.skip(reason="only with --whole")
    for item in items:
        if "whole" in item.keywords:
            item.add_marker(left_out)
