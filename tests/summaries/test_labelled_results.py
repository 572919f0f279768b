"""People's labels in the place of the judge's verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.coverage import CoverageResult, Loss, LossEvidence, SubQuestionCoverage, Verdict
from rag_cover.measures import TraceResult
from rag_cover.questions import Question, Role
from rag_cover.reports.question_page import question_view
from rag_cover.reports.sub_question_state import State
from rag_cover.summaries import JudgeKnowledge, LabelledResults, is_all_labelled, list_labelled_verdicts, put_labels
from rag_cover.traces import Trace

TEXTS = ("What is it?", "Who made it?")


def _result(verdicts: Sequence[bool], *, in_prompt: bool | None = True, retrieved: bool = True) -> TraceResult:
    rows = tuple(
        SubQuestionCoverage(
            text,
            Role.CORE,
            "given",
            answer=Verdict(0.9 if covered else 0.1, covered, certain=False),
            chunks=(Verdict(0.9 if retrieved else 0.1, retrieved),),
            in_prompt=in_prompt,
            loss=None if covered else Loss.UNUSED,
            evidence=LossEvidence(0.9 if covered else 0.1, 0.9 if in_prompt else 0.1, 0.9 if retrieved else 0.1),
        )
        for text, covered in zip(TEXTS, verdicts, strict=True)
    )
    coverage = CoverageResult(rows, ("c",), 0.5, None, prompt_assumed=False, decomposed_by="given")
    return TraceResult(Trace(question=Question("What and who?"), answer="It is a lamp."), {"coverage": coverage})


def _known(labels: Sequence[bool | None]) -> JudgeKnowledge:
    return JudgeKnowledge(
        labels={
            (text.rstrip("?").casefold(), "it is a lamp"): label
            for text, label in zip(TEXTS, labels, strict=True)
            if label is not None
        }
    )


def _rows(result: TraceResult) -> Sequence[SubQuestionCoverage]:
    assert result.coverage is not None
    return result.coverage.sub_questions


@pytest.mark.parametrize(
    ("in_prompt", "retrieved", "loss"),
    [(True, True, Loss.UNUSED), (False, True, Loss.DROPPED), (False, False, Loss.NOT_RETRIEVED), (None, False, None)],
)
def test_what_people_find_uncovered_was_lost_where_the_passages_say(
    loss: Loss | None, *, in_prompt: bool | None, retrieved: bool
) -> None:
    judged = _result([True, True], in_prompt=in_prompt, retrieved=retrieved)

    first, second = _rows(put_labels(judged, _known([False, None])))

    assert first.answer == Verdict(0.9, covered=False, judged=True)
    assert first.loss is loss
    assert first.is_loss_clear is (loss is not None)
    assert second == _rows(judged)[1]


def test_what_people_find_covered_is_not_lost() -> None:
    result = put_labels(_result([False, True]), _known([True, True]))

    assert result.coverage is not None
    assert (result.coverage.lost, result.coverage.core_coverage) == ((), 1.0)
    assert [row.answer and (row.answer.certain, row.answer.judged) for row in _rows(result)] == [(True, False), (True, True)]
    assert CoverageResult.from_dict(result.coverage.to_dict()) == result.coverage
    view = question_view(result, "q1")
    assert view.sub_questions[0].answered == "yes, by a person’s label · judge 0.10"
    assert view.sub_questions[0].state is State.ANSWERED


def test_all_is_labelled_where_no_core_verdict_lacks_a_label() -> None:
    results = [_result([False, True])]

    assert is_all_labelled(results, _known([True, True]))
    assert not is_all_labelled(results, _known([True, None]))
    assert not is_all_labelled([], _known([True, True]))
    assert not is_all_labelled(results, JudgeKnowledge())
    found = [
        (text, verdict.covered, label) for text, verdict, label in list_labelled_verdicts(results[0], _known([True, None]))
    ]
    assert found == [(TEXTS[0], False, True)]
    again = list_labelled_verdicts(put_labels(results[0], _known([True, None])), _known([True, None]))
    assert [(text, verdict.covered, label) for text, verdict, label in again] == found


@given(
    st.tuples(st.booleans(), st.booleans()),
    st.tuples(st.sampled_from((True, False, None)), st.sampled_from((True, False, None))),
)
def test_labels_decide_and_nothing_else_changes(verdicts: tuple[bool, bool], labels: tuple[bool | None, bool | None]) -> None:
    judged = _result(verdicts)
    known = _known(labels)

    rows = _rows(LabelledResults([judged], known)[0])

    for row, before, label in zip(rows, _rows(judged), labels, strict=True):
        assert row.answer is not None
        assert before.answer is not None
        assert row.answer.covered is (before.answer.covered if label is None else label)
        assert (row.loss is None) is row.answer.covered
        assert (row.text, row.chunks, row.in_prompt) == (before.text, before.chunks, before.in_prompt)
    assert put_labels(LabelledResults([judged], known)[0:][0], known) == LabelledResults([judged], known)[0]
