"""What is seen of a value in a console is one short line."""

from __future__ import annotations

from typing import Any

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, Trace, compare, evaluate
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer

LONG = "word " * 400


@pytest.fixture(scope="module")
def values() -> list[Any]:
    traces = [
        Trace(
            question=Question(f"Why is planet {number} blue? {LONG}"),
            steps=(RetrievalStep(passages=(Passage(LONG),) * 5),),
            answer=LONG,
            pipeline=LONG,
        )
        for number in range(5)
    ]
    models = Models(judge=KeywordScorer(), locator=KeywordLocator(), entailer=KeywordEntailer())
    evaluation = evaluate(traces, models=models, measures=["coverage"])
    return [traces[0], evaluation.results[0], evaluation, compare(evaluation, evaluation)]


def test_values_are_written_in_one_short_line(values: list[Any]) -> None:
    for value in values:
        assert len(repr(value)) < 300
        assert len(str(value)) < 300
        assert repr(value).startswith(f"{type(value).__name__}(")
        assert "\n" not in repr(value)


def test_they_say_what_they_are(values: list[Any]) -> None:
    trace, result, evaluation, comparison = map(repr, values)

    assert "'Why is planet 0 blue?" in trace
    assert "steps=1, passages=5" in trace
    assert "coverage: measured" in result
    assert "5 traces, measures=coverage" in evaluation
    assert "5 questions, core_coverage" in comparison
