"""What the benchmark of orders and filters counts, by hand-worked numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from rag_cover import Passage
from rag_cover.testing import ScriptedReceiver, ScriptedScorer

Import = Callable[[str], ModuleType]


def test_recall_is_of_the_first_five_in_the_order_that_is_measured(module: Import) -> None:
    benchmark = module("coverage.rerank")
    passages = tuple(Passage(f"text {number}", id=str(number)) for number in range(7))
    case = benchmark.Case("Which?", passages, frozenset({0, 6}))

    backwards = benchmark.recalls([case], lambda each: each.passages[::-1])
    forwards = benchmark.recalls([case], lambda each: each.passages)

    assert (backwards.tolist(), forwards.tolist()) == ([0.5], [0.5])
    assert benchmark.recalls([case], lambda each: each.passages, 7).tolist() == [1.0]


def test_every_order_is_one_of_the_same_passages(module: Import) -> None:
    benchmark = module("coverage.rerank")
    passages = tuple(Passage(f"text {number}", id=str(number)) for number in range(4))
    case = benchmark.Case("Which?", passages, frozenset({3}), ("Which?",))
    scorer = ScriptedScorer({("Which?", "text 3"): 0.9})

    ways = benchmark.ways_of(scorer, ScriptedReceiver({}), [case])

    assert list(ways)[-1] == "coverage, human steps"
    assert ways["retriever"](case) == passages
    assert all(set(way(case)) == set(passages) for way in ways.values())
    assert all(way(case)[0] == passages[3] for name, way in ways.items() if name != "retriever")


def test_shares_of_what_is_dropped_are_of_supporting_passages_and_of_others(module: Import) -> None:
    benchmark, support = module("coverage.rerank"), module("support.supported_sets")
    passages = tuple(Passage(f"{number}") for number in range(4))
    row = support.Supported("Which?", ("x",), passages, (0.5, 0.5, 0.0, 0.0))

    shares = [benchmark._share([row, row], [{0, 2}, {3}], supporting=each, seed=0) for each in (True, False)]

    assert [share.partition(" ")[0] for share in shares] == ["25.0", "50.0"]


def test_a_way_without_human_steps_is_left_out_where_a_question_has_none(module: Import) -> None:
    benchmark = module("coverage.rerank")
    case = benchmark.Case("Which?", (Passage("text", id="0"),), frozenset({0}))

    ways = benchmark.ways_of(ScriptedScorer(), ScriptedReceiver({}), [case])

    assert "coverage, human steps" not in ways
    assert benchmark.recalls([case], ways["coverage"]).tolist() == pytest.approx([1.0])
