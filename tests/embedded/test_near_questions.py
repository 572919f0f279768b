"""Training examples of groups of near questions."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.example import Example
from rag_cover_embedded.training.near_questions import ANSWERS, NEAR_MISS, near_question_examples
from rag_cover_embedded.training.splits import FITTING, LEARNING, bucket

THINGS = ("ferry", "bus", "tram")


def group(suffix: str = "") -> dict[str, Any]:
    def make_question(thing: str) -> dict[str, Any]:
        answers = {form: f"The {thing} takes 40 minutes, says the {form} text." for form in (*ANSWERS, NEAR_MISS)}
        return {"question": f"How long does the {thing} take{suffix}?", "answers": answers | {"terse": "40 minutes"}}

    return {"domain": "travel", "questions": [make_question(thing) for thing in THINGS]}


@pytest.fixture(name="examples")
def _examples(tmp_path: Path) -> list[Example]:
    suffix = next(text for text in ("", " now", " today") if bucket(f"How long does the ferry take{text}?") < 67)
    (tmp_path / "groups.jsonl").write_text(json.dumps(group(suffix)) + "\n")
    return [*near_question_examples(random.Random(0), LEARNING, tmp_path / "groups.jsonl")]


def test_an_answer_is_a_positive_of_its_question_and_a_negative_of_the_others(examples: list[Example]) -> None:
    for example in examples:
        asked = next(thing for thing in THINGS if thing in example.first)
        told = [thing for thing in THINGS if thing in example.second]
        near_miss = NEAR_MISS in example.second

        assert example.label == float(not near_miss and told in ([], [asked]))


def test_every_answer_is_read_once_for_its_question(examples: list[Example]) -> None:
    assert sum(bool(example.label) for example in examples) == len(THINGS) * len(ANSWERS)
    assert {example.task for example in examples} == {Task.REPLIES, Task.ANSWERS}


def test_a_bare_value_is_no_negative_of_a_question_that_it_may_answer_too(examples: list[Example]) -> None:
    assert all(example.label for example in examples if example.second == "40 minutes")


def test_groups_are_split_by_their_first_question(tmp_path: Path) -> None:
    suffixes = [" ".join(["", *n * ["then"]]) for n in range(200)]
    fitted = next(text for text in suffixes if bucket(f"How long does the ferry take{text}?") in FITTING.questions)
    (tmp_path / "groups.jsonl").write_text(json.dumps(group(fitted)) + "\n")

    assert not [*near_question_examples(random.Random(0), LEARNING, tmp_path / "groups.jsonl")]
    assert [*near_question_examples(random.Random(0), FITTING, tmp_path / "groups.jsonl")]
