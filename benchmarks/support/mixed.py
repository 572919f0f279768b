"""A mixed stream: questions of one passage, of several, and such as the corpus does not answer, probed over six sets.

Each question is asked over its own set by BM25. *Hard* unanswerable questions are the same questions with every passage taken
out of what was retrieved that supports the answer, or the multi-hop question it belongs to; *easy* ones come from another set.
The judge reads a passage once, so that a question and its hard twin differ in the passages alone; a twin shares its question's
key, by which intervals and folds are grouped.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.support.datasets import Part, lines, paragraphs_of, part_of, squad_articles, two_wiki
from benchmarks.support.multihop import KeywordRetriever, asked_in, corpus_of
from rag_cover import Passage
from rag_cover.backends import Failure, Scorer
from rag_cover.complexity import Complexity, complexities_of
from rag_cover.routing import Demand
from rag_cover.routing.evidence import QuestionSteps, read_steps

__all__ = ["FITTED", "SETS", "Streamed", "stream_of"]

K = 10
MORE = 6
"""Passages read beyond the ten, to fill up after the supporting ones are taken out."""

FITTED = ("2WikiMultihopQA", "NQ", "SQuAD", "StrategyQA")
"""Sets with training buckets."""
SETS = (*FITTED, "MuSiQue", "HotpotQA")
"""The last two are for testing only."""

_BLOCK = 40


@dataclass(frozen=True, slots=True)
class _Source:
    """A question, its demand where its passages are there, its key, and the texts that support the answer."""

    text: str
    demand: Demand
    key: str
    supporting: frozenset[str]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A question of the stream: what it demands, of which kind it is, and what the judge says of its passages.

    ``kind`` is ``plain``, ``hard`` or ``easy``.
    """

    corpus: str
    text: str
    demand: Demand
    kind: str
    key: str
    complexity: Complexity
    scores: tuple[float, ...]
    steps: QuestionSteps

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Streamed:
        """Read back what `asdict` wrote."""
        complexity = Complexity.from_dict(data["complexity"])
        steps = QuestionSteps(
            **{name: tuple(value) if isinstance(value, list) else value for name, value in data["steps"].items()}
        )
        return cls(**{**data, "complexity": complexity, "scores": tuple(data["scores"]), "steps": steps})


