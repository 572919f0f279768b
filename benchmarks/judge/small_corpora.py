"""Which passages of a small corpus answer a question, such as an FAQ page, a handbook, a manual or an article?

    python -m benchmarks.judge.small_corpora [--corpora FILE] [--write]

Each question with each passage, judged as passages. *First* is the share of answered questions whose answering passage has the
highest probability, *found* the share of the answering passages that the judge accepts, *false* that of the others.
*Answerable* is the AUC of the best passage's probability, of questions that some passage answers against those that none does.
Beside the judge: the embedded retriever by its scores, the order of `rag_cover.coverage.rerank` (the judge's probability, and
the passage's rank with the retriever), and the share of the question's words that a passage has. Passages that could be argued
about count for nothing. Confidence intervals resample whole corpora.

Without ``--corpora`` the written collections (`training/texts/subjects.jsonl`) that no weights were trained on are read. The
weights and the calibration were chosen with them in view. ``--write`` adds to each of the other collections' questions which
passages the judge takes most for an answer and are none (``likest``): the training pairs the question with these.

Data: none (texts in the repository).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.datasets import lines
from benchmarks.support.scores import auc, mean
from benchmarks.support.tables import arguments, percent, plain, show
from rag_cover import build_retriever, open_scorer
from rag_cover.backends import Scorer, ScoringItem
from rag_cover.coverage import SINGLE_RETRIEVAL_WEIGHT
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.sources import word_share
from rag_cover_embedded.training.subjects import FILE, is_kept_from_weights

LIKEST = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with the scores of the passages that answer it and of those that do not."""

    corpus: str
    yes: Sequence[float]
    no: Sequence[float]


def main() -> None:
    """Run the benchmark, or write which passages are near."""
    parser = arguments(__doc__)
    parser.add_argument("--corpora", type=Path, help="a file of collections in the form of subjects.jsonl")
    parser.add_argument("--write", action="store_true", help="write the likest passages into the training texts")
    options = parser.parse_args()
    scorer = open_scorer("embedded")
    if options.write:
        write_likest(TEXTS / FILE, scorer)
        return
    rows = list(lines(options.corpora or TEXTS / FILE))
    kept = [row for row in rows if options.corpora or is_kept_from_weights(row["domain"])][: options.limit]
    judged, retrieved = list(by_judge(kept, scorer)), list(by_retriever(kept))
    table = [
        line("judge", judged, cut=scorer.threshold),
        line("embedded retriever", retrieved),
        line("rerank: judge and rank", list(map(add_ranks, judged, retrieved))),
        line("shared words", list(by_words(kept))),
    ]
    header = ["scored by", "n", "pairs", "first %", "AUC of pairs", "answerable, AUC", "found %", "false %"]
    show(f"{len(kept)} corpora", header, table)


def by_judge(rows: Sequence[Mapping[str, Any]], scorer: Scorer) -> Iterator[Asked]:
    """Score each question with each passage of its corpus."""
    for row in rows:
        for each in row["questions"]:
            scores = probabilities(row, each["question"], scorer)
            yield split(row["domain"], each, scores)


def probabilities(row: Mapping[str, Any], question: str, scorer: Scorer) -> dict[str, float]:
    """Return the probability that each passage answers, by its id."""
    texts = {each["id"]: each["text"] for each in row["passages"]}
    found = scorer.correctness([ScoringItem(question, text) for text in texts.values()])
    return dict(zip(texts, map(float, found), strict=True))


def by_retriever(rows: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """Score each question with each passage of its corpus by the embedded retriever; what it does not return comes last."""
    for row in rows:
        texts = {each["text"]: each["id"] for each in row["passages"]}
        retriever = build_retriever("embedded", list(texts))
        for each in row["questions"]:
            found = {texts[one.text]: float(one.score or 0.0) for one in retriever.retrieve(each["question"], k=len(texts))}
            lowest = min(found.values(), default=0.0)
            yield split(row["domain"], each, {name: found.get(name, lowest - 1.0) for name in texts.values()})


def add_ranks(judged: Asked, retrieved: Asked) -> Asked:
    """Add to each probability what the passage's rank with the retriever is worth when one question is reranked."""
    found = sorted((*retrieved.yes, *retrieved.no), reverse=True)
    yes, no = (
        [p + SINGLE_RETRIEVAL_WEIGHT / (found.index(score) + 1) for p, score in zip(mine, theirs, strict=True)]
        for mine, theirs in ((judged.yes, retrieved.yes), (judged.no, retrieved.no))
    )
    return Asked(judged.corpus, yes, no)


def by_words(rows: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """Score each question with each passage of its corpus by shared words."""
    for row in rows:
        for each in row["questions"]:
            yield split(row["domain"], each, {one["id"]: word_share(each["question"], one["text"]) for one in row["passages"]})


def split(corpus: str, asked: Mapping[str, Any], scores: Mapping[str, float]) -> Asked:
    """Divide the scores of a question by what answers it."""
    answers, unclear = asked["answered_by"], asked["partly_by"]
    others = [score for name, score in scores.items() if name not in answers and name not in unclear]
    return Asked(corpus, [scores[name] for name in answers], others)


def line(name: str, asked: Sequence[Asked], *, cut: float | None = None) -> list[str]:
    """Make a row of the table."""
    answered = [each for each in asked if each.yes]
    first = [float(max(each.yes) > max(each.no)) for each in answered]
    pairs = [
        (score, label, each.corpus) for each in asked for label in (True, False) for score in (each.yes if label else each.no)
    ]
    best = [(max((*each.yes, *each.no)), bool(each.yes), each.corpus) for each in asked]
    return [
        name,
        str(len(asked)),
        str(len(pairs)),
        percent(mean(np.array(first), [each.corpus for each in answered])),
        plain(auc(*columns(pairs))),
        plain(auc(*columns(best))),
        *(("–", "–") if cut is None else (share_accepted(pairs, cut, side=side) for side in (True, False))),
    ]


def share_accepted(pairs: Sequence[tuple[float, bool, str]], cut: float, *, side: bool) -> str:
    """Say which share of the pairs with a label is accepted."""
    scores, _, corpora = columns([pair for pair in pairs if pair[1] == side])
    return percent(mean((np.array(scores) >= cut).astype(float), corpora))


def columns(rows: Sequence[tuple[float, bool, str]]) -> tuple[list[float], list[bool], list[str]]:
    """Turn rows of a score, a label and a corpus into columns."""
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def write_likest(path: Path, scorer: Scorer) -> None:
    """Name the passages that the judge takes most for an answer and are none, for each question of the training collections."""
    rows = list(lines(path))
    for row in rows:
        if not is_kept_from_weights(row["domain"]):
            for each in row["questions"]:
                scores = probabilities(row, each["question"], scorer)
                others = [name for name in scores if name not in each["answered_by"] and name not in each["partly_by"]]
                each["likest"] = sorted(others, key=lambda name: -scores[name])[:LIKEST]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
