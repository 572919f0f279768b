"""Numbers as people read them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from rag_cover.coverage import Loss
from rag_cover.coverage.summary import AnswerCounts
from rag_cover.language import unread_reason
from rag_cover.reports.figures import metric_row
from rag_cover.reports.loss_text import loss_advice, losses_listed
from rag_cover.reports.text import (
    SIGNED,
    abstentions_sentence,
    headline,
    interval_text,
    losses_sentence,
    losses_sentence_of,
    percent,
    sub_questions_hint,
    verdict_on,
)
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import MetricComparison, MetricValue, OutcomeCounts, Summary

TWELVE = Interval(0.5, 0.4, 0.6, 12)
BASIS = "(95% interval 40–60, 12 questions)"


def summary_of(interval: Interval | None, reason: str | None = None, **given: Any) -> Summary:
    metric = MetricValue("core_coverage", "core answered", "P_core(a)", interval, reason, True, "coverage")  # noqa: FBT003
    return replace(Summary(1, 1, (), "judge", {"core_coverage": metric}, {}, {}, {}, ()), **given)


def unread(*languages: tuple[str, int], measured: int = 0, other: int = 0) -> Summary:
    reasons = {unread_reason("the answer is", code, ("en",)): count for code, count in languages}
    reasons |= {"the trace has no answer": other} if other else {}
    left_out = sum(reasons.values())
    counts = OutcomeCounts(measured, left_out, 0, reasons)
    found, reason = (TWELVE, None) if measured else (None, next(iter(reasons)))
    return summary_of(found, reason, traces=measured + left_out, outcomes={"coverage": counts})


def test_the_headline_gives_share_interval_and_number_of_questions() -> None:
    text = headline(summary_of(Interval(0.54, 0.47, 0.61, 18))).text

    assert text == "Answers cover 54% of the core sub-questions (95% interval 47–61, 18 questions)"


def test_the_headline_of_a_single_question_says_that_it_has_no_interval() -> None:
    text = headline(summary_of(Interval(0.5, None, None, 1))).text

    assert text == "Answers cover 50% of the core sub-questions (no interval from a single question, 1 question)"


def test_the_headline_of_an_undefined_coverage_is_its_reason() -> None:
    assert headline(summary_of(None, "no trace has an answer")).text == "Core coverage is undefined: no trace has an answer"


def test_where_no_trace_could_be_read_the_headline_says_so_and_in_which_language() -> None:
    assert headline(unread(("de", 12))).text == (
        "12 of 12 traces are in a language that the judge does not read (German): nothing was measured"
    )
    assert headline(unread(("de", 1))).text == (
        "1 of 1 trace is in a language that the judge does not read (German): nothing was measured"
    )
    several = headline(unread(("fr", 1), ("de", 5), ("es", 3), ("pl", 2), other=1)).text
    assert several == (
        "11 of 12 traces are in a language that the judge does not read (German, Spanish, Polish, others): nothing was measured"
    )


def test_where_a_few_of_many_could_not_be_read_and_nothing_was_measured_the_reason_is_another() -> None:
    text = headline(unread(("de", 1), other=11)).text

    assert text.startswith("Core coverage is undefined: ")


def test_where_another_measure_was_measured_the_headline_does_not_say_that_nothing_was() -> None:
    summary = unread(("de", 2))
    mixed = replace(summary, outcomes={**summary.outcomes, "utility": OutcomeCounts(2, 0, 0, {})})

    assert headline(mixed).text.endswith("(German): coverage was not measured")


def test_of_a_mixed_set_the_headline_says_how_many_were_left_out() -> None:
    text = headline(unread(("de", 3), measured=9)).text

    assert text == (
        "Answers cover 50% of the core sub-questions (95% interval 40–60, 12 questions; 3 of 12 traces left out, in German)"
    )


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        (
            AnswerCounts(12, 12, declined=6),
            "50% of the answers decline to answer; the answers cover 50% of the core sub-questions",
        ),
        (AnswerCounts(12, 12, declined=5), "Answers cover 50% of the core sub-questions"),
        (AnswerCounts(12, 12, declined_partly=12), "Answers cover 50% of the core sub-questions"),
        (
            AnswerCounts(12, 12, repetitions=9),
            "75% of the answers only repeat the question; the answers cover 50% of the core sub-questions",
        ),
        (
            AnswerCounts(12, 6, declined=6, empty=6),
            "100% of the answers decline to answer, 50% are empty; the answers cover 50% of the core sub-questions",
        ),
        (AnswerCounts(12, short=10), "Answers cover 50% of the core sub-questions; 10 of 12 answers are one or two words long"),
        (AnswerCounts(12, short=5), "Answers cover 50% of the core sub-questions"),
    ],
)
def test_the_headline_begins_with_what_makes_its_number_mean_little(answers: AnswerCounts, text: str) -> None:
    assert headline(summary_of(TWELVE, answers=answers)).text == f"{text} {BASIS}"


@pytest.mark.parametrize(("share", "text"), [(1.0, "questions"), (0.9, "questions"), (0.89, "core sub-questions")])
def test_where_rules_left_questions_whole_the_headline_speaks_of_questions(share: float, text: str) -> None:
    summary = summary_of(TWELVE, single_sub_questions=share)

    assert headline(summary).text.split(" 50% ")[1] == f"of the {text} {BASIS}"
    assert bool(sub_questions_hint(summary)) == (text == "questions")


def test_whole_questions_of_answers_that_decline_are_said_to_be_answered() -> None:
    summary = summary_of(TWELVE, single_sub_questions=1.0, answers=AnswerCounts(12, 12, declined=6))

    assert headline(summary).text == f"50% of the answers decline to answer; 50% of the questions are answered {BASIS}"


def test_the_hint_names_options_that_there_are() -> None:
    hint = sub_questions_hint(summary_of(TWELVE, single_sub_questions=1.0))

    assert all(word in hint for word in ("rag-cover decompose", "--sub-questions", "--generator openai:", "OPENAI_BASE_URL"))


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        (None, ""),
        (AnswerCounts(9, 9), ""),
        (AnswerCounts(9, 9, declined=2), "2 of 9 answers decline to answer."),
        (
            AnswerCounts(9, 9, declined=3, declined_retrieved=1),
            (
                "3 of 9 answers decline to answer: 1 where a retrieved passage covers a core sub-question, "
                "2 where that is not known."
            ),
        ),
        (
            AnswerCounts(9, 9, declined=1, declined_unretrieved=1, declined_partly=2),
            (
                "1 of 9 answers declines to answer: 1 where no retrieved passage covers a core sub-question; "
                "2 more decline in part."
            ),
        ),
    ],
)
def test_answers_that_decline_are_told_by_whether_they_had_to(answers: AnswerCounts | None, sentence: str) -> None:
    assert abstentions_sentence(answers) == sentence


def test_almost_none_and_almost_all_are_not_rounded_away() -> None:
    assert [percent(share) for share in (0.0, 0.001, 0.005, 0.99, 0.995, 0.999, 1.0)] == [
        "0%",
        "<1%",
        "<1%",
        "99%",
        ">99%",
        ">99%",
        "100%",
    ]


def test_a_metric_with_a_sign_shows_it() -> None:
    assert interval_text(Interval(0.1, -0.25, 0.3, 5), SIGNED) == "\N{MINUS SIGN}0.25 to +0.30"


def test_no_losses_is_a_sentence_and_gives_no_advice() -> None:
    assert losses_sentence({}) == "No core sub-question is known to have been lost on the way."
    assert not loss_advice({})


@pytest.mark.parametrize(("single", "noun"), [(1.0, "question"), (0.5, "core sub-question"), (None, "core sub-question")])
def test_losses_of_whole_questions_are_those_of_questions(single: float | None, noun: str) -> None:
    summary = summary_of(TWELVE, losses={Loss.UNUSED: 1}, single_sub_questions=single)

    assert losses_sentence_of(summary) == f"Of 1 {noun} the answers leave out, 1 was in the prompt and not used."


def test_a_tie_of_losses_gives_no_advice() -> None:
    assert not loss_advice({Loss.DROPPED: 2, Loss.UNUSED: 2})


@pytest.mark.parametrize(
    ("failed", "told"),
    [(1, "1 was lost because its retrieval failed"), (5, "5 were lost because their retrieval failed")],
)
def test_failed_retrievals_are_told_first(failed: int, told: str) -> None:
    sentence = losses_sentence({Loss.NOT_RETRIEVED: 2, Loss.FAILED: failed})

    assert sentence == f"Of {failed + 2} core sub-questions the answers leave out, {told} and 2 were never retrieved."


@pytest.mark.parametrize("loss", Loss)
def test_every_loss_has_its_own_sentence_and_advice(loss: Loss) -> None:
    told = {(losses_sentence({other: 2}), loss_advice({other: 2})) for other in Loss}

    assert losses_sentence({loss: 1}).endswith(".")
    assert "{" not in losses_sentence({loss: 1}) + losses_sentence({loss: 2})
    assert loss_advice({loss: 4, **dict.fromkeys(set(Loss) - {loss}, 3)}) == loss_advice({loss: 4})
    assert len(told) == len({sentence for sentence, _ in told}) == len({advice for _, advice in told}) == len(Loss)


def test_advice_on_few_losses_says_that_they_may_be_chance() -> None:
    few, enough = loss_advice({Loss.UNUSED: 2, Loss.DROPPED: 1}), loss_advice({Loss.UNUSED: 3})

    assert few == f"{enough} With 3 clear losses, this may be chance."


def test_failures_are_listed_only_where_some_pipeline_has_any() -> None:
    usual = (Loss.NOT_RETRIEVED, Loss.DROPPED, Loss.UNUSED)

    assert losses_listed({}) == losses_listed({Loss.FAILED: 0, Loss.UNUSED: 2}, {}) == usual
    assert losses_listed({}, {Loss.FAILED: 1}) == (Loss.FAILED, *usual)


@pytest.mark.parametrize(
    ("difference", "p_value", "higher_is_better", "verdict"),
    [
        (0.1, 0.01, True, "better"),
        (0.1, 0.01, False, "worse"),
        (-0.1, 0.01, True, "worse"),
        (0.1, 0.01, None, "different"),
        (0.1, 0.2, True, "unclear"),
        (None, None, True, "undefined"),
    ],
)
def test_only_a_clear_difference_is_called_better_or_worse(
    *, difference: float | None, p_value: float | None, higher_is_better: bool | None, verdict: str
) -> None:
    metric = MetricComparison("core_use", "core use", None, None, difference, p_value, 9, higher_is_better)

    assert verdict_on(metric) == verdict


def test_what_a_metric_says_of_itself_stands_beside_it() -> None:
    bare = MetricValue(
        "answer_words", "words", "words of an answer", Interval(12.0, 9.0, 15.0, 8), None, None, "words", high=math.inf
    )
    told = replace(bare, plain_words="How long the answers are.", known_as="response length")

    assert [(row.explanation, row.known_as) for row in map(metric_row, (bare, told))] == [
        ("words of an answer", ""),
        ("How long the answers are.", "response length"),
    ]


@pytest.mark.parametrize(("low", "shown"), [(-1.0, "+0.25"), (0.0, "0.25"), (-math.inf, "0.25")])
def test_a_number_that_may_lie_below_0_carries_its_sign(low: float, shown: str) -> None:
    metric = MetricValue("gap", "gap", "a - b", Interval(0.25, 0.1, 0.4, 8), None, None, "own", low=low, high=2.0)

    assert metric_row(metric).value == shown
