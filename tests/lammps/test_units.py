"""If these fail, a script in other units than metal gets a wrong energy, force or pressure, or a model that sees its
atoms too near or too far."""

import numpy as np
import pytest
import tolerances as tol
from evaluate import largest
from models import Model
from pipeline_models import Pairs, charges_spec, committee_of, native_spec, scripted_spec, single
from run import launch, read_dump, read_thermo, run
from systems import rock_salt, write_data

SYSTEM = rock_salt(2)
SKIN = 1.0    # Angstrom
# Definitions of the styles in LAMMPS's manual (command `units`), in Angstrom, eV, e, g/mol, fs, and bar; SI and
# CODATA 2022 values. Mass and time matter only to the force that LAMMPS takes for a unit of mass times acceleration.
EV, MOL, BOHR, HARTREE = 1.602176634e-19, 6.02214076e23, 0.529177210544, 27.211386245981
UNITS = {    # length, energy, charge, mass in kg, time in fs, pressure in Pa
    "real": (1.0, 4184 / MOL / EV, 1.0, 1e-3 / MOL, 1.0, 101325.0),
    "si": (1e10, 1 / EV, 1 / EV, 1.0, 1e15, 1.0),
    "cgs": (1e8, 1e-7 / EV, 1 / 2997924580 / EV, 1e-3, 1e15, 0.1),
    "electron": (BOHR, HARTREE, 1.0, 1e-3 / MOL, 1.0, 1.0),
    "micro": (1e4, 1e-15 / EV, 1e-12 / EV, 1e-15, 1e9, 1e3),
    "nano": (10.0, 1e-21 / EV, 1.0, 1e-21, 1e6, 1e6),
}
METAL_MASS = 1e-3 / MOL    # kg
# LAMMPS's constants (pressure, charge) have 7 or 8 digits, and some are of older years than ours.
CONSTANTS = 3e-6
PASCAL = 1e-30 / EV    # eV/A^3


def script(folder, model, units: str, charge_style: bool = False, moves: str = "run 0", options: str = "",
           columns: str = "") -> str:
    length, _, charge, mass, time, _ = UNITS.get(units, (1.0, 1.0, 1.0, METAL_MASS, 1e3, 1e5))
    style = "charge" if charge_style else "atomic"
    scaled = type(SYSTEM)(SYSTEM.positions / length, SYSTEM.types, SYSTEM.cell / length)
    write_data(scaled, folder / f"{units}.data", style)
    lines = "\n".join(f"set type {kind} charge {sign * 0.5 / charge:.17g}" for kind, sign in ((1, 1), (2, -1)))
    masses = "\n".join(f"mass {k} {value * METAL_MASS / mass:.17g}" for k, value in enumerate((22.99, 35.45), 1))
    return f"""
units {units}
atom_style {style}
read_data {units}.data
{masses}
{lines if charge_style else ""}
pair_style mlip/dd {model.spec} {options}
pair_coeff * * Na Cl
neighbor {SKIN / length:.17g} bin
timestep {1.0 / time:.17g}
compute node_energy all pe/atom
compute stress all stress/atom NULL virial
compute centroid all centroid/stress/atom NULL virial
compute parts all pair mlip/dd
thermo_style custom step pe press pxx pyy pzz pxy pxz pyz c_parts[1]
thermo_modify norm no format float %.17g
{moves}
write_dump all custom {units}.dump id x y z fx fy fz c_node_energy c_stress[*] c_centroid[*] {columns} &
  modify sort id format float %.17g
"""


def compare(folder, names, charge_style):
    tables, frames = {}, {}
    output = read_thermo((folder / "output.txt").read_text())
    for k, name in enumerate(names):
        tables[name], frames[name] = output[k], read_dump(folder / f"{name}.dump")[-1]
    metal, atoms = tables["metal"], frames["metal"]
    stresses = [f"c_stress[{k}]" for k in range(1, 7)] + [f"c_centroid[{k}]" for k in range(1, 10)]
    assert largest(atoms.vectors("fx", "fy", "fz")) > tol.SIGNAL_FORCE
    for name in names[1:]:
        length, energy, _, _, _, pressure = UNITS[name]
        table, frame = tables[name], frames[name]
        assert table["PotEng"] * energy == pytest.approx(metal["PotEng"], rel=1e-10)
        assert table["c_parts[1]"] * energy == pytest.approx(metal["c_parts[1]"], rel=1e-10)
        for p in ("Pxx", "Pyy", "Pzz", "Pxy", "Pxz", "Pyz"):
            assert table[p] * pressure == pytest.approx(metal[p] * 1e5, rel=CONSTANTS), (name, p)
        force = frame.vectors("fx", "fy", "fz") * energy / length
        assert largest(force - atoms.vectors("fx", "fy", "fz")) < 1e-9
        assert largest(frame.columns["c_node_energy"] * energy - atoms.columns["c_node_energy"]) < 1e-9
        there = frame.vectors(*stresses) * pressure * length ** 3 * PASCAL
        here = atoms.vectors(*stresses) * 1e5 * PASCAL
        assert largest(there - here) < CONSTANTS * largest(here)


