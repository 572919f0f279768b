"""Which answer probability should a passage reach for a question to be answerable, on small corpora in everyday words?

    python -m benchmarks.complexity.answerable_by_threshold

The threshold that ships for questions whose words name no hops (``t_ans_single_hop``) was fitted on questions to Wikipedia and
on every second of the written collections that no weights were trained on (`training/texts/subjects.jsonl`: FAQ pages,
handbooks, manuals, articles). Here the other ones are asked their questions, ten passages each by the embedded retriever.
Printed is, by threshold, the share called answerable: of questions with an answering passage among the ten, of the same
questions with every answering passage taken out, and of those that no passage answers. Questions of several parts are left
out, and those that a passage answers in part only.

Data: none (texts in the repository).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.support.answerable import ANSWERED, TAKEN_OUT, UNANSWERED, load_corpora, probabilities_in
from benchmarks.support.tables import arguments, percent, show
from rag_cover import open_scorer
from rag_cover.stats.intervals import wilson

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.86)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    scorer = open_scorer("embedded")
    kept = load_corpora("test")[: options.limit]
    best: dict[str, list[float]] = defaultdict(list)
    for row in kept:
        for kind, probability in probabilities_in(row, scorer):
            best[kind].append(probability)
    show(
        f"Called answerable, in percent: {len(kept)} corpora",
        ["questions", "n", *(f"from {threshold}" for threshold in THRESHOLDS)],
        [[kind, str(len(best[kind])), *cells(best[kind])] for kind in (ANSWERED, TAKEN_OUT, UNANSWERED)],
    )


def cells(best: Sequence[float]) -> list[str]:
    """Write the share above each threshold."""
    reached = [int((np.array(best) >= threshold).sum()) for threshold in THRESHOLDS]
    return [percent(wilson(count, len(best))) for count in reached]


if __name__ == "__main__":
    main()
