"""How fast coverage is judged, what that loses, and how much memory it takes.

    python -m benchmarks.coverage.throughput --case short     # 500 traces × 8 sub-questions × (5 passages + an answer)
    python -m benchmarks.coverage.throughput --case long      # 50 documents of 20,000 words × 20 sub-questions
    python -m benchmarks.coverage.throughput --case growth    # from 500 to 5,000 traces, into a store

Traces are made from ``multihop/`` questions that were never trained on; at least 20% of the (sub-question, text) pairs are
covered (printed). Three ways to judge them with the same network, interleaved in one process:

- *proposed*: the shipped judge, whose first stage chooses the windows that are read, through `evaluate`;
- *batched, every window*: the same with ``exhaustive=True``, on all traces or on ``--exhaustive`` of them, scaled;
- *one at a time*: one pass of the cross-encoder for each (sub-question, window), tokenised alone, with no first stage: the
  plain way, timed on ``--calls`` random pairs, scaled. Beside it the same pairs through the judge that reads every window,
  one item a call, which runs its first stage too.

Kept are the verdicts of *batched, every window*, on the traces that both judged. Peak memory is that of a process of its own
that judges by the first way, growth likewise: time should grow with the number of traces, memory should not.

Data: shared folder.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.support.judges import opened_weights
from benchmarks.support.peak_memory import peak_bytes
from benchmarks.support.scores import counts, ratio
from benchmarks.support.tables import arguments, percent, plain, show
from benchmarks.support.traces import Material, texts_of, traces
from rag_cover import Models, Trace, evaluate, open_scorer
from rag_cover.backends import Scorer, ScoringItem, Span
from rag_cover.measures import TraceResult
from rag_cover.stats.intervals import Interval, bootstrap
from rag_cover_embedded.answers import WINDOW
from rag_cover_embedded.inputs import Task, join, open_tokenizer
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.segments import segment_texts
from rag_cover_embedded.session import Session

Floats = NDArray[np.float64]
Verdicts = NDArray[np.bool_]

COUNT = {"short": 500, "long": 50}
ROUND = {"short": 64, "long": 1}
EXHAUSTIVE = {"short": 500, "long": 10}
MEASURED_FOR_MEMORY = {"short": 200, "long": 5}


@dataclass(slots=True)
class Timing:
    """What the three ways took, and how the verdicts of the two whole ones compare (a row of counts per trace)."""

    traces: int = 0
    pairs: int = 0
    windows: int = 0
    words: int = 0
    proposed_s: float = 0.0
    exhaustive_s: float = 0.0
    exhaustive_traces: int = 0
    exhaustive_windows: int = 0
    passes_s: list[float] = field(default_factory=list)
    calls_s: list[float] = field(default_factory=list)
    kept: list[Floats] = field(default_factory=list)


def verdicts_of(result: TraceResult) -> Verdicts:
    """Return the verdicts on every (sub-question, text) of a trace, in one row."""
    found = result.coverage
    if found is None:
        message = f"trace {result.trace.id} has no coverage: {dict(result.outcomes)}"
        raise RuntimeError(message)
    each = [(*(row.chunks or ()), *((row.answer,) if row.answer else ())) for row in found.sub_questions]
    return np.array([verdict.covered for row in each for verdict in row])


def judged(block: Sequence[Trace], judge: Scorer) -> tuple[float, list[Verdicts]]:
    """Judge traces and time it."""
    began = time.perf_counter()
    results = evaluate(block, measures=["coverage"], models=Models(judge=judge), on_error="raise").results
    return time.perf_counter() - began, [verdicts_of(result) for result in results]


def passed(items: Iterable[ScoringItem], session: Session, tokenizer: Tokenizer) -> Iterator[float]:
    """Run the cross-encoder over items, one at a time, and time each."""
    for item in items:
        began = time.perf_counter()
        ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in (item.question, item.text)]
        session.run([join(Task.ANSWERS, *ids)], ["answers"])
        yield time.perf_counter() - began


def called(items: Iterable[ScoringItem], judge: Scorer) -> Iterator[float]:
    """Judge items one at a time and time each call."""
    for item in items:
        began = time.perf_counter()
        judge.correctness([item])
        yield time.perf_counter() - began


def window_items(block: Sequence[Trace], tokenizer: Tokenizer) -> list[ScoringItem]:
    """List every (sub-question, window) pair of traces."""
    found = []
    for trace in block:
        texts = texts_of(trace)
        for text, cut in zip(texts, segment_texts(tokenizer, texts), strict=True):
            spans = [Span(cut.sentences[first].start, cut.sentences[stop - 1].end) for first, stop in cut.windows(WINDOW)]
            found += [ScoringItem(each.text, span.of(text)) for each in trace.sub_questions or () for span in spans]
    return found


def measure(options: argparse.Namespace, count: int) -> Timing:
    """Judge all traces in the three ways, round by round; the two whole ways take turns at going first."""
    weights = opened_weights(options.judge)
    session, tokenizer = Session(weights.network), open_tokenizer(weights.tokenizer)
    proposing, exhaustive = open_scorer(options.judge), open_scorer(options.judge, exhaustive=True)
    single = EmbeddedJudge(weights.folder, exhaustive=True)  # so that no way profits from what another remembers
    for judge in (proposing, exhaustive, single):
        judge.correctness([ScoringItem("Who?", "Nobody.")])
    rng = random.Random(options.seed)  # noqa: S311  # a sample, not a secret
    made = traces(Material.read(options.data), options.case, count, options.seed)
    timing, size = Timing(), ROUND[options.case]
    calls = -(-options.calls // -(-count // size))
    while block := list(islice(made, size)):
        items = window_items(block, tokenizer)
        chosen = rng.sample(items, min(calls, len(items)))
        timing.passes_s += passed(chosen, session, tokenizer)
        timing.calls_s += called(chosen, single)
        if timing.traces < options.exhaustive:
            _both(block, len(items), (proposing, exhaustive), timing)
        else:
            timing.proposed_s += judged(block, proposing)[0]
        timing.traces += len(block)
        timing.windows += len(items)
        timing.pairs += sum(len(trace.sub_questions or ()) * len(texts_of(trace)) for trace in block)
        timing.words += sum(len(text.split()) for trace in block for text in texts_of(trace))
        print(f"{timing.traces} of {count} traces", file=sys.stderr)
    return timing


def _both(block: Sequence[Trace], windows: int, judges: tuple[Scorer, Scorer], timing: Timing) -> None:
    turns = judges if len(timing.kept) % 2 else judges[::-1]
    runs = {judge: judged(block, judge) for judge in turns}
    (proposed_s, said), (exhaustive_s, truth) = (runs[judge] for judge in judges)
    timing.proposed_s += proposed_s
    timing.exhaustive_s += exhaustive_s
    timing.exhaustive_traces += len(block)
    timing.exhaustive_windows += windows
    timing.kept += [counts(mine, whole).sum(axis=0) for mine, whole in zip(said, truth, strict=True)]


def show_speed(timing: Timing) -> None:
    """Print how fast each way is, and how much faster than one call at a time."""
    plainly, calls = _mean_of(timing.passes_s), _mean_of(timing.calls_s)
    seconds = {
        f"one at a time ({len(timing.passes_s)} passes, scaled)": plainly.estimate * timing.windows,
        f"one at a time, by the judge ({len(timing.calls_s)} calls, scaled)": calls.estimate * timing.windows,
    }
    if timing.exhaustive_traces:
        scaled = timing.exhaustive_s / timing.exhaustive_windows * timing.windows
        seconds[f"batched, every window ({timing.exhaustive_traces} traces, scaled)"] = scaled
    seconds[f"proposed ({timing.traces} traces)"] = timing.proposed_s
    rows = []
    for name, taken in seconds.items():
        faster = Interval(*(None if value is None else value * timing.windows / taken for value in _bounds(plainly)), 0)
        speeds = [f"{value / taken:,.2f}" for value in (timing.traces, timing.pairs, timing.windows)]
        rows.append([name, f"{taken:,.1f}", *speeds, plain(faster, digits=1)])
    sizes = (
        f"{timing.traces} traces, {timing.pairs:,} (sub-question, text) pairs, {timing.windows:,} (sub-question, window) pairs"
    )
    header = ["way", "seconds", "traces/s", "pairs/s", "windows/s", "times as fast as one at a time"]
    show(f"{sizes}, {timing.words / timing.traces:,.0f} words a trace", header, rows)


def show_kept(timing: Timing, seed: int) -> None:
    """Print how many verdicts of the exhaustive way the proposed one keeps."""
    rows = np.array(timing.kept)
    covered = bootstrap(rows, lambda sums: ratio(sums[..., 0] + sums[..., 2], sums.sum(axis=-1)), seed=seed)
    positive = bootstrap(rows, lambda sums: ratio(sums[..., 0], sums[..., 0] + sums[..., 2]), seed=seed)
    alike = bootstrap(rows, lambda sums: ratio(sums[..., 0] + sums[..., 3], sums.sum(axis=-1)), seed=seed)
    title = f"Verdicts kept: n = {rows.sum():,.0f} pairs of {len(rows)} traces, {rows[:, [0, 2]].sum():,.0f} of them covered"
    line = [percent(covered), percent(positive, digits=2), percent(alike, digits=2)]
    show(title, ["covered pairs %", "positive verdicts kept %", "all verdicts kept %"], [line])


def _mean_of(values: Sequence[float]) -> Interval:
    found = bootstrap(np.stack([values, np.ones(len(values))], axis=1), lambda sums: ratio(sums[..., 0], sums[..., 1]))
    return found or Interval(float("nan"), None, None, 0)


def _bounds(interval: Interval) -> tuple[float, float | None, float | None]:
    return interval.estimate, interval.lower, interval.upper


def point(options: argparse.Namespace) -> None:
    """Judge ``--point`` traces into a store and print what it took: run in a process of its own."""
    judge = open_scorer(options.judge)
    made = traces(Material.read(options.data), options.case, options.point, options.seed)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        evaluate(made, measures=["coverage"], models=Models(judge=judge), store=Path(folder) / "store.sqlite", on_error="raise")
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "bytes": peak_bytes()}))


def show_points(options: argparse.Namespace, case: str, counts_of: Sequence[int]) -> None:
    """Print time and peak memory of evaluations of so many traces, each in a process of its own."""
    rows = []
    for count in counts_of:
        given = ["--case", case, "--judge", options.judge, "--data", str(options.data), "--seed", str(options.seed)]
        command = [sys.executable, "-m", __spec__.name, *given, "--point", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # this script itself
        found = json.loads(done.stdout.splitlines()[-1])
        each = 1000 * found["seconds"] / count
        rows.append([f"{count:,}", f"{found['seconds']:,.1f}", f"{each:,.1f}", f"{found['bytes'] / 2**20:,.0f}"])
    show(f"Evaluated into a store, case {case}", ["traces", "seconds", "ms a trace", "peak memory, MiB"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--case", choices=["short", "long", "growth"], default="short")
    parser.add_argument("--traces", type=int, default=COUNT["short"], help="of the short case")
    parser.add_argument("--documents", type=int, default=COUNT["long"], help="of the long case")
    parser.add_argument("--exhaustive", type=int, help="how many traces to judge by every window too (default: 500, long 10)")
    parser.add_argument("--calls", type=int, default=400, help="how many pairs to judge one at a time")
    parser.add_argument("--growth-traces", default="500,5000", help="the numbers of traces of the growth case")
    parser.add_argument("--point", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.point:
        point(options)
    elif options.case == "growth":
        show_points(options, "short", [int(count) for count in options.growth_traces.split(",")])
    else:
        count = options.limit or (options.traces if options.case == "short" else options.documents)
        options.exhaustive = EXHAUSTIVE[options.case] if options.exhaustive is None else options.exhaustive
        timing = measure(options, count)
        show_speed(timing)
        if timing.kept:
            show_kept(timing, options.seed)
        show_points(options, options.case, [min(count, MEASURED_FOR_MEMORY[options.case])])


if __name__ == "__main__":
    main()
