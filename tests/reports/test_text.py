"""Numbers as people read them."""

from __future__ import annotations

import pytest

from rag_cover.coverage import Loss
from rag_cover.reports.text import (
    SIGNED,
    headline,
    interval_text,
    loss_advice,
    losses_listed,
    losses_sentence,
    percent,
    verdict_on,
)
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import MetricComparison, MetricValue, Summary


def summary_of(interval: Interval | None, reason: str | None = None) -> Summary:
    metric = MetricValue("core_coverage", "core answered", "P_core(a)", interval, reason, True, "coverage")  # noqa: FBT003
    return Summary(1, 1, (), "judge", {"core_coverage": metric}, {}, {}, {}, ())


def test_the_headline_gives_share_interval_and_number_of_questions() -> None:
    text = headline(summary_of(Interval(0.54, 0.47, 0.61, 18))).text

    assert text == "Answers cover 54% of the core sub-questions (95% interval 47–61, 18 questions)"


def test_the_headline_of_a_single_question_says_that_it_has_no_interval() -> None:
    text = headline(summary_of(Interval(0.5, None, None, 1))).text

    assert text == "Answers cover 50% of the core sub-questions (no interval from a single question, 1 question)"


def test_the_headline_of_an_undefined_coverage_is_its_reason() -> None:
    assert headline(summary_of(None, "no trace has an answer")).text == "Core coverage is undefined: no trace has an answer"


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
    assert loss_advice({loss: 2, **dict.fromkeys(set(Loss) - {loss}, 1)}) == loss_advice({loss: 2})
    assert len(told) == len({sentence for sentence, _ in told}) == len({advice for _, advice in told}) == len(Loss)


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
