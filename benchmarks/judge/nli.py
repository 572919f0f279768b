"""Does the judge see what follows from what? Natural-language inference, per source.

    python -m benchmarks.judge.nli

Test premises (buckets 80-99) of ``nli/train.jsonl.gz``, per source: 3-way accuracy by the likeliest class, 2-way accuracy
(entailment or not) by P(entailment) at 0.5; against the majority class of the same rows, and against *word overlap*: says
entailment where the premise repeats at least so large a share of the hypothesis' content words, the share fitted on training
premises of the same source. QNLI asks whether a sentence answers a question and is what the answers head is for: it is
measured as coverage at the shipped threshold, on questions that no training article of the SQuAD file repeats.

Intervals are Wilson's; the mean of SNLI and MNLI has a bootstrap over premises.

Data: shared folder.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import sample, squad_articles
from benchmarks.support.judges import overlap
from benchmarks.support.scores import best_cut, estimate, ratio
from benchmarks.support.tables import arguments, percent, show
from rag_cover import open_entailer, open_scorer
from rag_cover.backends import Entailer, Scorer, ScoringItem
from rag_cover.stats.intervals import wilson
from rag_cover_embedded.training.splits import trains_by_document

CLASSES = ("entailment", "neutral", "contradiction")
CUT = 0.5
FITTED_ON = 2_000

Row = dict[str, Any]
Verdicts = NDArray[np.bool_]


def read_rows(data: Path) -> dict[str, dict[bool, list[Row]]]:
    """Read the file: rows by source, then by whether they may train."""
    found: dict[str, dict[bool, list[Row]]] = {}
    with gzip.open(data / "nli/train.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            parts = found.setdefault(row["source"], {True: [], False: []})
            parts[trains_by_document(row["premise"])].append(row)
    return dict(sorted(found.items()))


def majority(labels: Sequence[str]) -> int:
    """Count how often the most frequent label is right."""
    return Counter(labels).most_common(1)[0][1]


def by_overlap(train: Sequence[Row], test: Sequence[Row]) -> Verdicts:
    """Say entailment where the premise repeats enough of the hypothesis."""
    cut = best_cut(_overlaps(train), np.array([row["label"] == CLASSES[0] for row in train]))
    return _overlaps(test) >= cut


def _overlaps(rows: Sequence[Row]) -> NDArray[np.float64]:
    return np.array([overlap(row["hypothesis"], row["premise"]) for row in rows])


def _share(right: Verdicts | int, n: int) -> str:
    return percent(wilson(int(np.sum(right)), n))


def measured(source: str, train: Sequence[Row], test: Sequence[Row], entailer: Entailer) -> tuple[list[str], Verdicts]:
    """Measure one source: its line of the table, and which rows are right (3-way where the source is)."""
    found = entailer.entail([(row["premise"], row["hypothesis"]) for row in test])
    labels = [row["label"] for row in test]
    entailed = np.array([label == CLASSES[0] for label in labels])
    two_way = (found[:, 0] >= CUT) == entailed
    words = by_overlap(train, test) == entailed
    n, two_classes = len(test), ["entailed" if each else "not" for each in entailed]
    line = [_share(two_way, n), _share(majority(two_classes), n), _share(words, n)]
    if any(row["scheme"] != "3way" for row in test):
        return [source, str(n), "-", "-", *line], two_way
    right = np.array([CLASSES[place] for place in found.argmax(axis=1)]) == np.array(labels)
    return [source, str(n), _share(right, n), _share(majority(labels), n), *line], right


def show_mean(rows: dict[str, Sequence[Row]], right: dict[str, Verdicts], seed: int) -> None:
    """Print the mean of the accuracies on SNLI and MNLI."""
    sources = ("snli", "mnli")
    keys = [row["premise"] for source in sources for row in rows[source]]
    sums = np.concatenate([_counted(right[source], place) for place, source in enumerate(sources)])

    def mean(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(ratio(totals[..., :2], totals[..., 2:]).mean(axis=-1))

    print(f"\nMean of SNLI and MNLI, 3-way: {percent(estimate(sums, keys, mean, seed=seed))} (n = {len(keys)})")


def _counted(right: Verdicts, place: int) -> NDArray[np.float64]:
    """Return (n, 4): right and counted, of the first source and of the second."""
    columns = np.zeros((len(right), 4))
    columns[:, place], columns[:, 2 + place] = right, 1
    return columns


def show_qnli(data: Path, test: Sequence[Row], scorer: Scorer, limit: int | None, seed: int) -> None:
    """Print how well the answers head tells answering sentences, leaving out questions that trained it through SQuAD."""
    seen = {
        _letters(question["question"])
        for article in squad_articles(data, "train")
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    }
    rows = sample([row for row in test if _letters(row["premise"]) not in seen], limit, seed)
    truth = np.array([row["label"] == CLASSES[0] for row in rows])
    probabilities = scorer.correctness([ScoringItem(row["premise"], row["hypothesis"]) for row in rows])
    shares = np.array([overlap(row["premise"], row["hypothesis"]) for row in rows])
    n = len(rows)
    line = [
        _share((probabilities >= scorer.threshold) == truth, n),
        _share((probabilities >= CUT) == truth, n),
        _share(majority([str(each) for each in truth]), n),
        _share((shares >= best_cut(shares, truth)) == truth, n),
    ]
    cuts = [f"at the shipped {scorer.threshold:g} %", f"at {CUT:g} %"]
    show(f"QNLI as coverage: n = {n}", [*cuts, "majority %", "word overlap, best cut on these rows %"], [line])


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    rows = read_rows(options.data)
    qnli = rows.pop("qnli")
    test = {source: sample(parts[False], options.limit, options.seed) for source, parts in rows.items()}
    train = {source: sample(parts[True], FITTED_ON, options.seed) for source, parts in rows.items()}
    entailer = open_entailer(options.judge)
    lines, right = [], {}
    for source, found in test.items():
        line, right[source] = measured(source, train[source], found, entailer)
        lines.append(line)
    header = ["source", "n", "3-way %", "majority %", "2-way %", "majority, 2-way %", "word overlap, 2-way %"]
    show("Entailment", header, lines)
    show_mean(test, right, options.seed)
    show_qnli(options.data, qnli[False], open_scorer(options.judge), options.limit, options.seed)


if __name__ == "__main__":
    main()
