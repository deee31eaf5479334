"""Fixtures for the exporters' tests."""

import functools

import pytest
from exported import SpecModel, run_command


def pytest_configure(config):
    # torch recommends its newer format; TorchScript files are what is tested here.
    config.addinivalue_line("filterwarnings", "ignore:.*torch.jit:DeprecationWarning")


@pytest.fixture(scope="session")
def export_toy(tmp_path_factory):
    """A function: command-line options of `export toy` -> the exported model, made once for the same options."""
    @functools.cache
    def export(*options) -> SpecModel:
        folder = tmp_path_factory.mktemp("toy")
        run_command("export", "toy", *options, "-o", folder)
        return SpecModel(folder / "spec.json")
    return export
