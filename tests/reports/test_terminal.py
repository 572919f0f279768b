"""The report in the terminal: the same headline, 80 columns, and nothing that foreign text could do to it."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console, RenderableType

from rag_cover.coverage import Loss
from rag_cover.coverage.summary import AnswerCounts
from rag_cover.language import unread_reason
from rag_cover.measures import TraceResult
from rag_cover.reports import comparison_table, summary_panel, worst_questions
from rag_cover.summaries import Comparison, OutcomeCounts, Summary


def printed(renderable: RenderableType, *, encoding: str = "utf-8", colour: bool = False) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(
        file=stream, width=80, force_terminal=colour, no_color=not colour, color_system="standard" if colour else None
    )
    console.print(renderable)
    stream.seek(0)
    return stream.read()


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_the_panel_opens_with_the_same_headline_as_the_page(summary: Summary) -> None:
    shown = words(printed(summary_panel(summary)))

    assert "Answers cover 54% of the core sub-questions (95% interval 47–61, 18 questions)" in shown


def test_everything_fits_80_columns(summary: Summary, comparison: Comparison, results: list[TraceResult]) -> None:
    for renderable in (summary_panel(summary), comparison_table(comparison), worst_questions(results)):
        assert max(map(len, printed(renderable).splitlines())) <= 80


def test_undefined_metrics_give_their_reason(summary: Summary) -> None:
    shown = words(printed(summary_panel(summary)))

    assert "Undefined, 1 metric: Order alignment (no answer covers a follow-up sub-question)." in shown
    assert "nan" not in shown.lower()


def test_a_reason_that_several_metrics_share_is_given_once(summary: Summary) -> None:
    metrics = dict(summary.metrics)
    undefined = metrics["order_alignment"]
    metrics["other"] = replace(undefined, name="other", label="another metric")
    shown = words(printed(summary_panel(replace(summary, metrics=metrics))))

    assert "Undefined, 2 metrics: no answer covers a follow-up sub-question. The report names each." in shown


def test_losses_and_failures_are_counted_in_words(summary: Summary) -> None:
    shown = words(printed(summary_panel(summary)))

    assert "Of 6 core sub-questions the answers leave out, 3 were never retrieved" in shown
    assert "Not measured for groundedness: 1 trace, timeout: no reply in 60 s" in shown


def test_answers_that_decline_have_a_line_after_the_losses(summary: Summary) -> None:
    counts = AnswerCounts(20, 20, declined=7, declined_unretrieved=5, declined_retrieved=2)

    shown = words(printed(summary_panel(replace(summary, answers=counts))))

    assert (
        "7 of 20 answers decline to answer: 5 where no retrieved passage covers a core sub-question, 2 where one does." in shown
    )
    assert "decline to answer" not in printed(summary_panel(summary))


def test_where_questions_are_whole_the_headline_is_followed_by_how_to_get_sub_questions(summary: Summary) -> None:
    shown = words(printed(summary_panel(replace(summary, single_sub_questions=1.0))))

    assert (
        "Answered: 54% of the questions (95% interval 47–61, 18 questions) Rules split hardly any of these questions." in shown
    )
    assert "--sub-questions FILE" in shown
    assert "--sub-questions" not in printed(summary_panel(summary))


def test_where_nothing_was_measured_there_is_neither_a_table_nor_a_word_of_losses(summary: Summary) -> None:
    reasons = {unread_reason("the answer is", "de", ("en",)): 3}
    metrics = {name: replace(metric, interval=None, undefined_because="x") for name, metric in summary.metrics.items()}
    outcomes = {"coverage": OutcomeCounts(0, 3, 0, reasons)}

    shown = words(printed(summary_panel(replace(summary, metrics=metrics, outcomes=outcomes, losses={}, scenarios={}))))

    assert "3 of 3 traces are in a language that the judge does not read (German): nothing was measured" in shown
    assert "95% interval" not in shown
    assert "lost" not in shown


def test_failed_retrievals_have_a_line_only_where_there_are_some(summary: Summary) -> None:
    usual = printed(summary_panel(replace(summary, losses={Loss.FAILED: 0, **summary.losses})))

    shown = printed(summary_panel(replace(summary, losses={Loss.FAILED: 6, **summary.losses})))

    assert usual == printed(summary_panel(summary))
    assert "its retrieval failed" not in usual
    assert "its retrieval failed        6  ██████████████ " in shown
    assert "Look at the failed retriever or sub-engine first" in words(shown)


def test_markup_in_foreign_text_is_printed_as_it_is(summary: Summary) -> None:
    shown = printed(summary_panel(replace(summary, judge="[red]not red[/red] [/] :smile:")))

    assert "[red]not red[/red] [/] :smile:" in shown


def test_escape_sequences_in_foreign_text_do_nothing(make_result: Callable[..., TraceResult]) -> None:
    shown = printed(worst_questions([make_result("clear\x1b[2J\rthe \u202escreen\x07")]))

    assert "\x1b" not in shown
    assert "clear␛[2J␍the ⟦RLO⟧screen␇" in shown


def test_a_terminal_without_unicode_gets_plain_characters(
    summary: Summary, comparison: Comparison, results: list[TraceResult]
) -> None:
    for renderable in (summary_panel(summary), comparison_table(comparison), worst_questions(results)):
        assert printed(renderable, encoding="ascii").isascii()


def test_without_colour_there_is_not_one_escape_sequence(summary: Summary) -> None:
    assert "\x1b" not in printed(summary_panel(summary))
    assert "\x1b" in printed(summary_panel(summary), colour=True)


def test_the_worst_questions_name_what_was_lost_and_where(results: list[TraceResult]) -> None:
    shown = words(printed(worst_questions(results, limit=1)))

    assert "1/4 Why is the sky blue?" in shown
    assert "Why is it not violet? (retrieved, then dropped)" in shown
    assert "sea" not in shown


def test_a_loss_in_a_sub_answer_names_the_engine(results: list[TraceResult]) -> None:
    worst = next(each for each in results if each.trace.question.text == "Why is the sky blue?")
    assert worst.coverage is not None
    rows = tuple(
        replace(row, loss=Loss.SUB_ANSWER, lost_by="heat") if row.loss is Loss.DROPPED else row
        for row in worst.coverage.sub_questions
    )

    lost = TraceResult(worst.trace, {"coverage": replace(worst.coverage, sub_questions=rows)})
    shown = words(printed(worst_questions([lost])))

    assert "Why is it not violet? (left out of a sub-answer by heat)" in shown


def test_nothing_lost_is_said(results: list[TraceResult]) -> None:
    shown = printed(worst_questions(results[:1]))

    assert "No answer is known to leave out a core sub-question." in shown


def test_a_comparison_says_what_is_clear_and_what_changed(comparison: Comparison) -> None:
    shown = words(printed(comparison_table(comparison)))

    assert "Core coverage 40% 60% +20.0 points better p = 0.010" in shown
    assert "Core use 40% 50% +10.0 points unclear p = 0.40" in shown
    assert "+ Why is the sunset red?" in shown


def test_metrics_undefined_on_both_sides_are_named_in_a_note_and_have_no_row(comparison: Comparison) -> None:
    unknown = replace(comparison.metrics["core_use"], name="utility", label="utility", a=None, b=None, difference=None)

    shown = words(printed(comparison_table(replace(comparison, metrics={**comparison.metrics, "utility": unknown}))))

    assert "· Undefined on both sides: utility" in shown
    assert shown.count("tility") == 1
    assert "Order alignment – 10%" in shown


def test_a_comparison_of_whole_questions_speaks_of_questions(comparison: Comparison) -> None:
    shown = words(printed(comparison_table(replace(comparison, single_sub_questions=1.0))))

    assert "after answers 60% of the questions, before 40%" in shown
