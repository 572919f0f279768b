"""Examples of answers that agree with a reference, and of answers that do not."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rag_cover_embedded.training.example import Example, agreeing
from rag_cover_embedded.training.sources import read_json_rows, window_around
from rag_cover_embedded.training.splits import Part

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
_LONGEST_ALIAS = 5  # words


def squad_correctness(
    text: str, question: dict[str, Any], context: str, sentences: list[tuple[int, int]], rng: random.Random
) -> Iterator[Example]:
    """Label an alternative answer or its sentence as right, a neighbouring phrase as wrong."""
    if rng.random() > 0.3:
        return
    answers = list(dict.fromkeys(answer["text"] for answer in question["answers"]))
    start, end = window_around(sentences, question["answers"][0]["answer_start"], rng, most=1)
    yield agreeing(text, answers[:1], answers[-1] if rng.random() < 0.5 else context[start:end], 1.0)
    names = re.findall(r"\b(?:[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*|\d[\d,.]*\d)", context)
    wrong = [name for name in names if not any(name.lower() in a.lower() or a.lower() in name.lower() for a in answers)]
    if wrong:
        yield agreeing(text, answers[:1], rng.choice(wrong), 0.0)


def verdict_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Read human verdicts on five systems' answers."""
    rows = [
        row for row in read_json_rows(data / "answers/evouna_nq.jsonl") if part.has(row["question"]) and not row["improper"]
    ]
    for row in rows:
        references = [answer.strip() for answer in row["golden_answer"].split("/") if answer.strip()]
        for system in SYSTEMS:
            answer, verdict = row[f"answer_{system}"], row[f"judge_{system}"]
            if answer and verdict is not None:
                yield agreeing(row["question"], vary_references(references, rng), answer, float(verdict))


def vary_references(references: Sequence[str], rng: random.Random) -> list[str]:
    """Write references, every third time, as lists of aliases do: in any order, turned around, with case and articles changed.

    >>> vary_references(["Jane Austen"], random.Random(0))
    ['Jane Austen']
    """
    if rng.random() > 0.35:
        return list(references)
    found = [*references, *(alias for reference in references for alias in _aliases(reference, rng))]
    rng.shuffle(found)
    return list(dict.fromkeys(found))


def _aliases(reference: str, rng: random.Random) -> list[str]:
    words = reference.split()
    if len(words) > _LONGEST_ALIAS or any(char.isdigit() for char in reference):
        return []
    forms = [reference.upper(), reference.lower(), f"The {reference}", f"{words[-1]}, {' '.join(words[:-1])}".rstrip(", ")]
    if len(words) > 1:
        forms += [f"{words[-1]} ({' '.join(words[:-1])})", f"{words[0][0]}. {' '.join(words[1:])}", "-".join(words)]
    return rng.sample(forms, rng.randint(1, min(4, len(forms))))


def read_rated_predictions(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Read EfficientQA's rated predictions: definitely, possibly, not correct."""
    labels = {"def_correct_predictions": 1.0, "poss_correct_predictions": 0.6, "def_incorrect_predictions": 0.0}
    for row in read_json_rows(data / "answers/efficientqa_test.jsonl"):
        if part.has(row["question"]):
            for field, label in labels.items():
                found = (text for text in row[field] if text.strip())
                yield from (agreeing(row["question"], vary_references(row["answer"], rng), text, label) for text in found)


def similar_answer_examples(data: Path, part: Part) -> Iterator[Example]:
    """Read pairs of NQ answers with human similarity 0, 1, 2, in both directions."""
    for row in read_json_rows(data / "answers/sas_nq.jsonl"):
        if part.has(row["question"]):
            label = (0.0, 0.6, 1.0)[int(float(row["label"]))]
            for reference, text in ((row["answer1"], row["answer2"]), (row["answer2"], row["answer1"])):
                yield agreeing(row["question"], [reference], text, label)
