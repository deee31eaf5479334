"""If these fail, the toy model can't tell a right decomposition from a wrong one: it would be rough, deaf
to far neighbours, without direction, or not the same twice, and the tests that lean on it prove nothing."""

import numpy as np
import pytest
import torch
from ase import Atoms
from exported import SpecModel, rock_salt, run_command

STEP = 1e-4                 # A; central differences: error of order STEP^2 times the third derivative
FORCE_TOLERANCE = 1e-6      # relative to the largest force
ROUNDING = 1e-12            # eV; float64 sums in another order
HEARD = 1e-7                # eV/A; far above rounding of float64 energies (1e-13 / STEP)
SIGNAL = 0.5                # eV/A; a model with smaller forces tests nothing
LAYERS_SIGNAL = 0.05        # eV/A; what the layers alone must do, beside the pair energy common to all seeds


@pytest.mark.parametrize("layers", [2, 3])
def test_forces_are_the_derivative_of_the_energy(export_toy, layers):
    model, atoms = export_toy("--layers", str(layers)), rock_salt()
    forces = model(atoms).forces
    scale = abs(forces).max()
    assert scale > SIGNAL
    for atom, axis in [(0, 0), (17, 1), (40, 2)]:
        energies = []
        for sign in (1, -1):
            moved = atoms.copy()
            moved.positions[atom, axis] += sign * STEP
            energies.append(model(moved).energy)
        assert -(energies[0] - energies[1]) / (2 * STEP) == pytest.approx(forces[atom, axis],
                                                                         abs=FORCE_TOLERANCE * scale)


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_every_layer_carries_news_one_cutoff_further(export_toy, layers):
    """In a chain where each atom reaches its next neighbours alone, the first atom's energy hears of the
    vector between atoms `layers - 1` and `layers`, and of nothing beyond."""
    model = export_toy("--layers", str(layers))
    # Bent, so that directions matter.
    atoms = Atoms(["Na", "Cl"] * 4, [[3.0 * k, 0.7 * (k % 2), 0.3 * k] for k in range(8)])

    def heard(senders_beyond):
        vectors = torch.tensor(atoms.positions[1:] - atoms.positions[:-1])
        vectors.requires_grad_(True)
        index = torch.arange(7)
        edges = torch.stack([torch.cat([index, index + 1]), torch.cat([index + 1, index])])
        node_energy = model.node_energy(model.types(atoms), edges, torch.cat([vectors, -vectors]))
        gradient, = torch.autograd.grad(node_energy[0], vectors)
        return gradient.abs().amax(1)[senders_beyond]

    assert heard(layers - 1) > HEARD
    assert (heard(slice(layers, None)) == 0).all()


def test_vectors_matter_not_distances_alone(export_toy):
    """Three atoms seen from a fourth under other angles, all distances to it kept and the three out of each
    other's reach: a model of distances alone would give the fourth the same energy."""
    model = export_toy("--layers", "2")
    edges = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])

    def energy(*vectors):
        out = torch.tensor(vectors, dtype=torch.float64)
        return model.node_energy(torch.tensor([0, 1, 1, 1]), edges, torch.cat([out, -out]))[0].item()

    flat = energy([3.0, 0, 0], [0, 3.0, 0], [-3.0, 0, 0])
    bent = energy([3.0, 0, 0], [0, 3.0, 0], [0, 0, 3.0])
    assert abs(flat - bent) > HEARD


def test_rotation_and_reflection_change_nothing(export_toy):
    model, atoms = export_toy("--layers", "3"), rock_salt()
    before = model(atoms)
    for turn in (np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), -np.eye(3)):
        turned = atoms.copy()
        turned.set_cell(atoms.cell @ turn.T)
        turned.positions = atoms.positions @ turn.T
        after = model(turned)
        assert after.energy == pytest.approx(before.energy, abs=1e3 * ROUNDING)
        assert after.forces == pytest.approx(before.forces @ turn.T, abs=1e3 * ROUNDING)


def test_energy_and_two_derivatives_vanish_at_the_cutoff(export_toy):
    """The pair energy near the cutoff rc falls like (rc - r)^4, so halving rc - r divides it by about 16.
    With a rougher cutoff, edges that come and go would show up as energy drift."""
    model = export_toy("--layers", "2", "--cutoff", "4.0")
    alone = model(Atoms("NaCl", [[0, 0, 0], [9.0, 0, 0]])).energy

    def pair(gap):
        return model(Atoms("NaCl", [[0, 0, 0], [4.0 - gap, 0, 0]])).energy - alone

    assert abs(pair(0.1)) > 1e3 * ROUNDING
    for gap in (0.2, 0.1):
        assert pair(gap) / pair(gap / 2) == pytest.approx(16, rel=0.25)


@pytest.mark.parametrize("atoms, edges", [(0, 0), (1, 0), (5, 0)])
def test_no_atoms_and_no_edges_pass_forward_and_backward(export_toy, atoms, edges):
    model = export_toy("--layers", "3")
    vectors = torch.zeros(edges, 3, dtype=torch.float64, requires_grad=True)
    for _ in range(3):  # the executor specialises in its later runs
        energy = model.node_energy(torch.zeros(atoms, dtype=torch.int64),
                                   torch.zeros(2, edges, dtype=torch.int64), vectors)
        assert energy.shape == (atoms,) and torch.isfinite(energy).all()
        gradient, = torch.autograd.grad(energy.sum(), vectors)
        assert gradient.shape == (edges, 3)


def test_seed_fixes_the_model_and_another_changes_it(export_toy, tmp_path):
    atoms, results = rock_salt(), []
    for run in ("once", "twice"):
        run_command("export", "toy", "--seed", 1, "-o", tmp_path / run)
        results.append(SpecModel(tmp_path / run / "spec.json")(atoms))
    once, twice = results
    assert once.energy == twice.energy and (once.forces == twice.forces).all()
    assert abs(once.forces - export_toy("--seed", "2")(atoms).forces).max() > LAYERS_SIGNAL


def test_float32_model_is_the_float64_one_rounded(export_toy):
    atoms = rock_salt()
    double, single = export_toy("--layers", "3")(atoms), export_toy("--layers", "3", "--dtype", "float32")(atoms)
    assert abs(double.forces - single.forces).max() < 1e-5 * abs(double.forces).max()
    assert abs(double.forces - single.forces).max() > 0


def test_spec_says_what_was_asked_for(tmp_path):
    run_command("export", "toy", "--elements", "Si,O,H", "--cutoff", "3.5", "--layers", 2, "-o", tmp_path / "a" / "b")
    model = SpecModel(tmp_path / "a" / "b" / "spec.json")
    assert model.fields["elements"] == ["Si", "O", "H"]
    assert (model.fields["cutoff"], model.fields["layers"], model.fields["dtype"]) == (3.5, 2, "float64")
    energies = {str(model(Atoms(symbol + "O", [[0, 0, 0], [2, 0, 0]])).node_energy[0]) for symbol in ("Si", "O", "H")}
    assert len(energies) == 3


@pytest.mark.parametrize("options, expected", [
    (["--elements", "Na,,Cl"], "empty or a repeated symbol"),
    (["--elements", "Na,Na"], "empty or a repeated symbol"),
    (["--cutoff", "0"], "--cutoff"),
    (["--cutoff", "nan"], "--cutoff"),
    (["--layers", "-1"], "--layers"),
])
def test_impossible_options_are_refused(tmp_path, options, expected):
    printed = run_command("export", "toy", *options, "-o", tmp_path, expect=1 if "symbol" in expected else 2)
    assert expected in printed and "Traceback" not in printed
    assert not list(tmp_path.iterdir())
