"""The arithmetic of `benchmarks/complexity/question_kinds.py`, on a few questions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from rag_cover.complexity import Kind

Import = Callable[[str], ModuleType]


def test_a_line_tells_recall_claims_among_the_others_and_precision(module: Import) -> None:
    those, others = ["How many moons?", "How many?", "The count"], ["Who is he?", "how many towns?"]

    line = module("complexity.question_kinds").Labelled("A set", Kind.AGGREGATE, those, others).line

    assert [cell.split(" ")[0] for cell in line] == ["A", "aggregate", "3", "2", "66.7", "50.0", "66.7"]


def test_without_other_questions_precision_is_undefined(module: Import) -> None:
    line = module("complexity.question_kinds").Labelled("A set", Kind.AGGREGATE, ["How many?"], []).line

    assert line[-2:] == ["undefined", "undefined"]
