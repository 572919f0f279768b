"""Feed hostile cases to everything that reads what a file, a model, a server or a user wrote.

    python -m benchmarks.robustness.fuzzing --cases 200000 --seed 0
    python -m benchmarks.robustness.fuzzing --target "trace files" --case 1234
    python -m benchmarks.robustness.fuzzing --replay

``fuzz_corpus/`` keeps small cases, those that once went wrong among them: ``--replay`` feeds them alone, and ``--grow`` adds
those of which something new is said.

Targets are readers of trace files, corpora, documents, labels, nuggets and configuration, importers, parsers of what language
models and servers answer, parsers of set queries, and reports. A case is a seed of ``fuzz_seeds/`` changed as bytes, as text or
as JSON, up to five times over; the first of each target are runs of 100 KB and 1 MB of one kind of text, as a file, within
one, and in a field. Each target's cases run in a process of their own; one that takes longer than ``--seconds`` of the
processor, or more than ``--megabytes``, is ended and counted.

Printed are, by target: cases; those accepted; those refused by a typed error; crashes (anything else that was raised,
warnings too, and results that are not what they should be); hangs; cases that took too much memory; the slowest case; the
peak of memory. The same cases are made from the same seed, and a case can be fed again by its target and number.

Data: none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.support.fuzz_corpus import CORPUS, grow, keep_case, replay
from benchmarks.support.fuzz_targets import TARGETS
from benchmarks.support.fuzz_workers import Tally, case_for, fed, long_cases, watched
from benchmarks.support.tables import show

_HEADER = ("target", "cases", "accepted", "refused", "crashes", "hangs", "memory", "slowest ms", "case", "peak MB")


def shares(cases: int) -> dict[str, int]:
    """Share cases out among the targets; each has its long ones at least."""
    whole = sum(target.share for target in TARGETS.values())
    return {name: max(long_cases(name) + 10, -(-cases * target.share // whole)) for name, target in TARGETS.items()}


def row(name: str, tally: Tally) -> list[str]:
    """Write a target's row."""
    kinds = [str(tally.count(kind)) for kind in ("crash", "hang", "memory")]
    counts = [f"{count:,}" for count in (tally.cases, tally.accepted, tally.refused)]
    return [name, *counts, *kinds, f"{1000 * tally.slowest_s:,.0f}", str(tally.slowest), f"{tally.peak_mb:,.0f}"]


def total(tallies: list[Tally]) -> list[str]:
    """Write the last row."""
    kinds = [str(sum(tally.count(kind) for tally in tallies)) for kind in ("crash", "hang", "memory")]
    counts = [f"{sum(each):,}" for each in zip(*((t.cases, t.accepted, t.refused) for t in tallies), strict=True)]
    slowest, peak = max(tally.slowest_s for tally in tallies), max(tally.peak_mb for tally in tallies)
    return ["all", *counts, *kinds, f"{1000 * slowest:,.0f}", "", f"{peak:,.0f}"]


def replay_all(folder: Path) -> int:
    """Feed all kept cases again; print those that go wrong, and return with what to end."""
    ended = {path: (name, kind) for name in TARGETS for path, kind in replay(folder, name).items()}
    wrong = {path: how for path, how in ended.items() if how[1] not in ("accepted", "refused")}
    for path, (name, words) in wrong.items():
        print(f"crash: --target '{name}', {path}: {words}")
    print(f"{len(ended)} kept cases were fed again; {len(wrong)} went wrong.")
    return int(bool(wrong))


def again(target: str, case: int, seed: int) -> None:
    """Feed one case again, and show it."""
    name, content = case_for(target, case, seed)
    print(f"{name}: {len(content):,} bytes: {content[:2000]!r}")
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        print(fed(target, case, seed, Path(folder)))
    print(f"{1000 * (time.perf_counter() - began):,.1f} ms")


def main() -> None:
    """Feed all cases, print the table and what went wrong; end with 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=TARGETS, help="feed this one alone")
    parser.add_argument("--case", type=int, help="feed this case of --target again, and show it")
    parser.add_argument("--seconds", type=float, default=5.0, help="of the processor, from which a case counts as a hang")
    parser.add_argument("--megabytes", type=float, default=1024.0, help="of memory from which a process is ended")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the cases that went wrong there")
    parser.add_argument("--replay", type=Path, nargs="?", const=CORPUS, metavar="FOLDER", help="feed kept cases alone again")
    parser.add_argument("--grow", type=Path, metavar="FOLDER", help="keep small cases there whose like is not kept yet")
    options = parser.parse_args()
    if options.replay:
        sys.exit(replay_all(options.replay))
    if options.grow:
        for name in TARGETS if options.target is None else [options.target]:
            print(f"{name}: {grow(options.grow, name, options.seed, options.cases)} kept")
        return
    if options.case is not None:
        if not options.target:
            parser.error("--case needs --target")
        again(options.target, options.case, options.seed)
        return
    counts = {name: count for name, count in shares(options.cases).items() if options.target in (None, name)}

    def run(name: str) -> Tally:
        count = options.cases if options.target else counts[name]
        tally = watched(name, 0, count, options.seed, longest_s=options.seconds, most_mb=options.megabytes)
        print(
            " · ".join(row(name, tally)),
            *(f"  {fault.case}: {fault.words}" for fault in tally.faults),
            sep="\n",
            file=sys.stderr,
        )
        return tally

    with ThreadPoolExecutor(options.workers) as pool:
        tallies = dict(zip(counts, pool.map(run, counts), strict=True))
    rows = [row(name, tally) for name, tally in tallies.items()]
    show(f"Hostile cases, seed {options.seed}", _HEADER, [*rows, total(list(tallies.values()))])
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    for fault in faults:
        print(f"{fault.kind}: --target '{fault.target}' --case {fault.case} --seed {options.seed}: {fault.words}")
        if options.keep:
            made = case_for(fault.target, fault.case, options.seed)
            keep_case(options.keep, fault.target, f"{options.seed}-{fault.case}", *made)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
