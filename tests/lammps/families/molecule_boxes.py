"""Boxes of small molecules for models of organic chemistry, and how a package's own results are kept beside a model."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from models import Model
from systems import System

# Angstrom; the first atom of each molecule is its centre.
_MOLECULES = {
    "H2O": (("O", "H", "H"), [[0, 0, 0], [0.757, 0.586, 0], [-0.757, 0.586, 0]]),
    "NH3": (("N", "H", "H", "H"), [[0, 0, 0], [0, 0.94, 0.38], [0.81, -0.47, 0.38], [-0.81, -0.47, 0.38]]),
    "CH4": (("C", "H", "H", "H", "H"),
            [[0, 0, 0], [.63, .63, .63], [-.63, -.63, .63], [-.63, .63, -.63], [.63, -.63, -.63]]),
}
ELEMENTS = ("H", "C", "N", "O")
NUMBERS = {"H": 1, "C": 6, "N": 7, "O": 8}
DTYPES = ("float64", "float32")    # each model is made in both
SPACING = 3.3    # Angstrom between centres
# Of each system, given to models that take them.
CHARGE = 1.0     # e
SPIN = 0.5       # one electron without a partner


def _turned(rng: np.random.Generator) -> np.ndarray:
    turn, corner = np.linalg.qr(rng.normal(size=(3, 3)))
    return turn * np.sign(np.diag(corner))


def molecules(repeat=(3, 3, 3), seed: int = 1, tilt: float = 0.0, boundary: str = "p p p") -> System:
    """Water, ammonia and methane in turn on a lattice, each turned at random, their atoms off their sites.

    tilt: of the second box vector along the first, as a part of the spacing.
    """
    rng = np.random.default_rng(seed)
    lattice = SPACING * np.array([[1, 0, 0], [tilt, 1, 0], [0, 0, 1]])
    positions, symbols = [], []
    for k, site in enumerate(np.ndindex(*repeat)):
        names, geometry = list(_MOLECULES.values())[k % 3]
        positions.append(np.array(geometry) @ _turned(rng) + site @ lattice + 0.3 * SPACING)
        symbols += names
    where = np.concatenate(positions) + rng.normal(0.0, 0.012, (len(symbols), 3))
    types = np.array([ELEMENTS.index(symbol) + 1 for symbol in symbols])
    cell = np.diag(repeat) @ lattice
    if boundary != "p p p":    # a droplet in a box with room around it
        cell = np.diag([SPACING * max(repeat) + 20.0] * 3)
        where = where + 10.0
    return System(where, types, cell, boundary=boundary, elements=ELEMENTS)


SMALL = {    # compared with the packages
    "box": molecules((2, 2, 2)),
    "skewed": molecules((3, 2, 2), seed=2, tilt=0.25),
    "droplet": molecules((2, 2, 1), seed=3, boundary="f f f"),
}
LARGE = molecules((3, 3, 3), seed=4)    # divided


@dataclass
class PackageResults:
    """What the package gives for one system: eV, Angstrom; stress [3, 3] positive under tension, or None."""

    energy: float
    forces: np.ndarray
    stress: np.ndarray | None
    charges: np.ndarray | None
    spins: np.ndarray | None = None


@dataclass(frozen=True)
class Packaged:
    model: Model
    results: dict[str, PackageResults]    # by system


def save_results(folder: Path, results: dict[str, PackageResults]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for name, found in results.items():
        for field, value in vars(found).items():
            if value is not None:
                arrays[f"{name}.{field}"] = np.asarray(value, float)
    np.savez(folder / "results.npz", **arrays)


def load_results(folder: Path) -> dict[str, PackageResults]:
    with np.load(folder / "results.npz") as arrays:
        names = {key.split(".")[0] for key in arrays}
        return {name: PackageResults(float(arrays[f"{name}.energy"]), arrays[f"{name}.forces"],
                                     arrays.get(f"{name}.stress"), arrays.get(f"{name}.charges"),
                                     arrays.get(f"{name}.spins")) for name in names}
