"""Do answer relevance and context relevance agree with people?

    python -m benchmarks.relevance.agreement --limit 300        # so many rows of each source

1. Answer relevance: the replies in the test split of ``judge/answers``, by source: ROC-AUC of the measure for the labels (does
   the reply answer the question?), beside the cosine of the embeddings of question and reply, and the share of the question's
   words in the reply.
2. Context relevance: the passages of the same split, one at a time: ROC-AUC of P(the passage answers the question), beside the
   same.

PubMedQA is left out: none of its labels is a person's. Intervals are bootstraps over questions.

Data: shared folder.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.judge.natural_texts import by_source
from benchmarks.support.judges import overlap
from benchmarks.support.scores import auc
from benchmarks.support.tables import arguments, plain, show
from rag_cover import Models, Passage, RetrievalStep, Trace, evaluate, open_embedder, open_scorer
from rag_cover.backends import ScoringItem
from rag_cover_embedded.training.natural import REPLY_KINDS

Floats = NDArray[np.float64]
Rows = Sequence[dict[str, Any]]
MOST = 300
FEWEST = 30


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    rng = random.Random(options.seed)  # noqa: S311  # samples, not secrets
    sources = by_source(options.data / "judge/answers.jsonl.gz", rng, options.limit or MOST)
    rows = [row | {"source": name} for name, several in sources.items() for row in several if name != "pubmedqa"]
    models = Models(judge=options.judge)
    for title, is_reply in (("answer_relevance", True), ("context_relevance", False)):
        chosen = [row for row in rows if (row["kind"] in REPLY_KINDS) == is_reply]
        show_measure(title, chosen, scores_of(title, chosen, models), options.judge, options.seed)


def scores_of(measure: str, rows: Rows, models: Models) -> Floats:
    """Score each row: a reply by the measure itself, a single passage by the probability behind it."""
    if measure == "answer_relevance":
        traces = [Trace(question=row["question"], answer=row["text"]) for row in rows]
        return np.array([result[measure].value for result in evaluate(traces, measures=[measure], models=models).results])
    traces = [Trace(question=row["question"], steps=(RetrievalStep(passages=(Passage(row["text"]),)),)) for row in rows]
    counted = np.array([result[measure].value for result in evaluate(traces, measures=[measure], models=models).results])
    probabilities = open_scorer(str(models.judge)).correctness([ScoringItem(row["question"], row["text"]) for row in rows])
    cut = open_scorer(str(models.judge)).threshold
    if not np.array_equal(counted, probabilities >= cut):
        message = "the measure does not count what the scorer says"
        raise AssertionError(message)
    return probabilities.astype(np.float64)


def show_measure(title: str, rows: Rows, scores: Floats, judge: str, seed: int) -> None:
    """Print the AUCs by source, and their means."""
    embedder = open_embedder(judge)
    asked, said = (embedder.embed([row[name] for row in rows]) for name in ("question", "text"))
    ways = {
        "judge": scores,
        "cosine": (asked * said).sum(axis=1).astype(np.float64),
        "words": np.array([overlap(row["question"], row["text"]) for row in rows]),
    }
    labels = np.array([row["label"] for row in rows], dtype=bool)
    table, found = [], []
    for name in dict.fromkeys(row["source"] for row in rows):
        mine = np.array([row["source"] == name for row in rows])
        if min(labels[mine].sum(), (~labels[mine]).sum()) < FEWEST:
            continue
        questions = [row["question"] for row, own in zip(rows, mine, strict=True) if own]
        areas = [auc(values[mine], labels[mine], questions, seed=seed) for values in ways.values()]
        found.append([area.estimate for area in areas if area])
        table.append([name, str(int(mine.sum())), *map(plain, areas)])
    means = np.mean(found, axis=0)
    table.append([f"mean of {len(found)} sources", "", *(f"{mean:.3f}" for mean in means)])
    show(f"{title}: ROC-AUC against the labels", ["source", "n", *ways], table)


if __name__ == "__main__":
    main()
