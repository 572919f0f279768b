"""What a notebook shows of one value: the HTML report's own cards, in a frame in which nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from markupsafe import escape

from rag_cover.measures import TraceResult
from rag_cover.reports.comparison import comparison_view
from rag_cover.reports.focus import Subject
from rag_cover.reports.frontiers import HEIGHT, WIDTH
from rag_cover.reports.html import overview_values, questions_values, render_page
from rag_cover.reports.question_page import question_view
from rag_cover.reports.sanitise import clip
from rag_cover.reports.study import study_view
from rag_cover.reports.text import format_count, number_text, percent
from rag_cover.routing import Route
from rag_cover.setqueries import SetAnswer
from rag_cover.studies import Study
from rag_cover.summaries import Comparison, Summary
from rag_cover.traces import Trace

__all__ = ["card_of", "framed_card"]

_SHOWN = 20
_HEIGHT = 420  # pixels; nothing in the frame may run and measure itself


def framed_card(value: object) -> str:
    """Write the card of a value as a frame: no script runs in it, it loads nothing, and its style stays its own."""
    return (
        f'<iframe sandbox="" title="rag_cover: {escape(type(value).__name__)}" srcdoc="{escape(card_of(value))}" '
        f'style="width:100%;height:{_HEIGHT}px;border:0;resize:vertical;overflow:auto"></iframe>'
    )


def card_of(value: object) -> str:  # noqa: PLR0911  # one for each type
    """Write the page of a summary, trace, result, comparison, study, set answer, route or recording."""
    match value:
        case Summary():
            values = overview_values(value) | {"worst": [], "utility": None, "many_pipelines": False}
            return render_page("card.html", values | {"title": "What the answers left out", "kind": "overview"})
        case TraceResult():
            return _question(value)
        case Trace():
            return _question(TraceResult(value))
        case Comparison():
            title = "Two pipelines, side by side"
            return render_page("comparison.html", {"title": title, "comparison": comparison_view(value), "folded": False})
        case Study():
            values = {"title": "What each setting is worth", "study": study_view(value), "width": WIDTH, "height": HEIGHT}
            return render_page("study.html", values)
        case SetAnswer():
            return _set_answer(value)
        case Route():
            return _route(value)
    return _recording(value)


def _question(result: TraceResult) -> str:
    subject: Subject = (
        "coverage" if result.coverage else "utility" if result.utility else "complexity" if result.complexity else "other"
    )
    view = question_view(result, "q1")
    values = questions_values([view], 1, subject)
    page = render_page(
        "card.html",
        values
        | {
            "title": "One question",
            "kind": "question",
            "question": view,
            "subject": subject,
            "has_coverage": subject == "coverage",
            "utility": result.utility,
            "complexity": result.complexity,
        },
    )
    return page.replace('<details class="question"', '<details open class="question"', 1)


def _set_answer(answer: SetAnswer) -> str:
    rows = [
        (clip(each.name, 200), "undefined" if each.probability is None else percent(each.probability), clip(each.reason, 300))
        for each in answer.entities[:_SHOWN]
    ]
    lines = [f"Read as {answer.query}", f"{len(answer.entities):,} belong; {len(rows):,} are shown.", *answer.notes]
    lines += [f"{each.kind}: {each.message}" for each in answer.failures]
    return _table(answer.question, lines, ("Entity", "Probability", "Reason"), rows)


def _route(route: Route) -> str:
    known = [] if route.probability is None else [f"probability {number_text(route.probability)}"]
    rows = [(name, number_text(score)) for name, score in route.scores.items()]
    return _table(f"Route: {route.name}", [route.reason, *known], ("Score", "Value"), rows)


def _recording(recording: Any) -> str:
    counts = asdict(recording.counts)
    lines = ["It is closed." if recording.is_closed else "It is open: what is asked is recorded."]
    lines += [f"{each.kind}: {each.message}" for each in recording.errors[-3:]]
    rows = [(name.replace("_", " "), f"{count:,}") for name, count in counts.items() if isinstance(count, int)]
    return _table(f"A recording of {format_count(len(recording.traces), 'trace')}", lines, ("Count", "Number"), rows)


def _table(title: str, lines: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    shown = [clip(line, 500) for line in lines if line]
    return render_page(
        "card.html", {"title": clip(title, 300), "kind": "table", "lines": shown, "columns": columns, "rows": rows}
    )
