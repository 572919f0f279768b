"""How fast many traces are evaluated, on the local engine and on Ray, with one worker and with two; and how busy the judge is.

    python -m benchmarks.scale.engines                         # 20,000 synthetic traces in four ways
    python -m benchmarks.scale.engines --case files            # the same traces from four files, read and written in parallel
    python -m benchmarks.scale.engines --case busy             # the share of its time in which the judge has work

Coverage is measured with the embedded judge of synthetic traces (two passages, an answer, a sub-question: three pairs each).
A worker is one processor: the local engine with one worker is held to one core, with two workers it has two; each of Ray's
actors runs one thread. The ways take turns, ``--rounds`` of them, each in a process of its own that measures its share of
the traces; times add up. *First block* is the time until the first block is done: for Ray, mostly the start of its cluster
and its actors. The overhead compares whole times, start included, at equal numbers of workers. Every result is compared with
the local engine's, value for value.

*Busy* is the share of the time between the first call of the judge and the last in which at least one call is running, and
the share of both processors that the process used in that time. Memory against the number of traces: `scale.memory`.

Data: none.
Time: about 20 minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.support.synthetic import synthetic
from benchmarks.support.tables import show
from rag_cover import Evaluation, Models, Trace, evaluate, evaluate_files, open_scorer, write_traces
from rag_cover.engines import Engine
from rag_cover.evaluation.local_engine import open_engine
from rag_cover.processors import usable_processors

WAYS = (("local", 1), ("ray", 1), ("local", 2), ("ray", 2))
FILES = 4
MEASURES = ["coverage"]


@dataclass(frozen=True, slots=True)
class Timed:
    """One run: traces, seconds, seconds until its first block was done, a digest of its results, and bytes read and kept."""

    traces: int
    seconds: float
    first_s: float
    digest: str
    given: int
    kept: int


def run(case: str, name: str, workers: int, *, count: int, seed: int) -> Timed:
    """Evaluate in this process, by one engine with so many workers."""
    if name == "local" and workers == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    traces = list(synthetic(count, seed=seed))
    with tempfile.TemporaryDirectory() as folder:
        return (
            timed_files(traces, name, workers, Path(folder)) if case == "files" else timed(traces, name, workers, Path(folder))
        )


def timed(traces: Sequence[Trace], name: str, workers: int, folder: Path) -> Timed:
    """Evaluate traces into a store."""
    moments: list[float] = []
    started = time.perf_counter()
    evaluation = evaluate(
        traces,
        measures=MEASURES,
        store=folder / "run.sqlite",
        engine=engine(name, workers),
        workers=workers,
        progress=lambda _: moments.append(time.perf_counter() - started),
    )
    seconds = time.perf_counter() - started
    given = sum(len(trace.to_json()) + 1 for trace in traces)
    return Timed(len(traces), seconds, moments[0], digest(evaluation), given, size(folder.glob("run.sqlite*")))


def timed_files(traces: Sequence[Trace], name: str, workers: int, folder: Path) -> Timed:
    """Evaluate the same traces from files into a folder of Parquet parts."""
    share = -(-len(traces) // FILES)
    files = [folder / f"traces-{number}.jsonl" for number in range(FILES)]
    for number, file in enumerate(files):
        write_traces(file, traces[number * share : (number + 1) * share])
    moments: list[float] = []
    started = time.perf_counter()
    evaluation = evaluate_files(
        files,
        folder / "results",
        measures=MEASURES,
        engine=engine(name, workers),
        workers=workers,
        progress=lambda _: moments.append(time.perf_counter() - started),
    )
    seconds = time.perf_counter() - started
    return Timed(len(traces), seconds, moments[0], digest(evaluation), size(files), size((folder / "results").iterdir()))


def size(files: Iterable[Path]) -> int:
    """Add up the sizes of files, in bytes."""
    return sum(file.stat().st_size for file in files)


def engine(name: str, workers: int) -> str | Engine:
    """Open an engine by name."""
    return name if name == "local" else open_engine(name, workers=workers)


def digest(evaluation: Evaluation) -> str:
    """Hash all results, in order."""
    written = hashlib.sha256()
    for result in evaluation.results:
        written.update(json.dumps(result.to_dict(), sort_keys=True).encode())
    return written.hexdigest()


def in_a_process(case: str, way: tuple[str, int], *, count: int, seed: int) -> Timed:
    """Run one way in a process of its own."""
    words = [
        sys.executable,
        "-m",
        __spec__.name,
        "--case",
        case,
        "--way",
        way[0],
        str(way[1]),
        "--count",
        str(count),
        "--seed",
        str(seed),
    ]
    return Timed(**json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1]))  # noqa: S603


def compared(case: str, ways: Sequence[tuple[str, int]], *, count: int, rounds: int) -> list[list[str]]:
    """Let the ways take turns, and write a row for each."""
    found: dict[tuple[str, int], list[Timed]] = {way: [] for way in ways}
    for number in range(rounds):
        for way in ways[:: 1 if number % 2 == 0 else -1]:
            found[way].append(in_a_process(case, way, count=count // rounds, seed=number))
            print(f"round {number + 1}, {way}: {found[way][-1]}", file=sys.stderr, flush=True)
    return [_row(way, found) for way in ways]


def _row(way: tuple[str, int], found: dict[tuple[str, int], list[Timed]]) -> list[str]:
    name, workers = way
    mine, plain, single = found[way], found["local", workers], found.get((name, 1), [])
    seconds, beside, alone = (sum(each.seconds for each in runs) for runs in (mine, plain, single))
    same = all(a.digest == b.digest for a, b in zip(mine, plain, strict=True))
    return [
        name,
        str(workers),
        f"{sum(each.traces for each in mine):,}",
        f"{seconds:.0f}",
        f"{sum(each.traces for each in mine) / seconds:.1f}",
        f"{alone / seconds:.2f}" if single else "",
        f"{sum(each.first_s for each in mine) / len(mine):.1f}",
        "" if name == "local" else f"{seconds / beside - 1:+.1%}",
        "the same" if same else "DIFFERENT",
        f"{sum(each.given for each in mine) / sum(each.traces for each in mine):,.0f}",
        f"{sum(each.kept for each in mine) / sum(each.traces for each in mine):,.0f}",
    ]


@dataclass(slots=True)
class Watched:
    """A judge whose calls are timed: everything else about it is its own."""

    judge: Any
    calls: list[tuple[float, float]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.judge, name)

    def correctness(self, items: Any) -> Any:
        """Judge, and note when."""
        with self._noted():
            return self.judge.correctness(items)

    def locate(self, items: Any) -> Any:
        """Locate, and note when."""
        with self._noted():
            return self.judge.locate(items)

    def embed(self, texts: Any) -> Any:
        """Embed, and note when."""
        with self._noted():
            return self.judge.embed(texts)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            with self.lock:
                self.calls.append((began, time.perf_counter()))

    def busy(self) -> float:
        """Return the share of the time from the first call to the last in which a call was running."""
        calls = sorted(self.calls)
        covered, reached = 0.0, calls[0][0]
        for began, ended in calls:
            covered += max(0.0, ended - max(began, reached))
            reached = max(reached, ended)
        return covered / (reached - calls[0][0])


def busy(judge: str, workers: int, count: int) -> list[str]:
    """Evaluate with so many threads, and write how busy judge and processors were."""
    watched = Watched(open_scorer(judge))
    before, started = time.process_time(), time.perf_counter()
    evaluate(synthetic(count, seed=workers), measures=MEASURES, models=Models(judge=watched), workers=workers)
    used, seconds = time.process_time() - before, time.perf_counter() - started
    cores = usable_processors()
    return [str(workers), f"{count / seconds:.1f}", f"{watched.busy():.1%}", f"{used / seconds / cores:.1%}"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=["engines", "files", "busy"], default="engines", help="what to measure")
    parser.add_argument("--count", type=int, default=20_000, help="how many traces each way evaluates")
    parser.add_argument("--rounds", type=int, default=1, help="in how many turns")
    parser.add_argument("--workers", type=int, nargs="+", choices=[1, 2], default=[1, 2], help="workers of each engine")
    parser.add_argument("--judge", default="embedded", help="whose time is watched (busy)")
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--way", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        timed_run = run(options.case, options.way[0], int(options.way[1]), count=options.count, seed=options.seed)
        print(json.dumps({name: getattr(timed_run, name) for name in Timed.__slots__}))
    elif options.case == "busy":
        rows = [busy(options.judge, workers, options.count) for workers in (1, 2, 3)]
        show("How busy the judge is", ["threads", "traces/s", "judge busy", "processors used"], rows)
    else:
        rows = compared(
            options.case, [way for way in WAYS if way[1] in options.workers], count=options.count, rounds=options.rounds
        )
        header = [
            "engine",
            "workers",
            "traces",
            "seconds",
            "traces/s",
            "speed-up",
            "first block (s)",
            "Ray over local",
            "results",
            "bytes a trace",
            "bytes a result",
        ]
        show(f"Engines ({options.case})", header, rows)


if __name__ == "__main__":
    main()
