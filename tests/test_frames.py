"""Results as the rows of a table: every trace has one at least."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, Trace, evaluate
from rag_cover.frames import rows_of
from rag_cover.results import NotApplicable, TraceResult
from rag_cover.testing import KeywordScorer

TRACE = Trace(question=Question("Is it?", references=("Yes",)), id="t", steps=(RetrievalStep(passages=(Passage("It is."),)),))


def test_a_utility_stands_in_its_trace_s_row(make_utility: Callable[..., TraceResult]) -> None:
    (row,) = rows_of(make_utility(TRACE, 0.25, 0.5))

    assert row["trace"] == "t"
    assert row["utility"] == pytest.approx(0.5)
    assert row["rating"] is None


def test_what_was_not_measured_is_none() -> None:
    (row,) = rows_of(TraceResult(TRACE, {"coverage": NotApplicable("no answer")}))

    assert row == {"trace": "t", "pipeline": None, "question": "Is it?", "rating": None, "groundedness": None, "utility": None}


def test_a_trace_with_no_sub_questions_keeps_its_row() -> None:
    bare = TRACE.model_copy(update={"sub_questions": (), "answer": "Yes."})

    (result,) = evaluate([bare], measures=["coverage"], models=Models(judge=KeywordScorer())).results

    assert [row["trace"] for row in rows_of(result)] == ["t"]
