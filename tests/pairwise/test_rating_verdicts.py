"""Answers judged by their coverage ratings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.backends import Failure
from rag_cover.measures import NotApplicable, Outcome, TraceResult
from rag_cover.pairwise import Answer, AnswerPair, AnswersByQuestion, PairVerdict, UnjudgedPair
from rag_cover.pairwise.rating_verdicts import by_rating, ratings_of
from rag_cover.questions import Question
from rag_cover.traces import Trace


def pair(a: Answer, b: Answer) -> AnswerPair:
    return AnswerPair("1", "plain", "broad", a, b)


def rated(rating: float) -> Answer:
    return Answer("Why?", "Because.", rating)


def unrated(**outcomes: Outcome) -> Answer:
    return Answer.of(TraceResult(Trace(question=Question("Why?"), answer="Because."), outcomes))


def test_the_higher_rating_wins_in_either_order() -> None:
    found = by_rating([pair(rated(0.5), rated(0.25)), pair(rated(-1), rated(0)), pair(rated(0.5), rated(0.5))])

    assert [(each.ab, each.ba) for each in found if isinstance(each, PairVerdict)] == [("a", "a"), ("b", "b"), ("tie", "tie")]


def test_ratings_that_differ_in_rounding_are_a_tie() -> None:
    (found,) = by_rating([pair(rated(0.1 + 0.2), rated(0.3))])

    assert isinstance(found, PairVerdict)
    assert found.ab == "tie"


@given(st.floats(-1, 1.5), st.floats(-1, 1.5))
def test_swapping_the_answers_swaps_the_winner(a: float, b: float) -> None:
    (one,), (other,) = by_rating([pair(rated(a), rated(b))]), by_rating([pair(rated(b), rated(a))])

    assert isinstance(one, PairVerdict)
    assert isinstance(other, PairVerdict)
    assert one.credit + other.credit == 1


def test_an_answer_without_a_rating_is_not_judged_and_says_why() -> None:
    lacking = [
        unrated(),
        unrated(coverage=NotApplicable("the trace has no answer")),
        unrated(coverage=Failure("timeout", "60 s")),
    ]

    found = by_rating([*(pair(rated(0.5), each) for each in lacking), pair(lacking[0], rated(0.5))])

    assert [(each.reason, each.failed) for each in found if isinstance(each, UnjudgedPair)] == [
        ("broad has no rating: coverage was not measured", False),
        ("broad has no rating: the trace has no answer", False),
        ("broad has no rating: timeout: 60 s", True),
        ("plain has no rating: coverage was not measured", False),
    ]


def test_ratings_are_known_by_question_and_pipeline() -> None:
    found = ratings_of([pair(rated(0.5), unrated())])

    assert found == {("1", "plain"): 0.5}


def test_the_first_answer_to_a_question_counts_and_others_are_known_of() -> None:
    traces = [
        Trace(question=Question(text), answer=answer, pipeline="plain") for text, answer in (("Why?", "1"), ("why?", "2"))
    ]

    answers = AnswersByQuestion.of(TraceResult(trace) for trace in traces)

    assert [answer.text for answer in answers.first.values()] == ["1"]
    assert answers.repeated == set(answers.first)
    assert list(answers.pipelines) == ["plain"]
