"""Answer relevance and context relevance: what they count, and what they do not apply to."""

from __future__ import annotations

import pytest

from rag_cover import Models, NotApplicable, Passage, Question, RetrievalStep, SubQuestion, Trace, evaluate
from rag_cover.testing import KeywordScorer

QUESTION = "What does air scatter?"


def _trace(answer: str | None = None, *passages: str, asked: tuple[str, ...] = ()) -> Trace:
    steps = (RetrievalStep(passages=tuple(map(Passage, passages))),) if passages else ()
    sub_questions = tuple(map(SubQuestion, asked)) or None
    return Trace(question=Question(QUESTION), answer=answer, steps=steps, sub_questions=sub_questions)


def _measured(measure: str, *traces: Trace, models: Models | None = None) -> list[object]:
    found = evaluate(traces, measures=[measure], models=models or Models(judge=KeywordScorer()))
    return [result.outcomes[measure] for result in found.results]


def _value(outcome: object) -> float:
    value = getattr(outcome, "value", None)
    assert isinstance(value, float)
    return value


def test_a_reply_is_relevant_and_a_blank_one_is_not() -> None:
    about, blank = _measured("answer_relevance", _trace("Air can scatter blue light."), _trace("  "))

    assert _value(about) > 0.5
    assert _value(blank) == 0


def test_relevant_passages_are_counted_by_the_question_and_its_sub_questions() -> None:
    passages = ("Air can scatter light.", "Grass is green in summer.", "Nothing of it.")

    alone, parts = _measured(
        "context_relevance", _trace(None, *passages), _trace(None, *passages, asked=("What is green in summer?",))
    )

    assert [_value(alone), _value(parts)] == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("measure", "needs"), [("answer_relevance", "an answer"), ("context_relevance", "retrieval steps that found passages")]
)
def test_without_what_they_need_they_do_not_apply(measure: str, needs: str) -> None:
    assert _measured(measure, _trace()) == [NotApplicable(f"{measure} needs {needs}")]


def test_by_default_neither_is_measured() -> None:
    (result,) = evaluate([_trace("Air can scatter blue light.")], models=Models(judge=KeywordScorer())).results

    assert not {"answer_relevance", "context_relevance"} & result.outcomes.keys()


def test_the_embedded_judge_tells_a_reply_from_a_refusal_and_an_answer_to_another_question() -> None:
    pytest.importorskip("onnxruntime")
    right, refusal, other = _measured(
        "answer_relevance",
        _trace("It scatters blue light."),
        _trace("I'm sorry, the context does not say what air scatters."),
        _trace("The bakery opens at seven."),
        models=Models(),
    )

    assert _value(right) > 0.5 > max(_value(refusal), _value(other))
