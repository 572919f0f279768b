"""Results as the rows of a table: every trace has one at least."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, SubQuestion, Trace, evaluate
from rag_cover.complexity import Complexity
from rag_cover.coverage import CoverageResult, SubQuestionCoverage, Verdict
from rag_cover.frames import passage_rows_of, rows_of
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Role
from rag_cover.testing import KeywordScorer

TRACE = Trace(question=Question("Is it?", references=("Yes",)), id="t", steps=(RetrievalStep(passages=(Passage("It is."),)),))


def test_a_utility_stands_in_its_trace_s_row(make_utility: Callable[..., TraceResult]) -> None:
    (row,) = rows_of(make_utility(TRACE, 0.25, 0.5))

    assert row["trace"] == "t"
    assert row["utility"] == pytest.approx(0.5)
    assert row["rating"] is None


def test_what_was_not_measured_is_none() -> None:
    (row,) = rows_of(TraceResult(TRACE, {"coverage": NotApplicable("no answer")}))

    assert {name: value for name, value in row.items() if value is not None} == {"trace": "t", "question": "Is it?"}
    assert {"rating", "groundedness", "utility", "is_complex", "answerable", "completeness"} <= set(row)


def test_a_question_s_complexity_stands_in_its_row() -> None:
    found = Complexity(0.4, answerable=True, completeness=None, complete=None, is_complex=False, t_ans=0.3, t_com=0.8)

    (row,) = rows_of(TraceResult(TRACE, {"complexity": found}))

    assert (row["is_complex"], row["answerable"], row["max_answer_probability"], row["completeness"]) == (
        False,
        True,
        0.4,
        None,
    )


def test_a_trace_with_no_sub_questions_keeps_its_row() -> None:
    bare = TRACE.model_copy(update={"sub_questions": (), "answer": "Yes."})

    (result,) = evaluate([bare], measures=["coverage"], models=Models(judge=KeywordScorer())).results

    assert [row["trace"] for row in rows_of(result)] == ["t"]


def test_a_row_tells_whether_the_answer_declines_and_how_sure_its_verdict_is() -> None:
    refused = Verdict(0.3, covered=False, certain=False, refused=True)
    asked = SubQuestionCoverage("Is it?", Role.CORE, "given", refused)
    coverage = CoverageResult((asked,), (), 0.5, 0.0, prompt_assumed=False, decomposed_by="given", abstained="wholly")

    (row,) = rows_of(TraceResult(TRACE, {"coverage": coverage}))

    assert (row["abstained"], row["answered"], row["answer_certain"], row["answer_refused"]) == ("wholly", False, False, True)


def test_every_passage_has_a_row_for_each_sub_question() -> None:
    asked = (SubQuestion("red paint?", role="core"), SubQuestion("blue paint?", role="core"))
    passages = (Passage("red paint", title="Colours"), Passage("a brush"))
    step = RetrievalStep(id="search", passages=passages)
    trace = Trace(question=Question("What?"), id="t", steps=(step,), prompt=passages[:1], sub_questions=asked)

    (result,) = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer())).results
    rows = list(passage_rows_of(result))

    assert [(row["sub_question"], row["text"]) for row in rows] == [(s.text, p.text) for s in asked for p in passages]
    assert [row["in_prompt"] for row in rows] == [True, False, True, False]
    assert (rows[0]["step"], rows[0]["title"], rows[0]["covered"], rows[1]["covered"]) == ("search", "Colours", True, False)


def test_a_trace_without_judged_passages_has_no_row_of_passages() -> None:
    assert list(passage_rows_of(TraceResult(TRACE, {"coverage": NotApplicable("no answer")}))) == []


def test_the_frame_of_passages_says_which_extra_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = evaluate([TRACE], measures=["coverage"], models=Models(judge=KeywordScorer()))
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(ImportError, match=r"rag-cover\[all\]"):
        evaluation.passages_to_dataframe()


def test_a_frame_without_passages_has_its_columns() -> None:
    pytest.importorskip("pandas")

    frame = evaluate([{"question": "What is x?", "answer": "x is y."}], measures=["coverage"]).passages_to_dataframe()

    assert len(frame) == 0
    assert {"passage", "covered", "probability"} <= {*frame.columns}
