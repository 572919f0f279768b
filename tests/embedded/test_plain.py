"""Plain statements about made-up names: the name decides, not the question's words."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from rag_cover_embedded.training.example import Example
from rag_cover_embedded.training.plain import plain_examples, read_relations
from rag_cover_embedded.training.splits import FITTING, LEARNING


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    folder = tmp_path_factory.mktemp("data")
    (folder / "reading").mkdir()
    paragraphs = [{"context": "Rain fell. Nobody came.", "qas": []}]
    articles = [{"title": f"Title {number}", "paragraphs": paragraphs} for number in range(30)]
    (folder / "reading" / "squad2_dev_part.json").write_text(json.dumps({"data": articles}))
    return [*plain_examples(Path(folder), random.Random(0), LEARNING)]


def test_as_many_answer_as_do_not(examples: list[Example]) -> None:
    assert sum(each.label == 1.0 for each in examples) * 2 == len(examples)


def test_the_place_is_the_name_that_was_asked_for(examples: list[Example]) -> None:
    for each in examples:
        assert each.span is not None
        if each.label:
            name = each.second[slice(*each.span)]
            assert name
            assert f" {name}?" not in each.first


def test_relations_that_are_fitted_on_do_not_train() -> None:
    fitted, learned = set(read_relations(FITTING)), set(read_relations(LEARNING))

    assert fitted
    assert not fitted & learned
