"""ΔSePer where an answer takes several passages: what a whole set is worth, and what it loses without each passage.

    python -m benchmarks.belief.passage_sets                # the figures: test questions, and sets nothing was trained on
    python -m benchmarks.belief.passage_sets --part train   # 2WikiMultihopQA's training questions, on which choices were made

The embedded reader reads each question *in steps*, where rules find its steps, and *as it stands*. Beside both stands the
*gold string*: is a reference, word for word, in the passages? For each set of questions are printed

- of the supporting passages together: their mean worth, for how many questions that is below .05 (nothing, by this measure),
  and for how many it is above that of equally many other passages of the question, drawn at random;
- Pearson's r of a passage's worth with its label (Dai et al., ICLR 2025: 1/steps for a supporting passage, where so many are
  needed, else 0): *by itself*, and *left out* of all passages that come with the question. For the gold string both are whether
  the passage has it.

Intervals: jackknife (shares) and bootstrap (r) over questions. Sets are never pooled: they differ in how many steps they take.

Data: shared folder.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.scores import by_cluster, correlation, moments
from benchmarks.support.supported_sets import Supported, supported_sets
from benchmarks.support.tables import arguments, percent, plain, show
from benchmarks.support.utilities import UtilityMeter
from rag_cover import Passage, RetrievalStep, Trace, open_entailer
from rag_cover.backends import Receiver
from rag_cover.belief.gold_strings import holds_answer
from rag_cover.belief.readings import answers_in
from rag_cover.belief.receivers import as_read
from rag_cover.belief.settings import UtilitySettings
from rag_cover.belief.stepwise_reading import Item
from rag_cover.stats.intervals import Interval, bootstrap, jackknife, jackknife_share
from rag_cover_embedded.reader import EmbeddedReader

Floats = NDArray[np.float64]

BLOCK = 25  # questions measured together
NOTHING = 0.05
GOLD_STRING = "gold string"


class AsItStands(EmbeddedReader):
    """The embedded reader without steps."""

    def answers(self, items: Sequence[Item]) -> list[dict[str, float]]:
        """Read each question once, as it is."""
        return [answers_in(readings) for readings in self.read(items)]


@dataclass(slots=True)
class Worth:
    """What one way makes of the questions of a set: of (questions,) the sets, of (passages,) the passages."""

    supporting: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    left_out: list[float] = field(default_factory=list)


def _others(row: Supported, seed: int) -> tuple[Passage, ...]:
    """Draw as many passages that do not support the answer as there are that do."""
    needed = sum(label > 0 for label in row.labels)
    rest = [passage for passage, label in zip(row.passages, row.labels, strict=True) if label == 0]
    return tuple(random.Random(f"{seed}:{row.question}").sample(rest, min(needed, len(rest))))  # noqa: S311


def _supporting(row: Supported) -> tuple[Passage, ...]:
    return tuple(passage for passage, label in zip(row.passages, row.labels, strict=True) if label > 0)


def measure_worth(rows: Sequence[Supported], meter: UtilityMeter, n: int, seed: int) -> Worth:
    """Measure sets and passages by ΔSePer."""
    whole, by_itself, left_out = (
        UtilitySettings(n=n, per_passage=each, seed=seed) for each in (None, "add-one-in", "leave-one-out")
    )
    worth = Worth()
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        for found, sets in ((worth.supporting, map(_supporting, block)), (worth.others, (_others(row, seed) for row in block))):
            traces = [_trace(row, passages) for row, passages in zip(block, sets, strict=True)]
            found += [each.total.value for each in meter.of_traces(traces, whole)]
        worth.alone += meter.of_passages(block, by_itself)
        worth.left_out += meter.of_passages(block, left_out)
        print(f"{min(start + BLOCK, len(rows))} of {len(rows)} questions", file=sys.stderr)
    return worth


def _trace(row: Supported, passages: Sequence[Passage]) -> Trace:
    return Trace(question=row.trace.question, steps=(RetrievalStep(query=row.question, passages=tuple(passages)),))


def by_gold_string(rows: Sequence[Supported], seed: int) -> Worth:
    """Value sets and passages by whether a reference stands in them."""
    worth = Worth()
    for row in rows:
        found = {passage.key: float(holds_answer([as_read(passage)], row.references)) for passage in row.passages}
        worth.supporting.append(max(found[passage.key] for passage in _supporting(row)))
        worth.others.append(max((found[passage.key] for passage in _others(row, seed)), default=0.0))
        worth.alone += [found[passage.key] for passage in row.passages]
    worth.left_out = worth.alone
    return worth


def _share(holds: Floats) -> Interval | None:
    return jackknife_share(np.stack([holds, np.ones(len(holds))], axis=1), lambda sums: sums[..., 0] / sums[..., 1])


def _mean(values: Floats) -> Interval | None:
    rows = np.stack([values, np.ones(len(values))], axis=1)
    return jackknife(rows, lambda sums: sums[..., 0] / sums[..., 1], low=-1.0, high=1.0)


def _correlation(values: Sequence[float], rows: Sequence[Supported], seed: int) -> Interval | None:
    owners = np.repeat(np.arange(len(rows)), [len(row.labels) for row in rows]).tolist()
    labels = [label for row in rows for label in row.labels]
    return bootstrap(by_cluster(moments(labels, values), owners), correlation, seed=seed)


def show_worth(name: str, rows: Sequence[Supported], ways: Mapping[str, Worth], seed: int) -> None:
    """Print what each way makes of a set."""
    lines = []
    for way, worth in ways.items():
        supporting, others = np.array(worth.supporting), np.array(worth.others)
        lines.append(
            [
                way,
                plain(_mean(supporting)),
                percent(_share((supporting < NOTHING).astype(float))),
                percent(_share((supporting > others).astype(float))),
                plain(_correlation(worth.alone, rows, seed)),
                plain(_correlation(worth.left_out, rows, seed)),
            ]
        )
    header = ["worth by", "of the supporting", "below .05, %", "above others, %", "r, by itself", "r, left out"]
    show(f"{name}: n = {len(rows)} questions, {sum(len(row.labels) for row in rows)} passages", header, lines)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=["test", "train"], default="test", help="train: 2WikiMultihopQA alone")
    parser.add_argument("--samples", type=int, default=10, help="answers sampled with each set of passages")
    options = parser.parse_args()
    entailer = open_entailer("embedded")
    receivers: Mapping[str, Receiver] = {"ΔSePer, in steps": EmbeddedReader(), "ΔSePer, as it stands": AsItStands()}
    for name, rows in supported_sets(options.data, options.limit, options.seed, options.part).items():
        ways = {
            way: measure_worth(rows, UtilityMeter(receiver, entailer), options.samples, options.seed)
            for way, receiver in receivers.items()
        }
        show_worth(name, rows, {**ways, GOLD_STRING: by_gold_string(rows, options.seed)}, options.seed)


if __name__ == "__main__":
    main()
