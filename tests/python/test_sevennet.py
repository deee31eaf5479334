"""If these fail, the exported SevenNet file or what its spec says of it is not the model that its authors
published: wrong element order, cutoff, data set, or weights."""

import subprocess
import sys

import pytest
from exported import SpecModel, rock_salt, run_command

sevenn = pytest.importorskip("sevenn")

FORCE_TOLERANCE = 1e-5      # eV/A; float32 sums in another order give about 3e-7
ENERGY_TOLERANCE = 1e-6     # relative; float32
STRESS_TOLERANCE = 1e-6     # eV/A^3
SIGNAL = 0.05               # eV/A; forces that small would hide a fault

# name, --modal, layers
MODELS = [("7net-0", None, 5), ("7net-l3i5", None, 5), ("7net-mf-0", "PBE", 5), ("7net-mf-0", "R2SCAN", 5)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, modal, layers", MODELS)
def test_exported_file_equals_the_authors_calculator(tmp_path, name, modal, layers):
    from sevenn.calculator import SevenNetCalculator
    options = ["--modal", modal] if modal else []
    run_command("export", "sevennet", name, *options, "-o", tmp_path)
    model = SpecModel(tmp_path / "spec.json")
    assert (model.fields["layers"], model.fields["cutoff"], model.fields["dtype"]) == (layers, 5.0, "float32")
    assert len(model.fields["elements"]) == 89

    # Small: the cutoff reaches over the cell, so images and many neighbours come for little time.
    atoms = rock_salt(repeat=1, rattle=0.1)
    ours = model(atoms)
    atoms.calc = SevenNetCalculator(name, modal=modal, device="cpu")
    assert abs(ours.forces).max() > SIGNAL
    assert abs(ours.forces - atoms.get_forces()).max() < FORCE_TOLERANCE
    assert ours.energy == pytest.approx(atoms.get_potential_energy(), rel=ENERGY_TOLERANCE)
    assert abs(ours.stress - atoms.get_stress(voigt=False)).max() < STRESS_TOLERANCE


@pytest.mark.filterwarnings("ignore")
def test_checkpoint_file_is_exported_under_its_own_name(tmp_path):
    from sevenn.util import pretrained_name_to_path
    run_command("export", "sevennet", pretrained_name_to_path("7net-0"), "-o", tmp_path)
    assert SpecModel(tmp_path / "spec.json").fields["file"] == "checkpoint_sevennet_0.pt"


def test_unknown_name_gets_the_nearest_one(tmp_path):
    printed = run_command("export", "sevennet", "7net-l3i6", "-o", tmp_path, expect=1)
    assert "nearest name is '7net-l3i5'" in printed and "Traceback" not in printed


def test_file_that_is_no_checkpoint_is_refused(tmp_path):
    file = tmp_path / "notes.pth"
    file.write_text("not a pickle")
    printed = run_command("export", "sevennet", file, "-o", tmp_path, expect=1)
    assert str(file) in printed and "can't be read as a SevenNet checkpoint" in printed and "Traceback" not in printed


@pytest.mark.parametrize("name, modal, expected", [
    ("7net-mf-0", None, "--modal R2SCAN or --modal PBE"),
    ("7net-mf-0", "PBEsol", "nearest is 'PBE'"),
    ("7net-0", "PBE", "Leave it out"),
])
def test_wrong_data_set_is_explained(tmp_path, name, modal, expected):
    options = ["--modal", modal] if modal else []
    assert expected in run_command("export", "sevennet", name, *options, "-o", tmp_path, expect=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("module, cure", [("sevenn", "pip install 'sevenn==0.13.0'"),
                                          ("pandas", "pip install 'pandas'")])
def test_missing_package_is_named_with_its_cure(tmp_path, module, cure):
    # None in sys.modules makes Python report the module as not found.
    code = (f"import sys; sys.modules['{module}'] = None; sys.argv = ['mlip-dd', 'export', 'sevennet', '7net-0', "
            f"'-o', {str(tmp_path)!r}]; from mlip_dd.command import main; main()")
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=300)
    assert done.returncode == 1 and cure in done.stderr and "Traceback" not in done.stderr
