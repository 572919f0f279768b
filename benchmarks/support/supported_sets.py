"""Questions with passages that are known to support the answer, and others: what a passage should be worth.

The label is that of Dai et al. (ICLR 2025), Table 2: 1/steps for a supporting passage, where so many are needed, else 0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.support.datasets import Part, lines, paragraphs_of, sample, squad_articles, two_wiki
from rag_cover import Passage, Question, RetrievalStep, Trace

OTHERS = 4
"""Paragraphs of the same article that stand beside a SQuAD question's own."""


@dataclass(frozen=True, slots=True)
class Supported:
    """A question, its right answers, and passages with their labels."""

    question: str
    references: tuple[str, ...]
    passages: tuple[Passage, ...]
    labels: tuple[float, ...]

    @property
    def trace(self) -> Trace:
        """Return a trace whose one step retrieved all passages."""
        question = Question(self.question, references=self.references)
        return Trace(question=question, steps=(RetrievalStep(query=self.question, passages=self.passages),))


def supported_sets(data: Path, limit: int | None, seed: int, part: Part = "test") -> dict[str, list[Supported]]:
    """Read the test part of SQuAD and 2WikiMultihopQA, and all of MuSiQue and HotpotQA, which are for testing only.

    The training part is that of 2WikiMultihopQA alone.
    """
    if part == "train":
        return {"2WikiMultihopQA, training": sample([_titled(row) for row in two_wiki(data, "train")], limit, seed)}
    found = {
        "SQuAD 2.0": _squad(data, seed),
        "MuSiQue": [_musique(row) for row in lines(data / "multihop/musique_100.jsonl")],
        "HotpotQA": [_titled(row) for row in lines(data / "multihop/hotpotqa_100.jsonl")],
        "2WikiMultihopQA": [_titled(row) for row in two_wiki(data, "test")],
    }
    return {name: sample(rows, limit, seed) for name, rows in found.items()}


def _squad(data: Path, seed: int) -> list[Supported]:
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    found = []
    for article in squad_articles(data, "test"):
        contexts = [paragraph["context"] for paragraph in article["paragraphs"]]
        for paragraph in article["paragraphs"]:
            others = [context for context in contexts if context != paragraph["context"]]
            for asked in paragraph["qas"]:
                if not asked["is_impossible"]:
                    shown = [paragraph["context"], *rng.sample(others, OTHERS)]
                    answers = [answer["text"] for answer in asked["answers"]]
                    found.append(
                        _labelled(asked["question"], answers, [("", text) for text in shown], [True] + [False] * OTHERS)
                    )
    return found


def _musique(row: dict[str, Any]) -> Supported:
    supports = [bool(paragraph["is_supporting"]) for paragraph in row["paragraphs"]]
    return _labelled(row["question"], [row["answer"], *row["answer_aliases"]], paragraphs_of(row), supports)


def _titled(row: dict[str, Any]) -> Supported:
    supporting = {title for title, _ in row["supporting_facts"]}
    paragraphs = paragraphs_of(row)
    return _labelled(row["question"], [row["answer"]], paragraphs, [title in supporting for title, _ in paragraphs])


def _labelled(
    question: str, references: Sequence[str], paragraphs: Sequence[tuple[str, str]], supports: Sequence[bool]
) -> Supported:
    passages = tuple(Passage(text, title=title or None) for title, text in paragraphs)
    labels = tuple(float(each) / sum(supports) for each in supports)
    return Supported(question.strip(), tuple(dict.fromkeys(references)), passages, labels)
