"""What a notebook shows of each value: the report's cards, in a frame in which nothing runs."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, SubQuestion, Trace, compare, evaluate
from rag_cover.evaluation import Evaluation
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.recording import Recording
from rag_cover.routing import Route
from rag_cover.testing import KeywordScorer

HOSTILE = "</iframe><script>alert(1)</script>\" onload='x' " + "long " * 400


def _evaluate(text: str) -> Evaluation:
    asked = (SubQuestion(f"red paint {text}", role="core"), SubQuestion("blue paint?", role="core"))
    step = RetrievalStep(passages=(Passage(f"red paint {text}"),))
    trace = Trace(question=Question(text), answer=f"blue {text}", steps=(step,), sub_questions=asked, pipeline=text)
    return evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer()))


def _values(text: str) -> list[object]:
    evaluation = _evaluate(text)
    (result,) = evaluation.results
    route = Route(text, 0.25, {text: 0.5}, text)
    return [evaluation, result, result.trace, Trace(question=Question(text)), compare(evaluation, evaluation), route]


def _page_of(value: Any) -> str:
    shown = re.fullmatch(
        r'<iframe sandbox="" title="[^"<>]*" srcdoc="([^"<>]*)" style="[^"<>]*"></iframe>', value._repr_html_()
    )
    assert shown
    return html.unescape(shown[1])


@pytest.mark.parametrize("number", range(6))
def test_hostile_text_stays_text(number: int) -> None:
    page = _page_of(_values(HOSTILE)[number])

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("</html>") == 1


@pytest.mark.parametrize("number", range(6))
def test_a_short_form_is_one_short_line(number: int) -> None:
    written = repr(_values(HOSTILE)[number])

    assert len(written) <= 300
    assert "\n" not in written


def test_a_recording_shows_its_counts() -> None:
    with Recording(measures=(), traces=None) as recording:
        page = _page_of(recording)

    assert "A recording of 0 traces" in page
    assert len(repr(recording)) <= 300


def test_many_measures_are_cut_in_a_short_form() -> None:
    outcomes = {f"measure_number_{number}": NotApplicable("no answer") for number in range(40)}

    assert len(repr(TraceResult(Trace(question=Question("Q?")), outcomes))) <= 300
    assert len(repr(Evaluation((), "judge", tuple(outcomes)))) <= 300
