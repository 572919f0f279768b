"""Negatives that share few words: texts and claims of the same domain that belong to another question or premise.

Where an answer in other words is a positive and a text in the question's words a negative, a network may take few shared words
themselves for a sign of an answer. These examples speak against it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.authored_examples import TEXTS, is_learned
from rag_cover_embedded.training.crossed import is_held_out, read_topics
from rag_cover_embedded.training.example import ENTAILMENT, NO_SPAN, NOT_ENTAILED, Example, not_answering
from rag_cover_embedded.training.natural import LONGEST, part_rows, sample_rows
from rag_cover_embedded.training.sources import read_json_rows, sample_excerpt, sentences_of, squad_articles, squad_paragraphs
from rag_cover_embedded.training.splits import Part

SHORTEST = 8
"""Words of a text that show that it is about something else."""
AS_REPLY = 0.4
FROM_A_SOURCE = 150
CELLS = ("same", "other", "list", "table", "two")


def make_unrelated_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair questions and premises with others' texts and claims."""
    sources = (
        _natural(data, rng, part),
        _contrast(rng, part),
        _pair_across_topics(data, rng, part),
        _pair_within_articles(data, rng, part),
        pair_across_groups(rng, part),
        pair_across_paragraphs(rng, part),
        pair_across_cases(rng, part),
    )
    for question, text in chain.from_iterable(sources):
        reply = len(text.split()) < 4 * SHORTEST and rng.random() < AS_REPLY
        yield Example(Task.REPLIES, question, text, 0.0, NO_SPAN) if reply else not_answering(question, text)
    for name in ("claims.jsonl", "contrast_claims.jsonl"):
        rows = [row for row in read_json_rows(TEXTS / name) if is_learned(row["premise"], part)]
        for row, other in others(rows, lambda row: row["domain"], rng):
            supported = [claim["text"] for claim in other["claims"] if claim["label"] == "supported"]
            for claim in rng.sample(supported, min(2, len(supported))):
                yield Example(Task.ENTAILMENT, row["premise"], claim, ENTAILMENT["neutral"])
    paragraphs = [context for context, _ in squad_paragraphs(data, part)]
    for context in paragraphs:
        claim = rng.choice(sentences_of(rng.choice(paragraphs)))
        if claim not in context:
            yield Example(Task.ENTAILMENT, sample_excerpt(context, rng), claim, NOT_ENTAILED)


def _natural(data: Path, rng: random.Random, part: Part) -> Iterator[tuple[str, str]]:
    rows = [
        row
        for row in sample_rows(part_rows(data / "judge/answers.jsonl.gz", part), rng, FROM_A_SOURCE)
        if SHORTEST <= len(row["text"].split()) <= LONGEST
    ]
    for row, other in others(rows, lambda row: row["source"], rng):
        if row["group"] != other["group"]:
            yield row["question"], other["text"]


def _contrast(rng: random.Random, part: Part) -> Iterator[tuple[str, str]]:
    rows = [row for row in read_json_rows(TEXTS / "contrast.jsonl") if is_learned(row["question"], part)]
    for row, other in others(rows, lambda row: row["domain"], rng):
        text = rng.choice(other["pairs"])["yes"]
        if SHORTEST <= len(text.split()) <= LONGEST:
            yield row["question"], text


def _pair_across_topics(data: Path, rng: random.Random, part: Part) -> Iterator[tuple[str, str]]:
    for topic, other in others(read_topics(data, part), lambda row: row["domain"], rng):
        for sub in topic["subs"]:
            text = rng.choice(other["subs"])["yes"].get(rng.choice(CELLS), "")
            if len(text.split()) >= SHORTEST:
                yield sub["s"], text


def _pair_within_articles(data: Path, rng: random.Random, part: Part) -> Iterator[tuple[str, str]]:
    """Pair a question about a paragraph with another paragraph of its article that does not hold the answer."""
    for paragraphs in squad_articles(data, part):
        for paragraph in paragraphs:
            asked = [each for each in paragraph["qas"] if not each["is_impossible"]]
            other = rng.choice(paragraphs)["context"]
            if asked and other != paragraph["context"]:
                each = rng.choice(asked)
                if each["answers"][0]["text"] not in other:
                    yield each["question"], sample_excerpt(other, rng)


def pair_across_groups(rng: random.Random, part: Part) -> Iterator[tuple[str, str]]:
    """Pair near questions with what answers a question of another group, in words that may mean anything."""
    groups = [
        group["questions"]
        for group in read_json_rows(TEXTS / "near_questions.jsonl")
        if is_learned(group["questions"][0]["question"], part)
    ]
    for group in groups:
        for each in group:
            other = rng.choice(groups)
            if other is not group:
                yield each["question"], rng.choice(other)["answers"][rng.choice(("passage", "passage", "full", "list"))]


def pair_across_paragraphs(rng: random.Random, part: Part) -> Iterator[tuple[str, str]]:
    """Pair questions about a paragraph with another paragraph."""
    rows = [row for row in read_json_rows(TEXTS / "other_words.jsonl") if is_learned(row["text"], part)]
    for row in rows:
        other = rng.choice(rows)
        if other is not row:
            for each in rng.sample(row["asked"], 2):
                yield each["question"], other["text"]


def pair_across_cases(rng: random.Random, part: Part) -> Iterator[tuple[str, str]]:
    """Pair sub-questions of a case with passages of other cases of its domain."""
    cases = [
        case
        for name in ("cases.jsonl", "near_cases.jsonl")
        for case in read_json_rows(TEXTS / name)
        if case["passages"] and is_held_out(case["domain"]) == part.is_fitted_on
    ]
    for case, other in others(cases, lambda row: row["domain"], rng):
        for question in rng.sample([*case["subs"].values()], 2):
            passage = rng.choice(other["passages"])
            if question not in other["subs"].values():  # else the passage may answer it
                yield question, passage["text"]


def others(
    rows: Sequence[dict[str, Any]], group: Callable[[dict[str, Any]], str], rng: random.Random
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Pair each row with another one of its group."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[group(row)].append(row)
    for row in rows:
        other = rng.choice(groups[group(row)])
        if other is not row:
            yield row, other
