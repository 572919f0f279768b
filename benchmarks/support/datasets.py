"""The data sets as the benchmarks read them: rows, splits, and single-hop questions with the paragraphs that answer them."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from rag_cover.texts import sentences
from rag_cover_embedded.training.splits import trains, trains_by_document

Part = Literal["train", "test", "all"]
Paragraph = tuple[str, str]
"""A title and a text."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hop:
    """A question that one paragraph answers, and a sentence that answers it; ``key`` is the top-level question."""

    question: str
    answer: str
    paragraph: str
    key: str


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read a JSONL file row by row."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def part_of(rows: Sequence[T], part: Part, *, key: Callable[[T], str]) -> list[T]:
    """Keep the rows whose top-level question lies in the buckets of one part."""
    return [row for row in rows if part == "all" or trains(key(row)) == (part == "train")]


def sample(rows: Sequence[T], limit: int | None, seed: int) -> list[T]:
    """Draw at most ``limit`` rows, in their order; None keeps all."""
    if limit is None or limit >= len(rows):
        return list(rows)
    chosen = sorted(random.Random(seed).sample(range(len(rows)), limit))  # noqa: S311  # a sample, not a secret
    return [rows[place] for place in chosen]


def squad_articles(data: Path, part: Part) -> list[dict[str, Any]]:
    """Read SQuAD articles; the title decides the part."""
    articles = json.loads((data / "reading/squad2_dev_part.json").read_text(encoding="utf-8"))["data"]
    return [article for article in articles if part == "all" or trains_by_document(article["title"]) == (part == "train")]


def paragraphs_of(row: dict[str, Any]) -> list[Paragraph]:
    """Return the paragraphs that come with a multi-hop question, of whichever of the three sets it is."""
    if "paragraphs" in row:
        return [(each["title"], each["paragraph_text"]) for each in row["paragraphs"]]
    context = row["context"]
    parsed = ast.literal_eval(context) if isinstance(context, str) else context
    return [(title, " ".join(sentence.strip() for sentence in found)) for title, found in parsed]


def two_wiki(data: Path, part: Part) -> list[dict[str, Any]]:
    """Read the rows of 2WikiMultihopQA."""
    return part_of(list(lines(data / "multihop/2wiki_500.jsonl")), part, key=lambda row: row["question"])


def multihop_rows(data: Path, part: Part) -> list[dict[str, Any]]:
    """Read multi-hop questions; MuSiQue and HotpotQA are for testing only."""
    rows = two_wiki(data, part)
    if part != "train":
        rows += [row for name in ("musique", "hotpotqa") for row in lines(data / f"multihop/{name}_100.jsonl")]
    return rows


def hops_of(row: dict[str, Any]) -> list[Hop]:
    """Return the questions of a multi-hop row that a single paragraph answers."""
    if "qa_pairs" in row:
        return _two_wiki_hops(row)
    if "question_decomposition" in row:
        return _musique_hops(row)
    return _hotpot_hops(row)


def _two_wiki_hops(row: dict[str, Any]) -> list[Hop]:
    found = []
    for pair, (subject, _, value) in zip(row["qa_pairs"], row["evidences"], strict=False):
        for title, text in paragraphs_of(row):
            about = subject.lower() in title.lower() or title.lower() in subject.lower()
            if about and value.lower() in text.lower():
                found.append(Hop(pair["question"], pair["answer"], text, row["question"]))
                break
    return found


def _musique_hops(row: dict[str, Any]) -> list[Hop]:
    steps = [step for step in row["question_decomposition"] if "#" not in step["question"] and ">>" not in step["question"]]
    paragraphs = paragraphs_of(row)
    found = []
    for step in steps:
        text = paragraphs[step["paragraph_support_idx"]][1]
        if answer := _sentence_with(text, step["answer"]):
            found.append(Hop(step["question"], answer, text, row["question"]))
    return found


def _hotpot_hops(row: dict[str, Any]) -> list[Hop]:
    supporting = {title for title, _ in row["supporting_facts"]}
    for title, text in paragraphs_of(row):
        if title in supporting and (answer := _sentence_with(text, row["answer"])):
            return [Hop(row["question"], answer, text, row["question"])]
    return []


def _sentence_with(text: str, answer: str) -> str | None:
    return next((span.of(text) for span in sentences(text) if answer.lower() in span.of(text).lower()), None)
