"""Whole cases: what a text covers is asked and placed, what it leaves open is asked as often, claims meet what decides them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training import cases
from rag_cover_embedded.training.cases import case_examples, case_texts
from rag_cover_embedded.training.example import ENTAILMENT, NO_SPAN
from rag_cover_embedded.training.splits import FITTING, LEARNING

PASSAGE = "The mill was built in 1812. It stands by the Aar. A fire destroyed its roof in 1904. Today it grinds spelt."
REPLY = "It dates from 1812, and it burned in 1904. The river is the Rhine. It has two floors."


QUOTES = {"built in 1812", "by the Aar", "grinds spelt", "It dates from 1812", "The river is the Rhine"}


def case(domain: str = "mills") -> dict[str, Any]:
    """Make a case of one passage and one reply."""
    subs = {
        "s1": "When was the mill built?",
        "s2": "On which river is the mill?",
        "s3": "Who owns the mill?",
        "s4": "What is ground in the mill?",
    }
    claims = [
        {"text": "It dates from 1812, and it burned in 1904.", "label": "supported", "by": [0]},
        {"text": "The river is the Rhine.", "label": "contradicted", "by": [0]},
        {"text": "It has two floors.", "label": "not_found", "by": []},
    ]
    covers = {"s1": "built in 1812", "s2": "by the Aar", "s4": "grinds spelt"}
    answer = {"text": REPLY, "covers": {"s1": "It dates from 1812", "s2": "The river is the Rhine"}, "sentences": claims}
    return {
        "domain": domain,
        "question": "When was the mill built, and where?",
        "subs": subs,
        "passages": [{"text": PASSAGE, "covers": covers}],
        "answers": [answer],
    }


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put cases where the written texts lie."""
    monkeypatch.setattr(cases, "TEXTS", tmp_path)
    (tmp_path / "near_cases.jsonl").touch()

    def write(*rows: dict[str, Any]) -> None:
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    return write


@pytest.mark.parametrize("seed", range(20))
def test_positives_hold_their_quote_and_negatives_are_what_is_left_open(written: Callable[..., None], seed: int) -> None:
    written(case())

    found = [e for e in case_examples(random.Random(seed), LEARNING) if e.task in (Task.ANSWERS, Task.REPLIES)]

    assert {e.label for e in found} == {0.0, 1.0}
    for each in found:
        if each.label:
            assert each.span is not None
            assert each.second[slice(*each.span)] in QUOTES
        else:
            assert each.span == NO_SPAN
            assert each.first in ("Who owns the mill?", "What is ground in the mill?")


def test_replies_are_asked_with_the_users_question(written: Callable[..., None]) -> None:
    written(case())

    found = [e for e in case_examples(random.Random(0), LEARNING) if e.task is Task.REPLIES]

    assert found
    assert {(e.second, e.user_question) for e in found} == {(REPLY, case()["question"])}


def test_claims_meet_the_passages_that_decide_them(written: Callable[..., None]) -> None:
    written(case())

    found = {e.second: e.label for e in case_examples(random.Random(0), LEARNING) if e.task is Task.ENTAILMENT}

    assert found == {
        "It dates from 1812, and it burned in 1904.": ENTAILMENT["entailment"],
        "The river is the Rhine.": ENTAILMENT["contradiction"],
        "It has two floors.": ENTAILMENT["neutral"],
    }


def test_cases_of_held_out_domains_serve_to_fit_alone(written: Callable[..., None]) -> None:
    written(case("mills"), case("pets"))

    assert {e.first for e in case_examples(random.Random(0), FITTING)} <= {*case()["subs"].values(), PASSAGE}
    assert len([*case_texts("passage")]) == 4
    assert [label for _, label in case_texts("reply")] == [1.0, 1.0, 0.0, 0.0]


def test_cases_of_near_matters_stand_in_a_file_of_their_own(written: Callable[..., None], tmp_path: Path) -> None:
    written(case())
    (tmp_path / "near_cases.jsonl").write_text(json.dumps(case("pets")) + "\n")

    assert not [*case_examples(random.Random(0), LEARNING, "near_cases.jsonl")]
    assert len([*case_texts("passage")]) == 4
