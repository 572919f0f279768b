"""The data sets as they lie on disk, and the cutting of their texts."""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_cover_embedded.training.splits import Part


def read_json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def squad_articles(data: Path, part: Part) -> list[list[dict[str, Any]]]:
    """Read the paragraphs of SQuAD's articles, of a part."""
    articles = json.loads((data / "reading/squad2_dev_part.json").read_text(encoding="utf-8"))["data"]
    return [article["paragraphs"] for article in articles if part.has_document(article["title"])]


def squad_paragraphs(data: Path, part: Part) -> list[tuple[str, list[dict[str, Any]]]]:
    """Read SQuAD's paragraphs with their questions, of a part's articles."""
    return [(each["context"], each["qas"]) for paragraphs in squad_articles(data, part) for each in paragraphs]


def other_squad_texts(data: Path, part: Part) -> set[str]:
    """Gather the paragraphs and questions of other parts' articles, which QNLI shares."""
    rest = Part(range(0), range(100))
    mine = {context for context, _ in squad_paragraphs(data, part)}
    others = [(context, questions) for context, questions in squad_paragraphs(data, rest) if context not in mine]
    return {context for context, _ in others} | {q["question"] for _, questions in others for q in questions}


def paragraphs_of(row: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return a 2Wiki row's paragraphs: title and sentences."""
    context = row["context"]
    return ast.literal_eval(context) if isinstance(context, str) else context


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Cut a paragraph into sentences, as code points."""
    ends = [match.end() for match in re.finditer(r"[.!?]['\")\]]*\s+(?=[A-Z0-9\"'(\[])", text)] + [len(text)]
    return [(start, end) for start, end in zip([0, *ends], ends, strict=False) if end > start]


def sentences_of(text: str) -> list[str]:
    """Cut a paragraph into sentences."""
    return [text[start:end].strip() for start, end in sentence_spans(text)]


def window_around(sentences: list[tuple[int, int]], place: int, rng: random.Random, *, most: int = 3) -> tuple[int, int]:
    """Choose one to ``most`` + 1 sentences around a place."""
    index = next((i for i, (_, end) in enumerate(sentences) if place < end), len(sentences) - 1)
    before = rng.randint(0, most - 1) if most > 1 else 0
    after = rng.randint(0, most - 1) if most > 1 else 0
    return sentences[max(0, index - before)][0], sentences[min(len(sentences) - 1, index + after)][1]


def sample_excerpt(text: str, rng: random.Random) -> str:
    """Take a few sentences from anywhere in a text."""
    sentences = sentence_spans(text)
    start, end = window_around(sentences, rng.choice(sentences)[0], rng)
    return text[start:end]


def stems(text: str) -> set[str]:
    """Return the first five letters of each word, in lower case."""
    return {word[:5] for word in re.findall(r"[^\W_]+", text.lower())}


def word_share(question: str, text: str) -> float:
    """Return the share of a question's longer words that a text repeats, by their first five letters."""
    stems = {word[:5] for word in re.findall(r"[a-z0-9]{4,}", question.lower())} - {"what", "which", "when", "where", "does"}
    found = {word[:5] for word in re.findall(r"[a-z0-9]{4,}", text.lower())}
    return len(stems & found) / len(stems) if stems else 0.0
