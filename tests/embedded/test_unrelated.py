"""Negatives that share few words: made of others' texts."""

from __future__ import annotations

import random
from operator import itemgetter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.crossed import is_held_out
from rag_cover_embedded.training.sources import read_json_rows
from rag_cover_embedded.training.splits import LEARNING
from rag_cover_embedded.training.unrelated import others, pair_across_cases, pair_across_groups, pair_across_paragraphs

rows = st.lists(st.sampled_from("abc"), max_size=12).map(
    lambda groups: [{"number": number, "group": group} for number, group in enumerate(groups)]
)


@given(rows, st.integers(0, 99))
def test_a_row_is_paired_with_another_one_of_its_group(found: list[dict[str, Any]], seed: int) -> None:
    pairs = list(others(found, itemgetter("group"), random.Random(seed)))

    assert all(row["group"] == other["group"] and row["number"] != other["number"] for row, other in pairs)


def test_a_row_that_is_alone_in_its_group_has_no_other() -> None:
    assert not list(others([{"group": "a"}, {"group": "b"}], itemgetter("group"), random.Random(0)))


def test_most_rows_of_a_large_group_find_another() -> None:
    found = [{"group": "a", "number": number} for number in range(100)]

    assert len(list(others(found, itemgetter("group"), random.Random(0)))) > 90


def test_questions_meet_what_answers_another_group() -> None:
    groups = [row["questions"] for row in read_json_rows(TEXTS / "near_questions.jsonl")]
    own = {
        each["question"]: {text for near in group for text in near["answers"].values()} for group in groups for each in group
    }
    pairs = list(pair_across_groups(random.Random(0), LEARNING))

    assert len(pairs) > 1_000
    assert not any(text in own[question] for question, text in pairs)


def test_questions_meet_other_paragraphs_than_their_own() -> None:
    asked = {row["text"]: {each["question"] for each in row["asked"]} for row in read_json_rows(TEXTS / "other_words.jsonl")}
    pairs = list(pair_across_paragraphs(random.Random(0), LEARNING))

    assert len(pairs) > 500
    assert not any(question in asked[text] for question, text in pairs)


def test_sub_questions_meet_passages_of_other_cases() -> None:
    cases = [row for name in ("cases.jsonl", "near_cases.jsonl") for row in read_json_rows(TEXTS / name)]
    asked = {passage["text"]: set(case["subs"].values()) for case in cases for passage in case["passages"]}
    pairs = list(pair_across_cases(random.Random(0), LEARNING))

    held_out = {passage["text"] for case in cases if is_held_out(case["domain"]) for passage in case["passages"]}

    assert len(pairs) > 1_000
    assert not any(question in asked[text] or text in held_out for question, text in pairs)
