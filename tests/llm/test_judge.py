"""A language model as judge, held to its form by a script of replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from rag_cover.backends import Failure, Generation, Prompt, Sampling, ScoringItem
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.judge import PromptedJudge
from rag_cover.llm.session import LLMSession
from rag_cover.traces import Sample

TEXT = "The Moselle is 545 km long. It rises in the Vosges."
LENGTH = ScoringItem("How long is the Moselle?", TEXT)
SOURCE = ScoringItem("Where does it rise?", TEXT)
MOUTH = ScoringItem("Where does it end?", TEXT)

Reply = Callable[[str], str | Failure]


class Scripted:
    """A Generator that replies by a script, and keeps what it was asked."""

    name = "scripted"
    fingerprint = "scripted"

    def __init__(self, *replies: str | Failure | Reply) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []
        self.samplings: list[Sampling] = []

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # noqa: B008  # frozen
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",
    ) -> list[Generation]:
        assert (schema is not None, purpose) == (True, "judge")
        self.samplings += [sampling] * len(prompts)
        return [self._generation(prompt) for prompt in prompts]

    def _generation(self, prompt: Prompt) -> Generation:
        assert not isinstance(prompt, str)
        self.asked.append(prompt[-1].content)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        said = reply(prompt[-1].content) if callable(reply) else reply
        return Generation((), failure=said) if isinstance(said, Failure) else Generation((Sample(said),))


def verdicts(*given: dict[str, Any]) -> str:
    return json.dumps({"verdicts": [{"question": number, **each} for number, each in enumerate(given, 1)]})


def yes(fragment: str, probability: float | None = 0.9) -> dict[str, Any]:
    return {"answered": True, "probability": probability, "fragment": fragment}


def no(probability: float | None = 0.1) -> dict[str, Any]:
    return {"answered": False, "probability": probability, "fragment": None}


def test_a_text_is_judged_by_all_its_questions_in_one_call() -> None:
    generator = Scripted(verdicts(yes("545 km"), no(), yes("in the Vosges", 0.7)))
    judge = PromptedJudge(generator)

    scores = judge.correctness([LENGTH, MOUTH, SOURCE])

    assert scores.dtype == np.float32
    assert scores.tolist() == pytest.approx([0.9, 0.1, 0.7])
    assert len(generator.asked) == 1


def test_what_was_scored_is_located_without_another_call() -> None:
    generator = Scripted(verdicts(yes("545 KM"), no()))
    judge = PromptedJudge(generator)

    judge.correctness([LENGTH, MOUTH])
    spans = judge.locate([MOUTH, LENGTH])

    assert [span and span.of(TEXT) for span in spans] == [None, "545 km"]
    assert len(generator.asked) == 1


def test_each_text_is_a_call_and_verdicts_come_back_in_order() -> None:
    def reply(prompt: str) -> str:
        return verdicts(yes("545 km")) if "545" in prompt else verdicts(no(0.2))

    other = ScoringItem(LENGTH.question, "It is a river.")

    scores = PromptedJudge(Scripted(reply)).correctness([other, LENGTH, other])

    assert scores.tolist() == pytest.approx([0.2, 0.9, 0.2])


def test_yes_and_no_will_do_where_there_is_no_probability() -> None:
    scores = PromptedJudge(Scripted(verdicts(yes("545 km", None), no(None)))).correctness([LENGTH, MOUTH])

    assert scores.tolist() == [1, 0]


def test_a_blank_text_answers_nothing_and_is_not_asked_about() -> None:
    generator = Scripted("never")

    scores = PromptedJudge(generator).correctness([ScoringItem("Why?", " \n")])

    assert scores.tolist() == [0]
    assert generator.asked == []


def test_references_are_shown_with_their_question() -> None:
    generator = Scripted(verdicts(yes("545 km")))

    PromptedJudge(generator).correctness([ScoringItem(LENGTH.question, TEXT, ("545 km", "<b>545,000 m</b>"))])

    assert generator.asked[0].count("<accepted_answer>") == 2
    assert "&lt;b&gt;545,000 m" in generator.asked[0]


UNUSABLE = {
    "a fragment that is not there": yes("546 km"),
    "an answer without a fragment": {"answered": True, "probability": 0.9, "fragment": None},
    "at odds with itself": {"answered": False, "probability": 0.9, "fragment": None},
    "another question's number": {"question": 7, **no()},
}
unusable = pytest.mark.parametrize("verdict", UNUSABLE.values(), ids=UNUSABLE.keys())


@unusable
def test_an_unusable_verdict_is_asked_for_once_more_alone(verdict: dict[str, Any]) -> None:
    generator = Scripted(verdicts(yes("in the Vosges"), verdict), verdicts(yes("545 km")))

    scores = PromptedJudge(generator).correctness([SOURCE, LENGTH])

    assert scores.tolist() == pytest.approx([0.9, 0.9])
    assert "Your verdict on question 1 could not be used" in generator.asked[1]
    assert SOURCE.question not in generator.asked[1]
    assert [sampling.temperature for sampling in generator.samplings] == [0, 0]


@unusable
def test_what_is_unusable_twice_is_asked_for_afresh(verdict: dict[str, Any]) -> None:
    generator = Scripted(verdicts(yes("in the Vosges"), verdict), verdicts(verdict), verdicts(yes("545 km")))

    scores = PromptedJudge(generator).correctness([SOURCE, LENGTH])

    assert scores.tolist() == pytest.approx([0.9, 0.9])
    assert [(sampling.temperature, sampling.seed) for sampling in generator.samplings] == [(0, None), (0, None), (0.7, 3)]


def test_questions_with_one_fault_are_told_of_it_together() -> None:
    generator = Scripted(verdicts(no(), yes("546 km"), yes("the Alps")), verdicts(no(), no()))

    PromptedJudge(generator).correctness([MOUTH, LENGTH, SOURCE])

    assert generator.asked[1].count("could not be used") == 1
    assert "Your verdict on question 1, 2 could not be used: a fragment did not stand in the text" in generator.asked[1]


@unusable
def test_what_stays_unusable_is_a_counted_failure_and_no_number(verdict: dict[str, Any]) -> None:
    generator = Scripted(verdicts(yes("in the Vosges"), verdict), verdicts(verdict))
    run = LLMSession()
    judge = PromptedJudge(generator).for_run(run)

    with pytest.raises(ModelFailedError) as raised:
        judge.correctness([SOURCE, LENGTH])

    assert (raised.value.kind, raised.value.attempts) == ("unusable verdict", 3)
    assert len(generator.asked) == 3
    assert raised.value.raw
    assert [(usage.model, usage.purpose, usage.failures) for usage in run.ledger.spending.usage] == [("scripted", "judge", 1)]


def test_two_verdicts_on_one_question_are_none() -> None:
    twice = json.dumps({"verdicts": [{"question": 1, **yes("545 km")}, {"question": 1, **no()}]})

    with pytest.raises(ModelFailedError, match="two verdicts"):
        PromptedJudge(Scripted(twice)).correctness([LENGTH])


def test_the_others_of_a_failed_batch_are_not_asked_for_again() -> None:
    def reply(prompt: str) -> str | Failure:
        return Failure("server error", "it broke") if "river" in prompt else verdicts(yes("545 km"))

    generator = Scripted(reply)
    judge = PromptedJudge(generator).for_run(LLMSession())
    broken = ScoringItem(LENGTH.question, "It is a river.")

    with pytest.raises(ModelFailedError, match="it broke"):
        judge.correctness([LENGTH, broken])
    scores = judge.correctness([LENGTH])
    with pytest.raises(ModelFailedError, match="it broke"):
        judge.correctness([broken])

    assert scores.tolist() == pytest.approx([0.9])
    assert len(generator.asked) == 2  # within a run a failure is remembered too


def test_outside_a_run_a_failure_may_be_tried_again() -> None:
    judge = PromptedJudge(Scripted(Failure("server error", "it broke"), verdicts(yes("545 km"))))

    with pytest.raises(ModelFailedError):
        judge.correctness([LENGTH])

    assert judge.correctness([LENGTH]).tolist() == pytest.approx([0.9])


def test_a_generator_that_does_not_keep_to_the_schema_has_failed() -> None:
    with pytest.raises(ModelFailedError) as raised:
        PromptedJudge(Scripted("Yes, all of them.")).correctness([LENGTH])

    assert (raised.value.kind, raised.value.raw, raised.value.attempts) == ("malformed", "Yes, all of them.", 3)


def test_a_reply_that_cannot_be_read_is_asked_for_again() -> None:
    generator = Scripted("Yes, all of them.", verdicts(yes("545 km"), no()))

    assert PromptedJudge(generator).correctness([LENGTH, MOUTH]).tolist() == pytest.approx([0.9, 0.1])
    assert "question 1, 2 could not be used: the reply holds no JSON" in generator.asked[1]


def test_a_long_text_is_read_in_windows_and_located_in_the_whole() -> None:
    text = " ".join(f"Brook {number} runs into the Moselle." for number in range(200)) + " The Moselle is 545 km long."
    item = ScoringItem(LENGTH.question, text)

    def reply(prompt: str) -> str:
        return verdicts(yes("545 km")) if "545" in prompt else verdicts(no())

    generator = Scripted(reply)
    judge = PromptedJudge(generator, longest=1_000)

    (score,), (span,) = judge.correctness([item]), judge.locate([item])

    assert len(generator.asked) > 5
    assert score == pytest.approx(0.9)
    assert span is not None
    assert span.of(text) == "545 km"


def test_many_questions_are_spread_over_calls() -> None:
    def reply(prompt: str) -> str:
        return verdicts(*[no()] * prompt.count("<question number"))

    generator = Scripted(reply)
    items = [ScoringItem(f"Question {number}?", TEXT) for number in range(25)]

    scores = PromptedJudge(generator, questions=10).correctness(items)

    assert len(scores) == 25
    assert [asked.count("<question number") for asked in generator.asked] == [10, 10, 5]


def test_the_fingerprint_names_model_wording_and_threshold() -> None:
    first, second = PromptedJudge(Scripted("")), PromptedJudge(Scripted(""), threshold=0.7)

    assert first.fingerprint.startswith("scripted:judge-2:0.5")
    assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize("options", [{"threshold": 1.5}, {"longest": 0}, {"questions": 0}])
def test_a_judge_that_cannot_judge_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        PromptedJudge(Scripted(""), **options)
