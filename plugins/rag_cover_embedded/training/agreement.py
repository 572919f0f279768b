"""Examples of answers that agree with a reference, and of answers that do not."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_cover_embedded.inputs import Task, question_with_references
from rag_cover_embedded.training.labels import NO_SPAN, Example
from rag_cover_embedded.training.sources import rows_of, window_around
from rag_cover_embedded.training.splits import trains

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def squad_correctness(
    text: str, question: dict[str, Any], context: str, sentences: list[tuple[int, int]], rng: random.Random
) -> Iterator[Example]:
    """Say of an alternative answer or its sentence that it is right, of a neighbouring phrase that it is wrong."""
    if rng.random() > 0.5:
        return
    answers = list(dict.fromkeys(answer["text"] for answer in question["answers"]))
    first = question_with_references(text, answers[:1])
    start, end = window_around(sentences, question["answers"][0]["answer_start"], rng, most=1)
    yield Example(Task.CORRECT, first, answers[-1] if rng.random() < 0.5 else context[start:end], 1.0)
    names = re.findall(r"\b(?:[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*|\d[\d,.]*\d)", context)
    wrong = [name for name in names if not any(name.lower() in a.lower() or a.lower() in name.lower() for a in answers)]
    if wrong:
        yield Example(Task.CORRECT, first, rng.choice(wrong), 0.0)


def verdict_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Read human verdicts on five systems' answers; right answers also answer, another question's do not."""
    rows = [row for row in rows_of(data / "answers/evouna_nq.jsonl") if trains(row["question"]) and not row["improper"]]
    for row in rows:
        references = row["golden_answer"].split("/")
        first = question_with_references(row["question"], references)
        for system in SYSTEMS:
            answer, verdict = row[f"answer_{system}"], row[f"judge_{system}"]
            if answer and verdict is not None:
                yield Example(Task.CORRECT, first, answer, float(verdict))
        other = rng.choice(rows)
        for text, label in ((row["answer_gpt4"], 1.0), (other["answer_chatgpt"], 0.0)):
            if text and (not label or row["judge_gpt4"]) and len(text.split()) > 5:
                yield Example(Task.ANSWERS, row["question"], text, label, None if label else NO_SPAN)


def rated_prediction_examples(data: Path) -> Iterator[Example]:
    """Read EfficientQA's rated predictions: definitely, possibly, not correct."""
    labels = {"def_correct_predictions": 1.0, "poss_correct_predictions": 0.6, "def_incorrect_predictions": 0.0}
    for row in rows_of(data / "answers/efficientqa_test.jsonl"):
        if trains(row["question"]):
            first = question_with_references(row["question"], row["answer"])
            for field, label in labels.items():
                yield from (Example(Task.CORRECT, first, text, label) for text in row[field] if text.strip())


def similar_answer_examples(data: Path) -> Iterator[Example]:
    """Read pairs of NQ answers with human similarity 0, 1, 2, in both directions."""
    for row in rows_of(data / "answers/sas_nq.jsonl"):
        if trains(row["question"]):
            for reference, text in ((row["answer1"], row["answer2"]), (row["answer2"], row["answer1"])):
                first = question_with_references(row["question"], [reference])
                yield Example(Task.CORRECT, first, text, (0.0, 0.6, 1.0)[int(float(row["label"]))])
