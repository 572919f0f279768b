"""Which answer probability should a passage reach for a question to be answerable, on small corpora in everyday words?

    python -m benchmarks.complexity.answerable_by_threshold

The threshold that ships (``t_ans``) was fitted on questions to Wikipedia, which repeat a passage's words more often. Here the
written collections that no weights were trained on (`training/texts/subjects.jsonl`: FAQ pages, handbooks, manuals, articles)
are asked their questions, ten passages each by the embedded retriever. Printed is, by threshold, the share called answerable:
of questions with an answering passage among the ten, of the same questions with every answering passage taken out, and of
those that no passage answers. Questions of several parts are left out, and those that a passage answers in part only.

Data: none (texts in the repository).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.support.datasets import lines
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Passage, build_retriever, open_scorer
from rag_cover.backends import Retriever, Scorer
from rag_cover.complexity import complexity_of
from rag_cover.routing.evidence import steps_in
from rag_cover.stats.intervals import wilson
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.subjects import FILE, is_kept_from_weights

K, MORE = 10, 4
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.86)
ANSWERED, TAKEN_OUT, UNANSWERED = "a passage answers it", "that passage taken out", "no passage answers it"


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    scorer = open_scorer("embedded")
    kept = [row for row in lines(TEXTS / FILE) if is_kept_from_weights(row["domain"])][: options.limit]
    best: dict[str, list[float]] = defaultdict(list)
    for row in kept:
        for kind, probability in ask(row, scorer):
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


def ask(row: Mapping[str, Any], scorer: Scorer) -> Iterator[tuple[str, float]]:
    """Ask the questions of a corpus: what kind each is, and the answer probability of its best passage."""
    retriever = build_retriever("embedded", [Passage(each["text"], id=each["id"]) for each in row["passages"]])
    for each in row["questions"]:
        if steps_in(each["question"]) or (each["partly_by"] and not each["answered_by"]):
            continue
        for kind, passages in retrieved(each, retriever):
            found = complexity_of(each["question"], passages, scorer, references=())
            yield kind, found.max_answer_probability or 0.0


def retrieved(asked: Mapping[str, Any], retriever: Retriever) -> Iterator[tuple[str, Sequence[Passage]]]:
    """Retrieve with the answering passages and without; a question whose answering passages are not found counts nowhere."""
    found = list(retriever.retrieve(asked["question"], k=K + MORE))
    if not asked["answered_by"]:
        yield UNANSWERED, found[:K]
        return
    if not any(passage.id in asked["answered_by"] for passage in found[:K]):
        return
    yield ANSWERED, found[:K]
    telling = {*asked["answered_by"], *asked["partly_by"]}
    yield TAKEN_OUT, [passage for passage in found if passage.id not in telling][:K]


if __name__ == "__main__":
    main()
