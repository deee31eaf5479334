"""Times ewald and pme against LAMMPS's own Coulomb sums at equal error of the forces, in one run.

    python bench/coulomb.py [pme|ewald|cost] [--ranks 1 2] [--rounds 3] [--error 1e-5] [--quick]

The error is measured: the root mean square of the forces' deviation from a converged Ewald sum, over that of the
forces. For each program and each of a few cutoffs and orders the accuracy is lowered as far as the error allows;
the fastest of these settings on so many ranks is timed, in turns, and the smallest time of all rounds counts.
`cost` tells how the time of pme grows with the number of charges. Needs `lmp` with the plugin.
"""

import argparse
import json
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from native_peers import native_spec, salt_forces, salt_time

CONVERGED = 1e-9    # of the reference sum, over the force of two unit charges 1 Angstrom apart
SIZES = {"pme": [(8, 8, 8), (20, 20, 10)], "ewald": [(4, 4, 4)]}
COST_SIZES = [(10, 10, 5), (20, 10, 10), (20, 20, 10), (20, 20, 20)]


@dataclass(frozen=True)
class Setting:
    """One way to sum: whose, with what fixed choices; the accuracy is to be found."""

    ours: bool
    method: str     # pme or ewald
    cutoff: float
    order: int = 0

    def __str__(self) -> str:
        who = f"mlip/dd {self.method}" if self.ours else {"pme": "pppm", "ewald": "kspace ewald"}[self.method]
        return f"{who}, cutoff {self.cutoff:g} A" + (f", order {self.order}" if self.order else "")

    def commands(self, accuracy: float, folder: Path) -> str:
        if self.ours:
            order = {"order": self.order} if self.order else {}
            spec = native_spec(self.method, ["Na", "Cl"], self.cutoff, accuracy=accuracy, **order)
            (folder / "spec.json").write_text(json.dumps(spec))
            return "pair_style mlip/dd spec.json log yes\npair_coeff * * Na Cl"
        style = {"pme": "pppm", "ewald": "ewald"}[self.method]
        return (f"pair_style coul/long {self.cutoff}\npair_coeff * *\nkspace_style {style} {accuracy}"
                + (f"\nkspace_modify order {self.order}" if self.order else ""))


def settings(method: str, ours: bool, quick: bool) -> list[Setting]:
    if method == "ewald":
        return [Setting(ours, method, cutoff) for cutoff in ((9.0,) if quick else (7.0, 8.5, 10.0))]
    orders = (5, 6, 8) if ours else (5, 7)    # the highest that either has is the last
    cutoffs = (9.0,) if quick else (7.0, 8.5, 10.0)
    return [Setting(ours, method, cutoff, order) for cutoff in cutoffs for order in orders]


def error_of(setting: Setting, accuracy: float, cells, reference: np.ndarray, folder: Path) -> float:
    found = salt_forces(cells, setting.commands(accuracy, folder), folder)
    return float(np.sqrt(((found - reference) ** 2).sum() / (reference ** 2).sum()))


def loosest(setting: Setting, target: float, cells, reference: np.ndarray, folder: Path) -> tuple[float, float] | None:
    """The largest accuracy found whose measured error is at most `target`, and that error."""
    accuracy, best = 0.3 * target, None
    for _ in range(6):
        error = error_of(setting, accuracy, cells, reference, folder)
        if error <= target and (best is None or accuracy > best[0]):
            best = accuracy, error
        if 0.75 * target <= error <= target:
            break
        accuracy *= min(max(0.9 * target / error, 0.05), 20.0)
    return best


def converged(cells, folder: Path) -> np.ndarray:
    return salt_forces(cells, Setting(True, "ewald", 12.0).commands(CONVERGED, folder), folder)


def compare(method: str, arguments, folder: Path) -> None:
    chosen: dict[tuple[bool, int], Setting] = {}
    for cells in SIZES[method][:1] if arguments.quick else SIZES[method]:
        count, reference = 8 * math.prod(cells), converged(cells, folder)
        found: dict[bool, dict[Setting, tuple[float, float]]] = {}
        for ours in (True, False):
            # What suits the smaller system is taken for the larger one.
            tried = settings(method, ours, arguments.quick)
            if chosen:
                tried = {chosen[ours, ranks] for ranks in arguments.ranks}
            loose = {setting: loosest(setting, arguments.error, cells, reference, folder) for setting in tried}
            found[ours] = {setting: reached for setting, reached in loose.items() if reached}
            if not found[ours] or (chosen and len(found[ours]) < len(tried)):
                sys.exit(f"no setting of {'mlip/dd' if ours else 'LAMMPS'} reaches {arguments.error}")
        for ranks in arguments.ranks:
            commands, texts = {}, {}
            for ours in (True, False):
                timed = []
                for setting, (accuracy, error) in found[ours].items():
                    time = salt_time(cells, setting.commands(accuracy, folder), 10, ranks, folder)
                    timed.append((time, str(setting), setting))
                    if len(found[ours]) > 1:
                        print(f"    {ranks} ranks, {setting}: accuracy {accuracy:.2e} has error {error:.2e}, "
                              f"{1e3 * time:.1f} ms", flush=True)
                setting = chosen.setdefault((ours, ranks), min(timed)[2])
                accuracy, error = found[ours][setting]
                commands[ours], texts[ours] = (setting, accuracy), f"{setting}, error {error:.2e}"
            best = dict.fromkeys((True, False), math.inf)
            for _ in range(arguments.rounds):
                for ours, (setting, accuracy) in commands.items():
                    time = salt_time(cells, setting.commands(accuracy, folder), 30, ranks, folder)
                    best[ours] = min(best[ours], time)
            print(f"{count} charges, {ranks} ranks: {texts[True]}: {1e3 * best[True]:.2f} ms, "
                  f"{texts[False]}: {1e3 * best[False]:.2f} ms per step, ratio {best[True] / best[False]:.2f}", flush=True)


def cost(arguments, folder: Path) -> None:
    setting, times = Setting(True, "pme", 8.5, 6), []
    sizes = COST_SIZES[:2] if arguments.quick else COST_SIZES
    commands = setting.commands(0.1 * arguments.error, folder)
    for cells in sizes:
        times.append(min(salt_time(cells, commands, 20, 1, folder) for _ in range(arguments.rounds)))
        print(f"pme, {8 * math.prod(cells)} charges: {1e3 * times[-1]:.2f} ms per step", flush=True)
    exponent = math.log(times[-1] / times[0]) / math.log(math.prod(sizes[-1]) / math.prod(sizes[0]))
    print(f"cost exponent of pme: {exponent:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("method", nargs="?", choices=["pme", "ewald", "cost"], default="pme")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--error", type=float, default=1e-5)
    parser.add_argument("--quick", action="store_true", help="few settings and the smaller system")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if arguments.method == "cost":
            cost(arguments, Path(name))
        else:
            compare(arguments.method, arguments, Path(name))


if __name__ == "__main__":
    main()
