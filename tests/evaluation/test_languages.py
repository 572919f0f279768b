"""Traces in a language that the judge does not read."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rag_cover import Models, Passage, RetrievalStep, Trace, evaluate
from rag_cover.coverage import CoverageMeasure
from rag_cover.evaluation.languages import unread_language
from rag_cover.measures import NotApplicable
from rag_cover.testing import KeywordScorer

GERMAN = "Die Hauptstadt von Frankreich ist Paris, und dort leben etwa zwei Millionen Menschen."
ENGLISH = "The capital of France is Paris, where about two million people live."


@dataclass(frozen=True)
class EnglishScorer(KeywordScorer):
    """Reads English alone."""

    languages: tuple[str, ...] = ("en",)


def _trace(question: str, answer: str, *passages: str) -> Trace:
    return Trace(question=question, answer=answer, steps=(RetrievalStep(passages=tuple(map(Passage, passages))),))


@pytest.mark.parametrize(
    ("trace", "part"),
    [
        (_trace("Was ist die Hauptstadt von Frankreich und wie viele leben dort?", ENGLISH, ENGLISH), "the question is"),
        (_trace("What is the capital of France?", GERMAN, ENGLISH), "the answer is"),
        (_trace("What is the capital of France?", "Paris.", GERMAN, GERMAN + " So ist es."), "the passages are"),
    ],
)
def test_a_part_in_another_language_makes_the_trace_unread(trace: Trace, part: str) -> None:
    reason = unread_language(CoverageMeasure(), trace, {"scorer": EnglishScorer()})

    assert reason == f"{part} in German (de), and the judge reads English"


@pytest.mark.parametrize(
    "trace",
    [
        _trace("What is the capital of France?", "Paris.", ENGLISH),
        _trace("What is the capital of France?", ENGLISH, ENGLISH, GERMAN),
        _trace("Hauptstadt?", "Paris.", "Paris."),
    ],
)
def test_english_and_what_is_too_short_to_tell_is_judged(trace: Trace) -> None:
    assert unread_language(CoverageMeasure(), trace, {"scorer": EnglishScorer()}) is None


def test_a_judge_that_names_no_languages_judges_all() -> None:
    assert unread_language(CoverageMeasure(), _trace("What?", GERMAN), {"scorer": KeywordScorer()}) is None


def test_a_mixed_set_says_how_many_were_not_read() -> None:
    traces = [_trace("What is it?", ENGLISH, ENGLISH), _trace("What is it?", GERMAN, ENGLISH)]

    found = evaluate(traces, measures=["coverage"], models=Models(judge=EnglishScorer(), locator=None))

    counts = found.summary().outcomes["coverage"]
    assert (counts.measured, counts.not_applicable) == (1, 1)
    assert counts.reasons == {"the answer is in German (de), and the judge reads English": 1}
    assert isinstance(found.results[1].outcomes["coverage"], NotApplicable)
