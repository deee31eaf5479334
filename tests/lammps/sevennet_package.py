"""What the package of SevenNet's authors gives for a system."""

import numpy as np
from systems import System


def calculator_results(system: System, model: str = "7net-0",
                       modal: str | None = None) -> tuple[float, np.ndarray, np.ndarray | None]:
    """Energy (eV), forces (eV/A) and, for a periodic system, stress (eV/A^3, positive under tension)."""
    from ase import Atoms
    from sevenn.calculator import SevenNetCalculator
    symbols = [system.elements[kind - 1] for kind in system.types]
    atoms = Atoms(symbols, system.positions, cell=system.cell, pbc=system.periodic)
    atoms.calc = SevenNetCalculator(model, modal=modal, device="cpu")
    stress = atoms.get_stress(voigt=False) if all(system.periodic) else None
    return atoms.get_potential_energy(), atoms.get_forces(), stress
