"""If these fail, forces or stresses are not derivatives of the energy that LAMMPS prints: dynamics would not
conserve energy, and boxes would relax to a wrong shape."""

import re

import numpy as np
import pytest
import tolerances as tol
from evaluate import VOIGT, Case, largest, read_snapshot
from run import run
from systems import LATTICE, crystal, supercell

SYSTEM, _ = supercell(crystal([[LATTICE, 0, 0], [0.7, 5.5, 0], [-0.4, 0.9, 5.8]], amplitude=0.15), np.diag([2, 1, 2]))
ATOMS = (0, 5, 17)    # both elements, one beside a border between ranks
# Fourth-order central difference: offsets in steps, and weights.
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))

_EVALUATE = 'run 0 post no\nprint "ENERGY {name} $(pe:%.17g)"\n'


def displacements() -> str:
    lines = []
    for atom in ATOMS:
        lines.append(f"group one id {atom + 1}")
        for axis in range(3):
            for offset, _ in STENCIL:
                there = np.eye(3)[axis] * offset * tol.DISPLACEMENT_STEP
                move = "displace_atoms one move {:.17g} {:.17g} {:.17g}\n"
                lines += [move.format(*there), _EVALUATE.format(name=f"f{atom}{axis}{offset}"), move.format(*-there)]
        lines.append("group one delete")
    return "\n".join(lines) + "\n"


def change_box(cell) -> str:
    ends = " ".join(f"{axis} final 0.0 {cell[d, d]:.17g}" for d, axis in enumerate("xyz"))
    tilts = " ".join(f"{name} final {cell[b, a]:.17g}" for name, a, b in (("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2)))
    return f"change_box all {ends} {tilts} remap units box\n"


def strains() -> str:
    """Box and atoms under r' = (1 + e) r; e above the diagonal keeps the box in LAMMPS's form."""
    lines = []
    for a, b in VOIGT:
        for offset, _ in STENCIL:
            strain = np.eye(3)
            strain[a, b] += offset * tol.STRAIN_STEP
            lines += [change_box(SYSTEM.cell @ strain.T), _EVALUATE.format(name=f"s{a}{b}{offset}"),
                      change_box(SYSTEM.cell)]
    return "\n".join(lines)


@pytest.fixture(scope="module", params=[1, 2], ids=["1rank", "2ranks"])
def ranks(request):
    return request.param


@pytest.fixture(scope="module")
def found(toy, ranks, tmp_path_factory):
    """The snapshot at rest, and the energies of all displaced and strained copies: one call of lmp."""
    folder = tmp_path_factory.mktemp("derivatives")
    case = Case(SYSTEM, toy, pair="pair_style mlip/dd {spec}\npair_coeff * * Na Cl")
    output = run(case.script(folder) + displacements() + strains(), folder, ranks).output
    energies = {name: float(value) for name, value in re.findall(r"^ENERGY (\S+) (\S+)$", output, re.MULTILINE)}
    return read_snapshot(case.name, folder, output), energies


def slope(energies, name: str, step: float) -> float:
    return sum(weight * energies[f"{name}{offset}"] for offset, weight in STENCIL) / step


def test_forces_are_derivatives_of_the_energy(found):
    snapshot, energies = found
    differences = np.array([[-slope(energies, f"f{atom}{axis}", tol.DISPLACEMENT_STEP) for axis in range(3)]
                            for atom in ATOMS])
    forces = snapshot.forces[list(ATOMS)]
    scale = np.sqrt((differences ** 2).mean())
    assert scale > tol.SIGNAL_FORCE
    assert largest(forces - differences) <= tol.DERIVATIVE * scale


def test_all_six_stresses_are_derivatives_of_the_energy(found):
    snapshot, energies = found
    differences = np.array([-slope(energies, f"s{a}{b}", tol.STRAIN_STEP) for a, b in VOIGT]) / snapshot.volume
    scale = np.sqrt((differences ** 2).mean())
    # Each of the six is there to be seen, shears included.
    assert abs(differences).min() > 1e-3 * scale and scale > tol.SIGNAL_PRESSURE
    assert largest(snapshot.pressure - differences) <= tol.DERIVATIVE * scale