def test_every_output_is_that_of_metal(toy3, tmp_path):
    names = ["metal", *UNITS]
    run("clear\n".join(script(tmp_path, toy3, name) for name in names), tmp_path, ranks=2)
    compare(tmp_path, names, False)


def test_charges_of_the_atoms(tmp_path):
    """A model that takes atom->q: coulomb energies of +-0.5 e in each style's unit of charge."""
    model = single(tmp_path, "ewald", native_spec("ewald", 6.0, accuracy=1e-8))
    names = ["metal", *UNITS]
    run("clear\n".join(script(tmp_path, model, name, True) for name in names), tmp_path)
    compare(tmp_path, names, True)


def pairs_of_charges(folder) -> Model:
    spec = scripted_spec(folder, "pairs", Pairs(), 4.0, ("edge_index", "edge_vectors", "strength"), ("node_energy",))
    spec["model"]["inputs"]["charges"] = spec["model"]["inputs"].pop("strength")
    return single(folder, "pairs", spec)


def test_per_atom_outputs(export, tmp_path):
    """Charges by fix pair and in the atoms, the energy's derivative by charges, and the deviation of forces."""
    # Model; options; what fix pair asks for; columns, with the powers of length, energy and charge in their unit.
    outputs = {
        "made": (single(tmp_path, "charges", charges_spec(tmp_path)), "charges to_q", "charges",
                 {"f_2": (0, 0, 1), "q": (0, 0, 1)}),
        "taken": (pairs_of_charges(tmp_path), "", "d_energy_d_charges", {"f_2": (0, 1, -1)}),
        "committee": (committee_of(export, tmp_path)[0], "", "force_deviation", {"f_2": (-1, 1, 0)}),
    }
    names, texts = ["metal", *UNITS], []
    for name, (model, options, asked, columns) in outputs.items():
        (folder := tmp_path / name).mkdir()
        moves = f"fix 2 all pair 1 mlip/dd {asked} 1\nrun 0"
        texts += [f"shell cd {name}\n" + script(folder, model, units, True, moves, options, " ".join(columns))
                  + "shell cd ..\n" for units in names]
    run("clear\n".join(texts), tmp_path, ranks=2, limit=tol.BATCH_LIMIT)
    for name, (*_, columns) in outputs.items():
        frames = {units: read_dump(tmp_path / name / f"{units}.dump")[-1] for units in names}
        for column, powers in columns.items():
            metal = frames["metal"].columns[column]
            assert np.ptp(metal) > 1e-3, (name, column)
            for units in UNITS:
                found = frames[units].columns[column] * np.prod(np.power(UNITS[units][:3], powers))
                assert largest(found - metal) < 1e-9 * largest(metal), (name, column, units)


def test_dynamics_in_real_units_follow_metal(toy2, tmp_path):
    """Lists are rebuilt on the way: positions and skin must be read in the same unit."""
    path = "velocity all set 2e-3 1e-3 -1e-3 units box\ndisplace_atoms all random 0.05 0.05 0.05 77 units box\n" \
        "fix 1 all nve\nneigh_modify every 1 delay 0 check yes\nthermo 1\nrun 40"
    text = {"real": path, "metal": path.replace("2e-3 1e-3 -1e-3", "2 1 -1")}
    output = run("clear\n".join(script(tmp_path, toy2, name, moves=moves) for name, moves in text.items()), tmp_path).output
    real, metal = read_thermo(output)
    assert np.ptp(metal["PotEng"]) > 0.1
    # Masses and accelerations in LAMMPS's constants of 7 digits.
    assert largest(real["PotEng"] * UNITS["real"][1] - metal["PotEng"]) < 1e-5 * np.ptp(metal["PotEng"])


def test_wide_halo_reaches_as_far(toy2, tmp_path):
    """Ghost cutoffs are set in the host's unit of length."""
    names = ["metal", "nano"]
    run("clear\n".join(script(tmp_path, toy2, name).replace("spec.json", "spec.json halo wide") for name in names),
        tmp_path, ranks=2)
    compare(tmp_path, names, False)


def test_reduced_units_are_refused(toy2, tmp_path):
    outcome = launch(script(tmp_path, toy2, "lj"), tmp_path, limit=tol.ERROR_LIMIT)
    assert outcome.status != 0 and "units metal" in outcome.error_lines[0]
