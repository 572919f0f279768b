"""A summary as a notebook shows it: a fragment of HTML without style or script of its own."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup, escape

from rag_cover.reports.figures import metric_row
from rag_cover.reports.focus import has_losses, headline_of, is_asked_for, subject_of
from rag_cover.reports.loss_text import corpus_sentence, loss_advice
from rag_cover.reports.nugget_text import nuggets_sentence
from rag_cover.reports.sanitise import one_line, visible
from rag_cover.reports.text import (
    abstentions_sentence,
    controls_sentence,
    core_noun,
    judge_error_sentence,
    loss_error_sentence,
    losses_sentence_of,
    sub_questions_hint,
)
from rag_cover.summaries import Summary

__all__ = ["summary_fragment"]


def summary_fragment(summary: Summary) -> str:
    """Write the headline, what the judge's errors do to it, where answers lose what, and every metric that has a value."""
    rows = [metric_row(metric) for metric in summary.metrics.values() if metric.interval and is_asked_for(metric, summary)]
    table = Markup("").join(
        Markup("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>").format(row.label, row.value, row.interval, row.n)
        for row in rows
    )
    head = Markup("<tr><th>Metric</th><th>Value</th><th>95% interval</th><th>n</th></tr>")
    lines = Markup("").join(Markup("<p>{}</p>").format(visible(line)) for line in _lines(summary) if line)
    return str(
        Markup("<div><p><b>{}</b></p>{}<table><thead>{}</thead><tbody>{}</tbody></table></div>").format(
            escape(visible(headline_of(summary).text)), lines, head, table
        )
    )


def _lines(summary: Summary) -> Iterator[str]:
    if subject_of(summary) == "coverage":
        yield sub_questions_hint(summary)
        yield judge_error_sentence(summary)
        yield controls_sentence(summary)
        yield nuggets_sentence(summary)
    if has_losses(summary):
        yield losses_sentence_of(summary)
        yield loss_error_sentence(summary)
        yield corpus_sentence(summary.corpus)
        yield loss_advice(summary.losses, summary.corpus)
    yield abstentions_sentence(summary.answers, core_noun(summary))
    yield one_line(f"judge {summary.judge}", limit=100)
