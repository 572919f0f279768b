"""Entities and sets that training asks about: their labels name what is there, and are what the examples say."""

from __future__ import annotations

import random

import pytest

from rag_cover.setqueries.answers import question_for
from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.set_members import ASKED, FILE, make_member_examples
from rag_cover_embedded.training.sources import read_json_rows
from rag_cover_embedded.training.splits import FITTING, LEARNING
from rag_cover_embedded.training.subjects import is_kept_from_weights

ROWS = [*read_json_rows(TEXTS / FILE)]


def test_sets_are_asked_as_set_queries_ask_them() -> None:
    assert ASKED.format("birds of Chile") == question_for("birds of Chile")


def test_labels_name_entities_and_do_not_contradict_one_another() -> None:
    for row in ROWS:
        known = [entity["id"] for entity in row["entities"]]
        assert len(set(known)) == len(known)
        for asked in row["sets"]:
            assert set(asked["members"]) | set(asked["unclear"]) <= set(known)
            assert not set(asked["members"]) & set(asked["unclear"])


@pytest.mark.slow
def test_examples_say_what_the_labels_say() -> None:
    for part in (LEARNING, FITTING):
        rows = [row for row in ROWS if is_kept_from_weights(row["domain"]) == part.is_fitted_on]
        examples = [*make_member_examples(random.Random(3), part)]

        assert {each.task for each in examples} <= {Task.ANSWERS}
        assert {each.first for each in examples} <= {ASKED.format(asked["set"]) for row in rows for asked in row["sets"]}
        for row in rows:
            texts = {each["id"]: each["text"] for each in row["entities"]}
            for asked in row["sets"]:
                mine = [each for each in examples if each.first == ASKED.format(asked["set"])]
                assert sum(bool(each.label) for each in mine) >= len(asked["members"])
                for name in asked["unclear"]:
                    assert not any(each.second.endswith(texts[name]) for each in mine)
