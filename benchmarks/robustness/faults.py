"""What faults do to an evaluation: results lost, results doubled, the store's soundness, and what the user is told.

    python -m benchmarks.robustness.faults                                # all of them
    python -m benchmarks.robustness.faults --fault killed --times 50      # one row

Each fault is done to a real process that evaluates ``--count`` traces into a store (judged by words, as slowly as by a real
judge), so many ``--times`` at seeded moments (printed). When the fault is over, the same command goes on with the store, and
what that holds in the end is compared, value for value, with the results of one undisturbed run:

- *results lost*: of the undisturbed run's results, those that the store does not hold;
- *results doubled*: results of one trace beyond the first, and wrong ones that a damaged store would show;
- *database intact*: ``PRAGMA integrity_check`` says ok when the fault is over, and the results are those expected.

Actors and nodes are those of a Ray cluster of two nodes, simulated on this machine; such a run is not gone on with: it ends by
itself. Only where the driver is killed, its cluster ends with it, and the same command goes on. Disks are small file systems in
memory; where these may not be mounted, a limit on the size of files stands in.

Data: none.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping

from benchmarks.support.faults import stage
from benchmarks.support.faults_injected import FAULTS, Fault
from benchmarks.support.faults_ray import actor_killed, actors_killed, driver_killed, node_removed
from benchmarks.support.tables import show

HEADER = ("fault", "times", "results lost", "results doubled", "database intact", "how it is told")
ON_RAY: Mapping[str, Fault] = {
    "actor-killed": actor_killed,
    "actors-killed": actors_killed,
    "driver-killed": driver_killed,
    "node-removed": node_removed,
}
ALL: Mapping[str, Fault] = {**FAULTS, **ON_RAY}
TIMES: Mapping[str, int] = {"killed": 50}
COUNTS: Mapping[str, int] = {"killed": 2_000, "actors-killed": 100_000}


def rows(name: str, fault: Fault, *, times: int, count: int, seed: int) -> list[list[str]]:
    """Inject one fault so many times, and write its rows."""
    started = time.perf_counter()
    with stage(count) as traces:
        injected = fault(traces, random.Random(f"{name} {seed}"), times)  # noqa: S311  # moments, not secrets
    print(f"{name}: {times} times on {count:,} traces, seed {seed}, {time.perf_counter() - started:.0f} s", flush=True)
    return [harm.row(row) for row, harm in injected.items()]


def main() -> None:
    """Print the table of faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", choices=[*ALL, "all"], default="all", help="the fault to inject (default: all)")
    parser.add_argument("--times", type=int, help="how often (default: 50 kills, 5 of the others)")
    parser.add_argument(
        "--count", type=int, help="traces of a run (default: 2,000 where it is killed, 100,000 for actors-killed, else 500)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    chosen = ALL if options.fault == "all" else {options.fault: ALL[options.fault]}
    table = [
        row
        for name, fault in chosen.items()
        for row in rows(
            name,
            fault,
            times=options.times or TIMES.get(name, 5),
            count=options.count or COUNTS.get(name, 500),
            seed=options.seed,
        )
    ]
    show("Faults", HEADER, table)


if __name__ == "__main__":
    main()
