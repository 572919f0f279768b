"""Multi-hop questions beside their single hops, as the paper's Table 3 has them, with their corpora and retrievers.

Gabburo et al. (ACL Findings 2024) call a multi-hop question complex and its single-hop sub-questions not complex. A step of
MuSiQue that builds on an earlier one gets that one's answer in place of ``#1``, and a step ``X >> r`` becomes "What is the r of
X?". A question that its set has twice counts once for each multi-hop question it belongs to.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.support.datasets import Part, lines, paragraphs_of, part_of, two_wiki
from benchmarks.support.steps import phrased
from rag_cover import Passage, build_retriever
from rag_cover.backends import Retriever

__all__ = ["SETS", "Asked", "KeywordRetriever", "asked_in", "corpus_of", "matched", "retriever_over"]

PAIRINGS = 20
SETS = ("MuSiQue", "2WikiMultihopQA", "StrategyQA")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its gold answers, whether it is multi-hop, and the multi-hop question it belongs to."""

    text: str
    references: tuple[str, ...]
    is_complex: bool
    key: str

    @property
    def words(self) -> int:
        """Count its words."""
        return len(self.text.split())


class KeywordRetriever:
    """BM25 over titles and texts, by bm25s."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        import bm25s

        self._passages, self._tokenize = passages, bm25s.tokenize
        self._index = bm25s.BM25()
        texts = [f"{passage.title or ''} {passage.text}" for passage in passages]
        self._index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """Return at most k passages, best first."""
        words = self._tokenize([query], show_progress=False)
        places, scores = self._index.retrieve(words, k=min(k, len(self._passages)), show_progress=False, n_threads=1)
        found = zip(places[0].tolist(), scores[0].tolist(), strict=True)
        return [self._passages[place].model_copy(update={"score": score}) for place, score in found]


def retriever_over(name: str, passages: Sequence[Passage]) -> Retriever:
    """Build ``BM25``, or the retriever of that name."""
    return KeywordRetriever(passages) if name == "BM25" else build_retriever(name, passages)


def asked_in(name: str, data: Path, part: Part, *, limit: int | None = None, seed: int = 0) -> list[Asked]:
    """Read a set's multi-hop questions (at most ``limit``) and their hops; MuSiQue is for testing only."""
    match name:
        case "MuSiQue":
            rows = list(lines(data / "multihop/musique_100.jsonl")) if part != "train" else []
            found = [_musique(row) for row in rows]
        case "2WikiMultihopQA":
            found = [_two_wiki(row) for row in two_wiki(data, part)]
        case _:
            rows = part_of(_strategy_rows(data), part, key=lambda row: row["question"])
            found = [_strategy(row) for row in rows]
    if limit is not None and limit < len(found):
        found = random.Random(seed).sample(found, limit)  # noqa: S311  # a sample, not a secret
    return [asked for each in found for asked in dict.fromkeys(each)]


def corpus_of(name: str, data: Path) -> list[Passage]:
    """Read the passages a set is asked over: its corpus file; with 2Wiki's, the paragraphs that come with its questions.

    Few of these are in the file, which was made for another sample of the set. StrategyQA is asked over the facts that were
    written for its questions, all pooled.
    """
    match name:
        case "MuSiQue":
            found = list(_paragraphs(data / "multihop/musique_corpus.jsonl"))
        case "2WikiMultihopQA":
            found = list(_paragraphs(data / "multihop/2wiki_corpus.jsonl"))
            found += [paragraph for row in two_wiki(data, "all") for paragraph in paragraphs_of(row)]
        case _:
            found = [("", fact) for row in _strategy_rows(data) for fact in row["facts"]]
    return [Passage(text, title=title or None) for title, text in dict.fromkeys(found)]


def matched(asked: Sequence[Asked], seed: int = 0) -> list[list[int]]:
    """Pair complex and simple questions with equally many words, as many as can be, in 20 ways; return the places in each."""
    rng = random.Random(seed)  # noqa: S311  # pairs, not secrets
    by_length: dict[int, tuple[list[int], list[int]]] = {}
    for place, question in enumerate(asked):
        by_length.setdefault(question.words, ([], []))[int(question.is_complex)].append(place)
    return [_paired(by_length, rng) for _ in range(PAIRINGS)]


def _paired(by_length: dict[int, tuple[list[int], list[int]]], rng: random.Random) -> list[int]:
    found: list[int] = []
    for _, (simple, hard) in sorted(by_length.items()):
        pairs = min(len(simple), len(hard))
        found += rng.sample(simple, pairs) + rng.sample(hard, pairs)
    return found


def _paragraphs(path: Path) -> Iterator[tuple[str, str]]:
    return ((row["title"], row["text"]) for row in lines(path))


def _musique(row: dict[str, Any]) -> list[Asked]:
    key = row["question"]
    whole = Asked(key, tuple(dict.fromkeys([row["answer"], *row["answer_aliases"]])), is_complex=True, key=key)
    answers: list[str] = []
    hops = []
    for step in row["question_decomposition"]:
        text = _resolved(step["question"], answers)
        answers.append(step["answer"])
        hops.append(Asked(text, (step["answer"],), is_complex=False, key=key))
    return [whole, *hops]


def _resolved(step: str, answers: Sequence[str]) -> str:
    """Write a step so that it can be asked alone.

    >>> _resolved("#1 >> place of birth", ["Jane Austen"])
    'What is the place of birth of Jane Austen?'
    """
    return phrased(re.sub(r"#(\d+)", lambda match: answers[int(match[1]) - 1], step))


def _two_wiki(row: dict[str, Any]) -> list[Asked]:
    """Take a hop's answer from the evidence that its sentence states, else the sentence."""
    key = row["question"]
    hops = []
    for pair, (*_, value) in zip(row["qa_pairs"], row["evidences"], strict=True):
        answer = value if value.lower() in pair["answer"].lower() else pair["answer"]
        hops.append(Asked(pair["question"], (answer,), is_complex=False, key=key))
    return [Asked(key, (row["answer"],), is_complex=True, key=key), *hops]


def _strategy_rows(data: Path) -> list[dict[str, Any]]:
    files = (data / f"multihop/strategyqa_{part}.json" for part in ("train", "dev"))
    return [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]


def _strategy(row: dict[str, Any]) -> list[Asked]:
    """Leave out gold answers, which are yes or no, and steps that build on others, whose answers are not given."""
    hops = [Asked(step, (), is_complex=False, key=row["question"]) for step in row["decomposition"] if "#" not in step]
    return [Asked(row["question"], (), is_complex=True, key=row["question"]), *hops]
