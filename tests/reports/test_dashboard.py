"""The page of several stores: what is not comparable is not joined, what is undefined is a dash, texts stay texts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_cover.coverage import CoverageResult, Loss, LossEvidence, SubQuestionCoverage, Verdict
from rag_cover.coverage.corpus_search import CorpusPassage, CorpusSearch
from rag_cover.dashboards import Cause, DashboardBuilder, PartEvidence, StoreSource, describe_remedies, list_lost_parts
from rag_cover.measures import TraceResult
from rag_cover.questions import Passage, Question, Role
from rag_cover.reports import write_dashboard
from rag_cover.reports.dashboard import dashboard_view
from rag_cover.traces import RetrievalStep, Trace

NO, YES = Verdict(0.1, covered=False), Verdict(0.9, covered=True)
LONG = tuple(Passage(f"passage {number}") for number in range(8))


def result_of(
    sub_question: SubQuestionCoverage, *, number: int = 0, abstained: str | None = None, **fields: Any
) -> TraceResult:
    trace = Trace.model_validate({"question": Question(f"Why {number}?"), "answer": "Because.", **fields})
    keys = tuple(passage.key for passage in trace.chunks)
    found = CoverageResult((sub_question,), keys, 0.5, None, prompt_assumed=False, decomposed_by="given", abstained=abstained)  # type: ignore[arg-type]
    return TraceResult(trace, {"coverage": found})


def lost(loss: Loss | None, covering: int | None = None, answer: Verdict = NO, **fields: object) -> SubQuestionCoverage:
    chunks = tuple(YES if number == covering else NO for number in range(8))
    return replace(SubQuestionCoverage("what", Role.CORE, "given", answer, chunks=chunks, loss=loss), **fields)  # type: ignore[arg-type]


def source(day: int, results: list[TraceResult], judge: str = "one") -> StoreSource:
    return StoreSource(f"store-{day}", datetime(2026, 1, day, tzinfo=UTC), "file", results, judge, ("coverage",))


def test_the_rank_at_which_a_step_dropped_a_passage_is_that_before_the_step() -> None:
    steps = (RetrievalStep(passages=LONG), RetrievalStep(kind="rerank", passages=LONG[:3]))

    (part,) = list_lost_parts(result_of(lost(Loss.DROPPED, 5), steps=steps))

    assert (part.cause, part.evidence) == (Cause.DROPPED, PartEvidence("step", 6, 3, "rerank"))
    assert describe_remedies(part.cause, {part.evidence: 2}) == (
        "A rerank step dropped 2 of 2, at rank 6 of what it was given; it kept 3.",
    )


def test_an_answer_that_declines_though_the_prompt_has_it_is_a_cause_of_its_own() -> None:
    steps = (RetrievalStep(passages=LONG),)

    declined = next(list_lost_parts(result_of(lost(Loss.UNUSED, 1), abstained="wholly", steps=steps)))
    unused = next(list_lost_parts(result_of(lost(Loss.UNUSED, 1), abstained="no", steps=steps)))

    assert [(each.cause, each.evidence) for each in (declined, unused)] == [
        (Cause.REFUSED, PartEvidence("prompt", 2, 8)),
        (Cause.UNUSED, PartEvidence("prompt", 2, 8)),
    ]


def test_what_would_bring_it_is_said_from_the_search_of_the_corpus_alone() -> None:
    def searched(rank: int | None) -> SubQuestionCoverage:
        found = CorpusSearch((CorpusPassage("k", "text", None, None, 0.9, 1, rank),), 5)
        return lost(Loss.NOT_RETRIEVED, corpus=found)

    ranks = [7, 8, 8, 8, 30, None, 2]
    parts = [next(list_lost_parts(result_of(searched(rank)))) for rank in ranks]
    parts.append(next(list_lost_parts(result_of(lost(Loss.NOT_RETRIEVED)))))
    evidence: dict[PartEvidence, int] = {}
    for part in parts:
        evidence[part.evidence] = evidence.get(part.evidence, 0) + 1

    assert describe_remedies(Cause.NOT_RETRIEVED, evidence) == (
        "k 5 → 8 brings 4 of 8, by their rank in a search of the corpus for the question; k 30 brings 5.",
        "The sub-question as a query of its own brings 1 of 8.",
        "Another retriever, with the same query and k, brings 1 of 8.",
        "For 1 of 8 no corpus was searched: evaluate with --corpus to tell whether it has them.",
    )


@pytest.mark.parametrize(
    ("sub_question", "fields", "cause"),
    [
        (lost(Loss.UNUSED, evidence=LossEvidence(0.4, 0.5, 0.0)), {}, Cause.UNCLEAR),
        (lost(None), {}, Cause.UNKNOWN),
        (lost(Loss.NOT_IN_CORPUS), {}, Cause.NOT_IN_CORPUS),
        (lost(Loss.UNUSED), {"answer": None, "metadata": {"error": "timeout"}}, Cause.FAILED_PIPELINE),
    ],
)
def test_each_lost_part_has_one_cause(sub_question: SubQuestionCoverage, fields: dict[str, Any], cause: Cause) -> None:
    assert [part.cause for part in list_lost_parts(result_of(sub_question, **fields))] == [cause]


@pytest.mark.parametrize(("pipelines", "since"), [(("a", "a"), "; 0% in store-1, "), (("a", "b"), "")])
def test_the_latest_store_is_held_against_the_first_one_of_the_same_pipelines(pipelines: tuple[str, str], since: str) -> None:
    builder = DashboardBuilder()
    for day, (pipeline, verdict) in enumerate(zip(pipelines, (NO, YES), strict=True), 1):
        part = lost(Loss.UNUSED if verdict is NO else None, 1, answer=verdict)
        builder.add(source(day, [result_of(part, number=each, pipeline=pipeline) for each in range(6)]))

    view = dashboard_view(builder.build())

    assert ("; " in view.headline.basis) == bool(since)
    assert since in view.headline.basis
    assert [row.pipelines for row in view.stores] == list(reversed(pipelines))


def test_no_line_joins_two_judges_and_the_page_says_so_first(tmp_path: Path) -> None:
    builder = DashboardBuilder()
    for day, judge in ((4, "two"), (3, "two"), (2, "one"), (1, "one")):
        builder.add(source(day, [result_of(lost(None, answer=YES), number=each) for each in range(6)], judge))

    view = dashboard_view(builder.build())
    write_dashboard(tmp_path / "page.html", builder.build())

    (line,) = view.charts[0].series
    assert [len(points.split()) for points in line.lines] == [2, 2]
    assert view.warnings[0].startswith("2 judges judged these stores.")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index("2 judges judged these stores.") < page.index('id="trends"')


def test_a_figure_of_few_questions_is_marked_and_joined_to_nothing() -> None:
    builder = DashboardBuilder()
    for day, count in ((3, 6), (2, 4), (1, 6)):
        builder.add(source(day, [result_of(lost(None, answer=YES), number=each) for each in range(count)]))

    chart = dashboard_view(builder.build()).charts[0]

    assert [point.few for point in chart.series[0].points] == [False, True, False]
    assert [len(points.split()) for points in chart.series[0].lines] == [2]
    assert [row.few for row in chart.rows] == [False, True, False]


def test_an_undefined_figure_is_a_dash() -> None:
    builder = DashboardBuilder()
    builder.add(source(2, [result_of(lost(None, answer=YES))]))
    builder.add(source(1, [TraceResult(Trace(question=Question("Why?")))]))

    view = dashboard_view(builder.build())

    assert [(row.value, row.interval) for row in view.stores] == [("100%", "no interval"), ("–", "undefined")]
    assert [row.value for row in view.charts[0].rows] == ["–", "100%"]


def test_no_more_questions_are_kept_than_asked_for() -> None:
    builder = DashboardBuilder(worst=3)
    builder.add(source(2, [result_of(lost(Loss.UNUSED, 1), number=each) for each in range(50)]))
    builder.add(source(1, [result_of(lost(Loss.UNUSED, 1), number=each) for each in range(100)]))

    (cause,) = builder.build().causes

    assert (cause.lost, cause.in_latest, len(cause.worst)) == (150, 50, 3)
    assert {each.store for each in cause.worst} == {"store-2"}


def test_sub_questions_of_another_maker_are_another_way_of_measuring() -> None:
    answered = [result_of(lost(None, answer=YES), number=each) for each in range(6)]
    by_rules = [
        TraceResult(each.trace, {"coverage": replace(each.coverage, decomposed_by="rules")})
        for each in answered
        if each.coverage
    ]
    builder = DashboardBuilder()
    for day, results in ((3, [*by_rules, answered[0]]), (2, answered), (1, answered)):
        builder.add(source(day, results))

    view = dashboard_view(builder.build())

    assert view.warnings[0].startswith("Coverage was measured in 2 ways (sub-questions (given), threshold 0.5 /")
    assert [len(points.split()) for points in view.charts[0].series[0].lines] == [2]


@pytest.mark.parametrize(("ids", "listed"), [((None, None), 1), (("q1", None), 1), ((None, "q1"), 1), (("q1", "q2"), 2)])
def test_a_question_is_listed_once_though_one_store_has_no_ids(ids: tuple[str | None, ...], listed: int) -> None:
    builder = DashboardBuilder()
    for day, name in zip((2, 1), ids, strict=True):
        part = lost(Loss.UNUSED, 1)
        builder.add(source(day, [result_of(part, question=Question("Why?", id=name), steps=(RetrievalStep(passages=LONG),))]))

    assert len(builder.build().worst) == listed


def test_stores_of_one_day_are_told_apart_by_the_time_and_those_of_one_minute_by_the_name() -> None:
    builder, result = DashboardBuilder(), result_of(lost(None, answer=YES))
    times = [datetime(2026, 1, 2, 9, 30, tzinfo=UTC)] * 2 + [
        datetime(2026, 1, 2, 8, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=UTC),
    ]
    for name, time in zip(("runs/a.sqlite", "runs/b.sqlite", "c", "d"), times, strict=True):
        builder.add(replace(source(1, [result]), name=name, time=time))

    view = dashboard_view(builder.build())

    assert dict(view.facts)["From"] == "2026-01-01 to 2026-01-02 09:30 b"
    assert "2026-01-02 09:30 b; 100% in d, 2026-01-01" in view.headline.text
    assert {chart.last for chart in view.charts} == {"2026-01-02 09:30 b"}
    whens = [row.when for row in view.charts[0].rows]
    assert whens == ["2026-01-01", "2026-01-02 08:00", "2026-01-02 09:30 a", "2026-01-02 09:30 b"]
