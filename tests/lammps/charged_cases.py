"""Charges in boxes for the tests of ewald and pme: spec files, and LAMMPS's own styles for the same sum."""

import json
from pathlib import Path

import numpy as np
from evaluate import Case, Snapshot, evaluate, largest
from models import Model
from systems import LATTICE, System, crystal, rock_salt, supercell

CONSTANT = 14.399645    # eV A / e^2, LAMMPS's metal units (force->qqrd2e), and our default
ACCURACY = 1e-8         # of a force, over that of two unit charges 1 A apart; LAMMPS's measure too

# Both sides may err by the accuracy, and the largest of some hundred components is four times their RMS.
FORCE = 8 * ACCURACY * CONSTANT     # eV/A
ENERGY = ACCURACY * CONSTANT        # eV per atom: errors of atoms' energies, an Angstrom times those of forces
PRESSURE = 10 * 0.05 * ENERGY       # eV/A^3: errors of forces at 0.05 atoms per A^3, at distances up to 10 A

SKEWED = np.array([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]])
SYSTEMS = {
    "cubic": rock_salt(2),
    "oblong": rock_salt((1, 2, 3)),
    "skewed": supercell(crystal(SKEWED), np.diag([2, 2, 2]))[0],
}


def charged_model(folder: Path, potential: str, cutoff: float | None, **parameters) -> Model:
    name = "_".join([potential, str(cutoff), *(f"{key}{value}" for key, value in parameters.items())])
    file = folder / f"{name.replace(' ', '').replace('/', '')}.json"
    model = {"potential": potential, "elements": ["Na", "Cl"], "parameters": parameters}
    if cutoff is not None:
        model["cutoff"] = cutoff
    file.write_text(json.dumps({"spec": f"SPEC_{potential.upper()}_HALO", "model": model}))
    return Model(file, double=True)


def own_style(kspace: str, cutoff: float, more: str = "") -> str:
    """LAMMPS's own. Its table comes from the exact erfc, and with 20 bits is interpolated finely enough; without table
    an approximation of erfc, good to 1e-7, would count."""
    return f"pair_style coul/long {cutoff}\npair_coeff * *\npair_modify table 20\nkspace_style {kspace}\n{more}"


def case(system: System, model: Model, name: str, **more) -> Case:
    return Case(system, model, name, style="charge", **more)


def assert_close(found: Snapshot, expected: Snapshot, pressure: bool = True) -> None:
    assert largest(expected.forces) > 0.05
    assert largest(expected.pressure) > 1e-4
    assert np.sqrt(((found.forces - expected.forces) ** 2).mean()) < 2 * ACCURACY * CONSTANT
    assert largest(found.forces - expected.forces) < FORCE
    assert abs(found.energy - expected.energy) < ENERGY * len(found.forces)
    if pressure:
        assert largest(found.pressure - expected.pressure) < PRESSURE


def check_ranks(cases: list[Case], tmp_path: Path, ranks: int, assert_same) -> None:
    """Energy and forces of each case on `ranks` ranks against one rank."""
    one, many = evaluate(cases, tmp_path / "one", 1), evaluate(cases, tmp_path / "many", ranks)
    for each in cases:
        assert_same(many[each.name], one[each.name], double=True)