def stream_of(data: Path, part: Part, scorer: Scorer, *, limit: int, seed: int = 0, kept: Path | None = None) -> list[Streamed]:
    """Probe at most ``limit`` direct and complex questions of each set each, their hard twins, and half as many easy ones."""
    names = FITTED if part == "train" else SETS
    asked = {name: _sample(_sources(name, data, part), limit, seed) for name in names}
    found: list[Streamed] = []
    for place, name in enumerate(names):
        path = None if kept is None else kept / f"{name}-{part}-{limit}-{seed}.jsonl"
        if path is not None and path.exists():
            found += [Streamed.from_dict(row) for row in lines(path)]
            continue
        others = asked[names[(place + 1) % len(names)]]
        mine = list(_probe(name, asked[name], others[: len(asked[name]) // 2], _passages(name, data, part), scorer))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in mine), encoding="utf-8")
        found += mine
    return found


def _probe(
    name: str, asked: Sequence[_Source], others: Sequence[_Source], passages: Sequence[Passage], scorer: Scorer
) -> Iterator[Streamed]:
    retriever = KeywordRetriever(passages)
    rows: list[tuple[_Source, str, list[Passage]]] = []
    for source in asked:
        retrieved = list(retriever.retrieve(source.text, k=K + MORE))
        rows.append((source, "plain", retrieved[:K]))
        if any(passage.text in source.supporting for passage in retrieved[:K]):
            without = [passage for passage in retrieved if passage.text not in source.supporting]
            rows.append((source, "hard", without[:K]))
    rows += [(source, "easy", list(retriever.retrieve(source.text, k=K))) for source in others]
    for start in range(0, len(rows), _BLOCK):
        yield from _judge(name, rows[start : start + _BLOCK], scorer)


def _judge(name: str, rows: Sequence[tuple[_Source, str, list[Passage]]], scorer: Scorer) -> Iterator[Streamed]:
    wholes = _complexities([(source.text, found, ()) for source, _, found in rows], scorer)
    for (source, kind, found), whole in zip(rows, wholes, strict=True):
        steps = read_steps(source.text, found, scorer)
        demand: Demand = source.demand if kind == "plain" else "unanswerable"
        scores = tuple(float(passage.score or 0.0) for passage in found)
        yield Streamed(name, source.text, demand, kind, source.key, whole, scores, steps)


def _complexities(retrieved: Sequence[tuple[str, list[Passage], tuple[()]]], scorer: Scorer) -> list[Complexity]:
    found = []
    for each in complexities_of(retrieved, scorer):
        if isinstance(each, Failure):
            raise each.error()
        found.append(each)
    return found


def _sample(sources: Sequence[_Source], limit: int, seed: int) -> list[_Source]:
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    mixed: list[_Source] = []
    for demand in ("direct", "complex"):
        mine = [source for source in sources if source.demand == demand]
        mixed += rng.sample(mine, min(limit, len(mine)))
    rng.shuffle(mixed)
    return mixed


def _sources(name: str, data: Path, part: Part) -> list[_Source]:
    match name:
        case "NQ":
            rows = part_of(list(lines(data / "reading/qed_dev.jsonl")), part, key=lambda row: str(row["question_text"]))
            return [
                _Source(row["question_text"], "direct", row["question_text"], frozenset([row["paragraph_text"]]))
                for row in rows
            ]
        case "SQuAD":
            return [
                _Source(asked["question"], "direct", article["title"], frozenset([paragraph["context"]]))
                for article in squad_articles(data, part)
                for paragraph in article["paragraphs"]
                for asked in paragraph["qas"]
                if not asked["is_impossible"]
            ]
        case "HotpotQA":
            rows = [] if part == "train" else list(lines(data / "multihop/hotpotqa_100.jsonl"))
            return [_Source(row["question"], "complex", row["question"], _supporting(row)) for row in rows]
    supporting = _supporting_by_key(name, data)
    return [
        _Source(each.text, "complex" if each.is_complex else "direct", each.key, supporting[each.key])
        for each in asked_in(name, data, part)
    ]


def _supporting_by_key(name: str, data: Path) -> dict[str, frozenset[str]]:
    match name:
        case "MuSiQue":
            return {row["question"]: _supporting(row) for row in lines(data / "multihop/musique_100.jsonl")}
        case "2WikiMultihopQA":
            return {row["question"]: _supporting(row) for row in two_wiki(data, "all")}
        case _:
            files = (data / f"multihop/strategyqa_{part}.json" for part in ("train", "dev"))
            rows = [row for file in files for row in json.loads(file.read_text(encoding="utf-8"))]
            return {row["question"]: frozenset(row["facts"]) for row in rows}


def _supporting(row: dict[str, Any]) -> frozenset[str]:
    if "paragraphs" in row:
        return frozenset(each["paragraph_text"] for each in row["paragraphs"] if each["is_supporting"])
    titles = {title for title, _ in row["supporting_facts"]}
    return frozenset(text for title, text in paragraphs_of(row) if title in titles)


def _passages(name: str, data: Path, part: Part) -> list[Passage]:
    match name:
        case "NQ":
            found = [(row["title_text"], row["paragraph_text"]) for row in lines(data / "reading/qed_dev.jsonl")]
        case "SQuAD":
            articles = squad_articles(data, part)
            found = [(article["title"], each["context"]) for article in articles for each in article["paragraphs"]]
        case "HotpotQA":
            rows = list(lines(data / "multihop/hotpotqa_100.jsonl"))
            found = [paragraph for row in rows for paragraph in paragraphs_of(row)]
        case _:
            return corpus_of(name, data)
    return [Passage(text, title=title or None) for title, text in dict.fromkeys(found)]
