"""Does claim recall name the answer that people called more complete, and F1 the one that they preferred?

    python -m benchmarks.claims.preferences                     # sentences as claims, the embedded judge
    python -m benchmarks.claims.preferences --limit 20          # so many pairs of answers

RAGChecker's pairs of answers to one question with a gold answer, each labelled by two people: which answer is more complete,
which is better overall and which is more correct, from -2 to 2. Of the labels that decide (not 0) the share that a score agrees
with; equal scores agree by half, and the last column leaves them out. Beside the measure ``claims``: the number of the answer's
words, the share of the gold answer's content words that the answer has, and the same weighted by how rare a word is among the
gold answers and answers of all questions (ln(n / texts that have it)). The mean P(entailment) of the gold claims is what recall
would be without a threshold. Intervals, and those of paired differences, are bootstraps over questions.

No choice was made on these labels: the measure has its defaults.

Data: shared folder.
Time: 15 minutes of processor time.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.scores import estimate
from benchmarks.support.tables import arguments, percent, show
from rag_cover import Models, Question, Trace, evaluate
from rag_cover.claims import ClaimsResult
from rag_cover.english.words import content_words

Floats = NDArray[np.float64]
Rows = Sequence[Mapping[str, Any]]
Scores = dict[str, Floats]
"""By name (rows, 2): the scores of the two answers."""

FILE = "coverage/ragchecker_preferences_part.jsonl"
SIDES = ("model1", "model2")
TIE = 0.5
LABELS = {"more complete": "completeness_label", "better overall": "overall_label", "more correct": "correctness_label"}


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    rows = read_rows(options.data / FILE, options.limit)
    scores = word_scores(rows) | claim_scores(rows, Models(judge=options.judge))
    for title, label in LABELS.items():
        show_agreement(title, label, rows, scores, options.seed)


def read_rows(path: Path, limit: int | None) -> list[Mapping[str, Any]]:
    """Read labelled pairs, both labels of each; ``limit`` is of pairs."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = list(dict.fromkeys(_pair_of(row) for row in rows))[:limit]
    return [row for row in rows if _pair_of(row) in set(kept)]


def _pair_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["query"], *(row[side]["response"] for side in SIDES))


def claim_scores(rows: Rows, models: Models) -> Scores:
    """Score answers by the measure ``claims``, each once."""
    asked = dict.fromkeys((row["query"], row["gt_answer"], row[side]["response"]) for row in rows for side in SIDES)
    traces = [Trace(question=Question(query, references=gold), answer=answer) for query, gold, answer in asked]
    found = evaluate(traces, measures=["claims"], models=models).results
    results = {key: result["claims"] for key, result in zip(asked, found, strict=True)}
    measured = {
        (row["query"], row[side]["response"]): results[row["query"], row["gt_answer"], row[side]["response"]]
        for row in rows
        for side in SIDES
    }
    undefined = sum(result.values["f1"] is None for result in results.values())
    print(f"{len(results)} answers; F1 is undefined for {undefined}, which are taken to have 0 here")
    ways: dict[str, Callable[[ClaimsResult], float]] = {
        "recall": lambda result: result.values["recall"] or 0.0,
        "mean P(gold claim)": _mean_probability,
        "precision": lambda result: result.values["precision"] or 0.0,
        "F1": lambda result: result.values["f1"] or 0.0,
    }
    return {
        name: np.array([[way(measured[row["query"], row[side]["response"]]) for side in SIDES] for row in rows])
        for name, way in ways.items()
    }


def _mean_probability(result: ClaimsResult) -> float:
    claims = result.gold_claims or ()
    return sum(claim.by_answer or 0.0 for claim in claims) / len(claims) if claims else 0.0


def word_scores(rows: Rows) -> Scores:
    """Score answers by their length and by the gold answer's words."""
    texts = dict.fromkeys(text for row in rows for text in (row["gt_answer"], *(row[side]["response"] for side in SIDES)))
    words = {text: content_words(text) for text in texts}
    held = Counter(word for found in words.values() for word in found)
    rarity = {word: math.log(len(words) / count) for word, count in held.items()}

    def weighted(gold: str, answer: str, weights: Mapping[str, float]) -> float:
        whole = sum(weights[word] for word in words[gold])
        return sum(weights[word] for word in words[gold] & words[answer]) / whole if whole else 0.0

    level = dict.fromkeys(rarity, 1.0)
    return {
        "number of words": _each(rows, lambda _, answer: float(len(answer.split()))),
        "gold words": _each(rows, lambda gold, answer: weighted(gold, answer, level)),
        "gold words by rarity": _each(rows, lambda gold, answer: weighted(gold, answer, rarity)),
    }


def _each(rows: Rows, score: Callable[[str, str], float]) -> Floats:
    return np.array([[score(row["gt_answer"], row[side]["response"]) for side in SIDES] for row in rows], dtype=np.float64)


def show_agreement(title: str, label: str, rows: Rows, scores: Scores, seed: int) -> None:
    """Print how often each score names the answer that people named, and the difference to the number of words."""
    labels = np.array([row[label] for row in rows], dtype=np.float64)
    decided = labels != 0
    keys = [row["query"] for row, kept in zip(rows, decided, strict=True) if kept]
    agreed = {name: _agreement(values[decided], labels[decided]) for name, values in scores.items()}
    table = [
        [
            name,
            _mean(each, keys, seed),
            _mean(each - agreed["number of words"], keys, seed),
            _mean(each - agreed["gold words"], keys, seed),
            f"{100 * float(np.mean(each == TIE)):.0f}%",
            f"{100 * float(each[each != TIE].mean()):.1f} of {int((each != TIE).sum())}",
        ]
        for name, each in agreed.items()
    ]
    header = ["score", "agrees", "less number of words", "less gold words", "ties", "where none"]
    show(f"{title}: {int(decided.sum())} decided labels of {len(set(keys))} questions", header, table)


def _mean(values: Floats, keys: Sequence[str], seed: int) -> str:
    return percent(estimate(np.stack([values, np.ones_like(values)], axis=1), keys, _share, seed=seed))


def _agreement(scores: Floats, labels: Floats) -> Floats:
    """Tell of each label whether the scores agree with it, a half where they are equal."""
    return (np.sign(scores[:, 1] - scores[:, 0]) * np.sign(labels) + 1) / 2


def _share(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1], dtype=np.float64)


if __name__ == "__main__":
    main()
