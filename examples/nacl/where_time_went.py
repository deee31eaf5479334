"""Says in a few lines where a run of in.nacl spent its time.

    python where_time_went.py log.lammps
"""

import sys
from pathlib import Path

from read_run import read_pair_times, read_stages

TASKS = {"Pair": "pair style (the model)", "Neigh": "neighbour lists", "Comm": "LAMMPS's communication",
         "Modify": "thermostat, barostat, motion", "Output": "thermo output", "Other": "other, and waiting"}
PAIR = {"s forward": "model, forward", "s backward": "model, backward", "s building graphs": "graph, at reneighbouring",
        "s choosing edges": "choosing edges, each step", "s bringing forces home": "forces of other ranks' atoms"}
EXCHANGES = "s of these in exchanges"


def print_shares(parts: dict[str, float], whole: float) -> None:
    for name, seconds in parts.items():
        print(f"    {name:<36}{seconds:9.2f} s {100 * seconds / whole:6.1f} %")


def main() -> None:
    log = Path(sys.argv[1])
    stages, pair = read_stages(log), read_pair_times(log)
    whole = sum(stage.seconds for stage in stages)
    steps = sum(stage.steps for stage in stages)
    print(f"Where the time went: {stages[0].ranks} ranks, {stages[0].atoms} atoms, {steps} steps in {whole:.1f} s "
          f"({1e3 * whole / steps:.0f} ms a step, {1e3 * whole * stages[0].ranks / steps / stages[0].atoms:.1f} "
          "core-ms per atom and step)")
    print("  as LAMMPS counts it, averaged over ranks")
    print_shares({text: sum(stage.tasks.get(name, 0.0) for stage in stages) for name, text in TASKS.items()}, whole)

    parts = {text: pair.average[name] for name, text in PAIR.items()}
    print(f"  inside the pair style, {pair.evaluations} evaluations")
    print_shares(parts, sum(parts.values()))
    print_shares({"of these in exchanges, with waiting": pair.average[EXCHANGES]}, sum(parts.values()))
    print(f"    each rank sent {pair.average['bytes sent'] / pair.evaluations / 1e3:.0f} kB in "
          f"{pair.average['messages sent'] / pair.evaluations:.0f} messages per evaluation")


if __name__ == "__main__":
    main()
