from __future__ import annotations

import pytest

from rag_cover.complexity import Kind, Standing
from rag_cover.complexity.choices import AnswerSource
from rag_cover.complexity.result import Complexity
from rag_cover.complexity.summary import NO_KIND
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Question
from rag_cover.summaries import Summary, summarise
from rag_cover.traces import Trace


def _result(
    question: str,
    best: float | None,
    completeness: float | None = 0.8,
    *,
    references: AnswerSource = "gold",
    name: str | None = None,
) -> TraceResult:
    answerable = best is not None and best >= 0.5
    complete = None if completeness is None else completeness >= 0.5
    found = Complexity(
        best,
        answerable,
        completeness,
        complete,
        not answerable and complete is not False,
        0.5,
        0.5,
        references=references,
        calibration=name,
    )
    return TraceResult(Trace(question=Question(question)), {"complexity": found})


def _summary(*results: TraceResult) -> Summary:
    return summarise(results, judge="a judge")


def test_questions_are_counted_where_they_stand() -> None:
    found = _summary(_result("A?", 0.9), _result("B?", 0.1), _result("C?", 0.1, 0.2), _result("D?", None, 1.0)).complexity

    assert found is not None
    assert found.standings == {Standing.COMPLEX: 1, Standing.UNANSWERABLE: 2, Standing.ANSWERABLE: 1}
    assert (found.traces, found.questions) == (4, 4)


def test_the_metrics_are_shares_and_a_mean_over_measured_traces() -> None:
    unmeasured = TraceResult(Trace(question="E?"), {"complexity": NotApplicable("complexity needs retrieval steps")})

    metrics = _summary(_result("A?", 0.9, 0.6), _result("B?", 0.1, 0.8), _result("C?", 0.1, 0.1), unmeasured).metrics

    estimates = {name: metrics[name].interval for name in ("complex_questions", "answerable_questions", "completeness")}
    assert {name: interval and round(interval.estimate, 3) for name, interval in estimates.items()} == {
        "complex_questions": 0.333,
        "answerable_questions": 0.333,
        "completeness": 0.5,
    }
    assert {interval and interval.n for interval in estimates.values()} == {3}


def test_a_question_asked_of_two_pipelines_is_one_cluster() -> None:
    summary = _summary(_result("Why is it so?", 0.9), _result("why is  it so?", 0.1))

    interval = summary.metrics["answerable_questions"].interval
    assert interval is not None
    assert (interval.estimate, interval.lower, interval.n) == (0.5, None, 1)
    assert summary.complexity is not None
    assert (summary.complexity.traces, summary.complexity.questions) == (2, 1)


def test_completeness_of_questions_for_which_it_is_unknown_counts_in_no_mean() -> None:
    metrics = _summary(_result("A?", 0.9, None), _result("B?", 0.1, 0.7)).metrics

    interval = metrics["completeness"].interval
    assert interval is not None
    assert (interval.estimate, interval.n) == (0.7, 1)


def test_where_complexity_was_not_asked_for_a_summary_does_not_speak_of_it() -> None:
    summary = _summary(TraceResult(Trace(question="A?")))

    assert summary.complexity is None
    assert not [name for name, metric in summary.metrics.items() if metric.measure == "complexity"]


def test_where_nothing_could_be_measured_the_metrics_say_why() -> None:
    summary = _summary(TraceResult(Trace(question="A?"), {"complexity": NotApplicable("complexity needs retrieval steps")}))

    assert summary.complexity is None
    assert summary.metrics["complex_questions"].undefined_because == "complexity needs retrieval steps"


def test_each_kind_has_its_shares_and_a_question_of_two_kinds_counts_in_both() -> None:
    found = _summary(
        _result("What is the tallest tower in 1990?", 0.1),
        _result("What is the tallest tree?", 0.9),
        _result("Who is he?", 0.9),
    ).complexity

    assert found is not None
    groups = {group.name: group for group in found.by_kind}
    assert list(groups) == [Kind.TEMPORAL_EXPLICIT, Kind.SUPERLATIVE, NO_KIND]
    assert [group.n for group in groups.values()] == [1, 2, 1]
    assert groups["superlative"].is_complex.estimate == 0.5


def test_the_interval_of_a_kind_is_wilson_s_so_that_a_few_questions_are_never_sure() -> None:
    found = _summary(_result("What is the tallest tree?", 0.9), _result("What is the tallest tower?", 0.9)).complexity

    assert found is not None
    (group,) = found.by_kind
    assert group.answerable.estimate == 1.0
    assert group.answerable.lower == pytest.approx(0.342, abs=1e-3)  # (2 + z²/2 - z·sqrt(z²/4)) / (2 + z²), z = 1.96


def test_questions_are_counted_whole_where_they_are_repeated() -> None:
    found = _summary(*(_result(f"Q{number % 3}?", 0.9 if number % 3 else 0.1) for number in range(30))).complexity

    assert found is not None
    (group,) = found.by_kind
    assert (group.n, group.answerable.n) == (30, 3)
    assert group.answerable.lower == pytest.approx(0.044, abs=1e-3)  # as of three questions, not of thirty traces


def test_notes_say_by_what_questions_were_judged() -> None:
    found = _summary(_result("A?", 0.9, name="2Wiki"), _result("B?", 0.9, None, references="none")).complexity

    assert found is not None
    assert found.with_references == 1
    assert found.notes == (
        "a passage answers from a probability of 0.5: 2 of 2 traces",
        "judged without gold answers: 1 of 2 traces",
        "no model tells what passages are about, so answerability decides alone: 1 of 2 traces",
        "passages are about all of a question from a completeness of 0.5: 1 of 2 traces",
        "thresholds fitted on 2Wiki: 1 of 2 traces",
    )
