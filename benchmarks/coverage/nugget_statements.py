"""Does the judge see which statements a text makes? Key points and claims that people held against texts, per source.

    python -m benchmarks.coverage.nugget_statements --limit 300

Test rows of ``judge/entailment.jsonl.gz``: crowd workers' majority on whether an argument makes a key point (kpa), and whether
a passage of the web supports a claim (factcheck_gpt). Four ways of asking whether a text states a nugget: the entailment head
with the text as premise; the correctness head with the nugget as reference; the answers head with the nugget as a question ("Is
it true that …?"); and the share of the nugget's content words that the text has. For each, the area under the ROC curve, with a
bootstrap over topics and claims, and what is seen of either side at its own cut (words: 0.5), with Wilson's intervals.

Data: shared folder.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import sample
from benchmarks.support.judges import overlap
from benchmarks.support.scores import auc
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import open_entailer, open_scorer
from rag_cover.backends import Entailer, Scorer, ScoringItem
from rag_cover.statements import STATED
from rag_cover.stats.intervals import wilson

SOURCES = ("kpa", "factcheck_gpt")
STATES = ("supported", "entailment")

Row = dict[str, Any]
Ways = dict[str, tuple[NDArray[np.float64], float]]


def read_rows(data: Path) -> list[Row]:
    """Read the rows that are for testing."""
    with gzip.open(data / "judge/entailment.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["split"] == "test"]


def ways_of_asking(rows: Sequence[Row], entailer: Entailer, scorer: Scorer) -> Ways:
    """Return what each way of asking says of the rows, and its cut."""
    as_references = [ScoringItem("What does the text say?", row["premise"], (row["hypothesis"],)) for row in rows]
    as_questions = [ScoringItem(f"Is it true that {row['hypothesis'].rstrip('.')}?", row["premise"]) for row in rows]
    return {
        "entailment": (entailer.entail([(row["premise"], row["hypothesis"]) for row in rows])[:, 0], STATED),
        "correctness": (scorer.correctness(as_references), 0.5),
        "question": (scorer.correctness(as_questions), scorer.threshold),
        "shared words": (np.array([overlap(row["hypothesis"], row["premise"]) for row in rows]), 0.5),
    }


def line_of(rows: Sequence[Row], name: str, said: NDArray[np.float64], cut: float, seed: int) -> list[str]:
    """Measure one way of asking."""
    truth = np.array([row["label"] in STATES for row in rows])
    yes = said >= cut
    recalls = [wilson(int((yes == truth)[truth == side].sum()), int((truth == side).sum())) for side in (True, False)]
    area = auc(said, truth, [row["group"] for row in rows], seed=seed)
    return [name, f"{cut:.2f}", plain(area), *map(percent, recalls)]


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    rows = read_rows(options.data)
    entailer, scorer = open_entailer(options.judge), open_scorer(options.judge)
    for source in SOURCES:
        found = sample([row for row in rows if row["source"] == source], options.limit, options.seed)
        measured = ways_of_asking(found, entailer, scorer)
        table = [line_of(found, name, said, cut, options.seed) for name, (said, cut) in measured.items()]
        show(f"{source}: n = {len(found)}", ["asked by", "cut", "area", "stated, seen %", "not stated, seen %"], table)


if __name__ == "__main__":
    main()
