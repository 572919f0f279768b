"""What retrieval was worth, in words and as drawings."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from rag_cover.belief import BINS, PassageUtility, TraceUtility
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.reports import hurting_table, trace_utilities, utility_panel, write_report
from rag_cover.reports.utility_text import hurting_steps
from rag_cover.reports.waterfall import distribution_of, waterfall_of
from rag_cover.summaries import summarise
from rag_cover.traces import Trace

Make = Callable[..., TraceResult]


def trace(question: str = "Why is the sky blue?", **fields: Any) -> Trace:
    steps = [
        {"id": "bm25", "passages": ["air scatters light"], "query": "sky"},
        {"kind": "rerank", "passages": [], "input_ids": ["bm25"]},
    ]
    return Trace.model_validate({"question": {"text": question, "id": question}, "steps": steps, **fields})


@pytest.fixture
def useful(make_utility: Make) -> TraceResult:
    return make_utility(trace(), 0.25, 0.5, -0.125)


@pytest.fixture
def results(make_utility: Make, useful: TraceResult) -> list[TraceResult]:
    harmful = make_utility(trace("Why is the sea blue?", pipeline="hybrid"), 0.5, -0.25, 0.0, half_width=0.5)
    unmeasured = TraceResult(trace("Why?"), {"utility": NotApplicable("the question has no references")})
    return [useful, harmful, unmeasured]


def utility_in(result: TraceResult) -> TraceUtility:
    assert result.utility is not None
    return result.utility


def test_a_waterfall_goes_from_the_prior_by_every_step_to_the_end(useful: TraceResult) -> None:
    fall = waterfall_of(utility_in(useful), {})

    assert [(stage.label, stage.value, stage.tone) for stage in fall.stages] == [
        ("without passages", "0.25", "level"),
        ("1. retrieve bm25", "+0.50", "gain"),
        ("2. rerank", "\N{MINUS SIGN}0.12", "loss"),
        ("in the end", "0.62", "level"),
    ]
    assert (fall.total, fall.hurts) == ("+0.38", True)


def test_every_stage_begins_where_the_one_before_it_ended(useful: TraceResult) -> None:
    stages = waterfall_of(utility_in(useful), {}).stages

    assert [stage.before for stage in stages[1:]] == [stage.after for stage in stages[:-1]]
    assert [(stage.x, stage.width) for stage in stages] == [
        ("0.00%", "25.00%"), ("25.00%", "50.00%"), ("62.50%", "12.50%"), ("0.00%", "62.50%"),
    ]  # fmt: skip


def test_a_waterfall_says_in_words_what_it_draws(useful: TraceResult) -> None:
    assert waterfall_of(utility_in(useful), {}).words == (
        "belief 0.25 without passages; 1. retrieve bm25 +0.50, 2. rerank \N{MINUS SIGN}0.12; 0.62 in the end"
    )


def test_a_step_without_passages_has_no_utility_of_its_own(useful: TraceResult) -> None:
    stages = waterfall_of(utility_in(useful), {}).stages

    assert [stage.alone for stage in stages[1:3]] == ["+0.50", "–"]


def test_equal_sampled_texts_are_shown_once_with_all_their_weight(useful: TraceResult) -> None:
    utility = utility_in(useful)
    first, second = utility.prior.answers
    prior = replace(utility.prior, answers=(first, replace(second, text=first.text)))

    (answer,) = waterfall_of(replace(utility, prior=prior), {}).before

    assert (answer.text, answer.weight, answer.agreement) == ("a right answer", "100%", "100%")


def test_an_answer_without_text_is_said_to_have_none(useful: TraceResult) -> None:
    utility = utility_in(useful)
    prior = replace(utility.prior, answers=(replace(utility.prior.answers[0], text=" ", weight=1.0),))

    assert [answer.text for answer in waterfall_of(replace(utility, prior=prior), {}).before] == ["(no text)"]


def test_passages_are_shown_by_their_number_in_the_trace(useful: TraceResult) -> None:
    utility = utility_in(useful)
    step = replace(utility.steps[0], passages=(PassageUtility("id:a", 0.25, None), PassageUtility("id:b", -0.5, None)))

    fall = waterfall_of(replace(utility, steps=(step, *utility.steps[1:])), {"id:b": 3})

    assert [(passage.number, passage.value) for passage in fall.stages[1].passages] == [
        (None, "+0.25"),
        (3, "\N{MINUS SIGN}0.50"),
    ]


def test_every_measured_trace_is_in_one_bin(results: list[TraceResult], make_utility: Make) -> None:
    extremes = [make_utility(trace(str(end)), start, end - start, 0.0) for start, end in ((0.0, 1.0), (1.0, 0.0))]
    summary = summarise([*results, *extremes], judge="").utility
    assert summary is not None

    assert sum(summary.distribution) == summary.traces == 4
    assert (summary.distribution[0], summary.distribution[BINS - 1]) == (1, 1)
    assert [bar.words for bar in distribution_of(summary)] == [
        "\N{MINUS SIGN}1.00 to \N{MINUS SIGN}0.90: 1 trace",
        "\N{MINUS SIGN}0.30 to \N{MINUS SIGN}0.20: 1 trace",
        "+0.30 to +0.40: 1 trace",
        "+0.90 to +1.00: 1 trace",
    ]


def test_steps_that_hurt_come_worst_first_and_the_unsure_are_told(results: list[TraceResult]) -> None:
    steps = hurting_steps(results, limit=5)

    assert [(step.value, step.label, step.is_clear) for step in steps] == [
        (-0.25, "1. retrieve bm25", False),
        (-0.125, "2. rerank", True),
    ]


def printed(renderable: RenderableType, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=80).print(renderable)
    stream.seek(0)
    return stream.read()


def words(renderable: RenderableType) -> str:
    return " ".join(printed(renderable).replace("│", " ").split())


def test_the_terminal_opens_with_what_retrieval_was_worth(results: list[TraceResult]) -> None:
    shown = words(utility_panel(summarise(results, judge="")))

    assert "Retrieval moved belief in the right answer by +0.06 (from 0.38 to 0.44; 95% interval" in shown
    assert "1. retrieve +0.12 \N{MINUS SIGN}1.00 to +1.00 +0.12 2 1" in shown
    assert "2 of 4 steps hurt, 1 with a whole 95% interval over the samples below 0." in shown
    assert "Not measured: 1 trace, the question has no references" in shown


def test_own_answers_as_references_are_said_to_be_no_measure_of_correctness(useful: TraceResult) -> None:
    itself = TraceResult(useful.trace, {"utility": replace(utility_in(useful), references="answer")})

    shown = words(utility_panel(summarise([itself], judge="")))

    assert "belief in the pipeline’s own answer" in shown
    assert "this is self-consistency, not correctness" in shown


def test_the_way_of_a_trace_is_written_in_one_line(useful: TraceResult) -> None:
    assert "+0.38 0.25 +0.50 \N{MINUS SIGN}0.12 → 0.62 Why is the sky blue?" in words(trace_utilities([useful]))


def test_where_nothing_was_measured_the_terminal_says_so(results: list[TraceResult]) -> None:
    assert "No utility could be measured." in words(utility_panel(summarise(results[2:], judge="")))
    assert "No step hurt." in words(hurting_table(results[2:]))


def test_all_of_it_fits_80_columns_and_goes_to_plain_terminals(results: list[TraceResult]) -> None:
    for renderable in (utility_panel(summarise(results, judge="")), hurting_table(results), trace_utilities(results)):
        assert max(map(len, printed(renderable).splitlines())) <= 80
        assert printed(renderable, encoding="ascii").isascii()


def test_a_page_of_utilities_alone_says_nothing_of_coverage(tmp_path: Path, results: list[TraceResult]) -> None:
    write_report(tmp_path / "page.html", results, summarise(results, judge="nobody"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert "Retrieval moved belief in the right answer by <strong>+0.06</strong>" in page
    assert 'aria-label="belief 0.25 without passages; 1. retrieve bm25 +0.50' in page
    assert "3 traces, lowest utility first." in page
    assert "the question has no references" in page
    assert not [word for word in ("ub-questions were", "core sub-question", "nobody") if word in page.split("</style>")[1]]


def test_hostile_names_in_utilities_add_no_markup(tmp_path: Path, make_utility: Make) -> None:
    hostile = "<script>alert(1)</script>"
    named = trace(hostile, metadata={"query_type": hostile, "retriever": hostile}, pipeline=hostile)
    result = make_utility(named, 0.5, -0.25, 0.0)

    write_report(tmp_path / "page.html", [result, result], summarise([result, result], judge=hostile))

    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<script>") == 1
