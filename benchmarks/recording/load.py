"""What the callback handlers cost and lose under load: requests on a fixed schedule, recorded into a store.

    python -m benchmarks.recording.load

Requests arrive at ``--rate`` a second whether or not earlier ones are answered, and are answered by a pool of threads in this
process: by a LangChain chain and a LlamaIndex query engine that do next to nothing, with the frameworks' own fake models. What
is recorded is measured (groundedness, by a judge of words) and kept in a store and a trace file by the recording's own thread,
in the same process. Stretches with and without the handler take turns: 1/4 without, 1/2 with, 1/2 without, 1/2 with, 1/4
without of ``--seconds`` each, so that either side has ``--seconds`` in all.

Latency counts from when a request was due, so that waiting for a free thread is in it; lateness is by how much the generator
itself was behind its schedule. Lost: sent, and neither in the store nor counted as dropped.

In the second case a process of its own measures (``measuring="process"``), which begins anew with each stretch. In the third
traces are only recorded, into a trace file, to be measured later. The fourth is above what the queue can take: it holds 50, and
the judge waits for 0.2 s with each block.

Data: none.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.support.handler_load import Fates, Kept, Pipeline, Stretch, offered, recorded
from benchmarks.support.tables import arguments, show


def built(framework: str) -> Pipeline:
    """Build a framework's pipeline."""
    if framework == "langchain":
        from benchmarks.support.handler_load_langchain import Chain

        return Chain()
    from benchmarks.support.handler_load_llama_index import Engine

    return Engine()


def taking_turns(
    pipeline: Pipeline, kept: Kept, *, rate: float, seconds: float, threads: int
) -> tuple[Stretch, Stretch, Fates]:
    """Offer stretches without and with the handler in turn; return both sides, and what became of the recorded requests."""
    without, with_it, fates = Stretch(), Stretch(), Fates()
    for share, is_recorded in ((0.25, False), (0.5, True), (0.5, False), (0.5, True), (0.25, False)):
        if is_recorded:
            with_it += recorded(pipeline, kept, rate=rate, seconds=share * seconds, threads=threads, fates=fates)
        else:
            without += offered(pipeline.ask, rate=rate, seconds=share * seconds, threads=threads)
    return without, with_it, fates


def fates_row(name: str, kept: Kept, fates: Fates) -> list[str]:
    """Write what became of the requests."""
    counts = (fates.sent, fates.kept, fates.dropped, fates.unreadable, fates.lost(kept), fates.errors, fates.most_waiting)
    return [name, str(kept.capacity), *(f"{count:,}" for count in counts)]


def latency_rows(name: str, without: Stretch, with_it: Stretch) -> list[list[str]]:
    """Write the percentiles of both sides, and their differences."""
    sides = {side: percentiles(stretch.latencies) for side, stretch in (("without", without), ("with", with_it))}
    added = [after - before for before, after in zip(sides["without"], sides["with"], strict=True)]
    rows = [
        [
            name,
            side,
            f"{len(stretch.latencies):,}",
            *milliseconds(sides[side]),
            *milliseconds(percentiles(stretch.lateness)),
            "",
        ]
        for side, stretch in (("without", without), ("with", with_it))
    ]
    return [*rows, [name, "added", "", *milliseconds(added), "", "", "", str(without.failed + with_it.failed)]]


def percentiles(values: Sequence[float]) -> list[float]:
    """Return the 50th, 95th and 99th percentile."""
    return [float(value) for value in np.percentile(values, [50, 95, 99])]


def milliseconds(values: Sequence[float]) -> list[str]:
    """Write times."""
    return [f"{value:.2f}" for value in values]


def main() -> None:
    """Run the cases for both adapters, and print the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="of requests with the handler, and of as many without")
    parser.add_argument("--overload-seconds", type=float, default=10.0, help="the same for the last case")
    parser.add_argument("--threads", type=int, default=8, help="that answer")
    parser.add_argument("--framework", choices=("langchain", "llama-index"), help="one of the adapters only")
    options = parser.parse_args()
    counted, timed = [], []
    for framework in [options.framework] if options.framework else ["langchain", "llama-index"]:
        pipeline = built(framework)
        offered(pipeline.ask, rate=20, seconds=1, threads=options.threads)  # what is slow the first time alone
        for case, seconds, how in (
            ("measured", options.seconds, {}),
            ("measured by a process", options.seconds, {"measuring": "process", "capacity": 100_000}),
            ("recorded alone", options.seconds, {"measured": False}),
            ("overload", options.overload_seconds, {"capacity": 50, "slow_s": 0.2}),
        ):
            with tempfile.TemporaryDirectory() as folder:
                kept = Kept(Path(folder), **how)
                without, with_it, fates = taking_turns(
                    pipeline, kept, rate=options.rate, seconds=seconds, threads=options.threads
                )
                counted.append(fates_row(f"{framework}, {case}", kept, fates))
            timed += latency_rows(f"{framework}, {case}", without, with_it)
    busy, cores = os.getloadavg()[0], os.cpu_count()
    what = f"{options.rate:g} requests/s, {options.threads} threads, {cores} cores under a load of {busy:.1f} in the end"
    header = ["adapter, case", "queue", "sent", "recorded", "dropped", "unreadable", "lost", "errors", "most waiting"]
    show(f"What became of requests: {what}", header, counted)
    columns = ["adapter, case", "handler", "n", "p50 ms", "p95", "p99", "late p50", "p95", "p99", "failed"]
    show(f"Latency from when a request was due: {what}", columns, timed)


if __name__ == "__main__":
    main()
