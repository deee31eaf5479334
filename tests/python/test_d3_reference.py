"""If these fail, DFT-D3 runs on a table that was mixed up on its way, or its user is left without a way to get one."""

import importlib.util
import json

import pytest
from exported import run_command
from mlip_dd import d3_reference
from mlip_dd.errors import UserError

np = pytest.importorskip("numpy")


def small_table(path):
    """Elements 1 and 2 of a made-up method, in torch-dftd's arrays: two references and one."""
    c6ab = np.full((3, 3, 5, 5, 3), -1.0)
    coordination = {1: [0.9, 0.0], 2: [0.0]}
    for a in (1, 2):
        for b in (1, 2):
            for p, cn_a in enumerate(coordination[a]):
                for q, cn_b in enumerate(coordination[b]):
                    low, high = sorted(((a, p), (b, q)))
                    c6ab[a, b, p, q] = [100 * low[0] + 10 * high[0] + 2 * low[1] + high[1] + 1, cn_a, cn_b]
    np.savez(path, c6ab=c6ab, rcov=[0, 0.8, 1.1], r2r4=[0, 2.0, 1.5], r0ab=[[0, 0, 0], [0, 4.1, 3.2], [0, 3.2, 3.3]])
    return path


def test_values_land_where_the_potential_reads_them(tmp_path):
    output = tmp_path / "deep" / "reference.json"
    printed = run_command("d3-reference", "--table", small_table(tmp_path / "table.npz"), "-o", output)
    assert str(output) in printed and "2 elements" in printed
    contents = json.loads(output.read_text())
    assert contents["format"] == d3_reference.FORMAT and "table.npz" in contents["source"]
    assert contents["elements"] == [1, 2]
    assert contents["coordination"] == [[0.9, 0.0], [0.0]]
    assert contents["c6"][0][0] == [[111, 112], [112, 114]]
    assert contents["c6"][1][0] == [[121, 123]]    # rows: references of the second element
    assert contents["cutoff_radii"] == [[4.1], [3.2, 3.3]]
    assert contents["covalent_radii"] == [0.8, 1.1] and contents["r4r2"] == [2.0, 1.5]


def test_tables_with_coupled_references_are_refused(tmp_path):
    path = small_table(tmp_path / "table.npz")
    arrays = dict(np.load(path))
    arrays["c6ab"][1, 2, 0, 0, 1] = 0.8
    np.savez(path, **arrays)
    with pytest.raises(UserError, match="independent"):
        d3_reference.convert(path, "test")


def test_foreign_files_and_missing_packages_are_explained(tmp_path, monkeypatch):
    np.savez(tmp_path / "other.npz", something=[1.0])
    printed = run_command("d3-reference", "--table", tmp_path / "other.npz", "-o", tmp_path / "out.json", expect=1)
    assert "dftd3_params.npz" in printed and "Traceback" not in printed
    assert not (tmp_path / "out.json").exists()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install"):
        d3_reference.installed_table()
