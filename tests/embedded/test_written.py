"""The texts written for training: whole, labelled, and cut into windows that keep their labels."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra 'train'")

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.authored_examples import TEXTS, read_authored_examples
from rag_cover_embedded.training.example import NO_SPAN, Example
from rag_cover_embedded.training.splits import FITTING, LEARNING


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TEXTS / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return [*read_authored_examples(random.Random(1), LEARNING)]


def test_every_fragment_stands_once_in_its_text() -> None:
    wrong = [
        asked["question"]
        for row in rows("coverage.jsonl")
        for asked in row["asked"]
        if "fragment" in asked and row["text"].count(asked["fragment"]) != 1
    ]

    assert wrong == []


def test_about_half_of_the_questions_are_answered() -> None:
    answered = ["fragment" in asked for row in rows("coverage.jsonl") for asked in row["asked"]]

    assert 0.4 < sum(answered) / len(answered) < 0.6


def test_a_window_that_answers_holds_its_fragment_and_one_that_does_not_has_none(examples: list[Example]) -> None:
    fragments = {asked["question"]: asked.get("fragment") for row in rows("coverage.jsonl") for asked in row["asked"]}
    windows = [example for example in examples if example.task is Task.ANSWERS and example.first in fragments]

    assert len(windows) > 1_000
    for example in windows:
        fragment = fragments[example.first]
        if example.label:
            assert example.span is not None
            assert example.second[slice(*example.span)] == fragment
        else:
            assert example.span == NO_SPAN
            assert fragment is None or fragment not in example.second


def test_learning_and_fitting_share_no_text(examples: list[Example]) -> None:
    learned = {example.first for example in examples}
    fitted = {example.first for example in read_authored_examples(random.Random(1), FITTING)}

    assert fitted
    assert not learned & fitted


def test_the_same_seed_cuts_the_same_windows(examples: list[Example]) -> None:
    assert examples == [*read_authored_examples(random.Random(1), LEARNING)]
    assert examples != [*read_authored_examples(random.Random(2), LEARNING)]


def test_the_texts_are_described() -> None:
    described = (TEXTS / "README.md").read_text(encoding="utf-8")

    assert all(path.name in described for path in TEXTS.glob("*.jsonl"))
