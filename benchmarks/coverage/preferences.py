"""Is the answer of higher core coverage the one that people called more complete? Pairs of answers, RAGChecker.

    python -m benchmarks.coverage.preferences

Two answers to a question, and which of them people found more complete. Decided pairs alone; an equal score counts half:

- *core coverage*: sub-questions by rules, the shipped threshold;
- *mean probability* that the core sub-questions are answered: few answers have equal ones;
- *against the gold answer*: P(the answer agrees with it), by the head for correctness;
- *length*, in words, is what they must beat: longer answers are called more complete.

Differences to length are paired; intervals are bootstraps over questions.

Data: shared folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines, sample
from benchmarks.support.scores import mean
from benchmarks.support.tables import arguments, percent, show
from rag_cover import open_scorer
from rag_cover.backends import Scorer, ScoringItem, reply_threshold_of
from rag_cover.coverage import decompose
from rag_cover.questions import Role

Floats = NDArray[np.float64]
SIDES = ("model1", "model2")


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    rows = [row for row in lines(options.data / "coverage/ragchecker_preferences_part.jsonl") if row["completeness_label"]]
    show_scores(sample(rows, options.limit, options.seed), open_scorer(options.judge), options.seed)


def show_scores(rows: Sequence[Mapping[str, Any]], scorer: Scorer, seed: int) -> None:
    """Print how often the answer with the higher score is the one that people preferred."""
    second = np.array([row["completeness_label"] > 0 for row in rows])
    keys = [row["query"] for row in rows]
    agreed = {name: _agreed(scores, second) for name, scores in scores_of(rows, scorer).items()}
    table = [
        [
            name,
            percent(mean(values, keys, seed=seed)),
            f"{(values == 0.5).mean():.0%}",  # noqa: PLR2004  # equal
            percent(mean(values - agreed["length"], keys, seed=seed)) if name != "length" else "",
        ]
        for name, values in agreed.items()
    ]
    title = f"Which answer is more complete? n = {len(rows)} decided pairs of {len(set(keys))} questions"
    show(title, ["higher score", "people's choice %", "equal", "difference to length"], table)


def scores_of(rows: Sequence[Mapping[str, Any]], scorer: Scorer) -> dict[str, Floats]:
    """Return (pairs, 2) scores of each kind."""
    answers = [(row, row[side]["response"]) for row in rows for side in SIDES]
    asked = [[sub.text for sub in decompose(row["query"]) if sub.role is Role.CORE] or [row["query"]] for row, _ in answers]
    items = [
        ScoringItem(question, text, user_question=row["query"])
        for (row, text), questions in zip(answers, asked, strict=True)
        for question in questions
    ]
    found = scorer.correctness(items).astype(np.float64)
    ends = np.cumsum([len(questions) for questions in asked])
    parts = np.split(found, ends[:-1])
    gold = scorer.correctness([ScoringItem(row["query"], text, (row["gt_answer"],)) for row, text in answers])
    cut = reply_threshold_of(scorer)
    scores = {
        "core coverage": [float((part >= cut).mean()) for part in parts],
        "mean probability": [float(part.mean()) for part in parts],
        "against the gold answer": gold.astype(np.float64).tolist(),
        "length": [float(len(text.split())) for _, text in answers],
    }
    return {name: np.array(values).reshape(-1, 2) for name, values in scores.items()}


def _agreed(scores: Floats, second: NDArray[np.bool_]) -> Floats:
    """Return 1 where the preferred answer has the higher score, 0.5 where both are equal, else 0."""
    first_is_higher = (scores[:, 0] > scores[:, 1]) + 0.5 * (scores[:, 0] == scores[:, 1])
    return np.where(second, 1 - first_is_higher, first_is_higher)


if __name__ == "__main__":
    main()
