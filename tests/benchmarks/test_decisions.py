"""The labelled decisions that the local decision model is measured on."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from rag_cover.testing import KeywordEntailer

Import = Callable[[str], ModuleType]


def test_the_labelled_decisions_are_sound(module: Import) -> None:
    cases = module("judge.decisions").read_cases()

    assert {case.kind for case in cases} == {"yes/no", "choice"}
    assert len({(case.instructions, case.state) for case in cases}) == len(cases) == 132
    assert all(case.answer in case.criteria for case in cases)
    assert not {case.instructions for case in cases if case.part == "seen"} & {
        case.instructions for case in cases if case.part == "held out"
    }


def test_the_majority_is_counted_question_by_question(module: Import) -> None:
    decisions = module("judge.decisions")
    cases = [
        decisions.Case("choice", "seen", instructions, {"a": "A.", "b": "B."}, "state", answer)
        for instructions, answer in [("Which?", "a"), ("Which?", "a"), ("Which?", "b"), ("What?", "b")]
    ]

    assert decisions.majority(cases) == 3


def test_the_likeliest_label_is_that_whose_description_is_most_borne_out(module: Import) -> None:
    decisions = module("judge.decisions")
    case = decisions.Case("choice", "seen", "Which?", {"snow": "Snow melts.", "rain": "It rains."}, "It rains.", "rain")

    assert decisions.likeliest(case, KeywordEntailer(), None) == "rain"
