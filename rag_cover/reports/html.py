"""The report as one HTML file that opens anywhere, offline: no network, no external file, and nothing in it can run but ours.

Everything that is printed is escaped by the templates and made visible by `rag_cover.reports.sanitise.visible`; a content
security policy names the one style sheet and the one script by their hashes, so that even a mistake in escaping could not run
or load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rag_cover.dashboards import Dashboard
from rag_cover.measures import TraceResult
from rag_cover.pairwise import PairwiseComparison
from rag_cover.private_files import open_private
from rag_cover.reports.comparison import comparison_view
from rag_cover.reports.complexity_page import complexity_view
from rag_cover.reports.conversations import conversation_views
from rag_cover.reports.dashboard import dashboard_view
from rag_cover.reports.figures import FEW, MetricRow, loss_bar, metric_row, scenario_bar
from rag_cover.reports.first_screen import pick_worst_questions
from rag_cover.reports.focus import Subject, has_losses, headline_of, is_asked_for, subject_of
from rag_cover.reports.frontiers import HEIGHT, WIDTH
from rag_cover.reports.loss_text import corpus_sentence, loss_advice
from rag_cover.reports.nugget_text import nuggets_sentence
from rag_cover.reports.pairwise import winning_view
from rag_cover.reports.people import LabelComparison, people_view
from rag_cover.reports.question_page import QuestionView, question_view, worst
from rag_cover.reports.sanitise import one_line, visible
from rag_cover.reports.skills import skills_view
from rag_cover.reports.study import study_view
from rag_cover.reports.sub_question_state import ROLES, State
from rag_cover.reports.text import (
    abstentions_sentence,
    cascade_sentence,
    controls_sentence,
    core_noun,
    format_count,
    judge_error_sentence,
    loss_error_sentence,
    losses_sentence_of,
    sub_questions_hint,
)
from rag_cover.reports.trends import TREND_HEIGHT, TREND_WIDTH
from rag_cover.reports.utility_page import utility_view
from rag_cover.reports.utility_text import hurting_steps
from rag_cover.routing import SkillDescription
from rag_cover.studies import Study
from rag_cover.summaries import Comparison, Summary

__all__ = [
    "SHOWN",
    "overview_values",
    "questions_values",
    "render_page",
    "write_comparison",
    "write_dashboard",
    "write_pairwise",
    "write_report",
    "write_skills",
    "write_study",
]

SHOWN = 500
"""How many traces a report shows one by one."""

_HEROES: Mapping[Subject, str] = {
    "coverage": "core_coverage",
    "utility": "utility",
    "complexity": "answerable_questions",
}
_ORDERS: Mapping[Subject, tuple[str, str]] = {
    "coverage": ("with the lowest core coverage", "lowest core coverage"),
    "utility": ("with the lowest utility", "lowest utility"),
    "complexity": ("whose questions are hardest", "hardest"),
    "other": ("in the order of the results", ""),
}
_TILES = ("core_retrieved", "core_use", "retrieval_headroom", "groundedness", "answerable_questions", "rating", "utility")


def write_report(
    path: Path | str,
    results: Sequence[TraceResult],
    summary: Summary,
    *,
    title: str = "What the answers left out",
    comparison: Comparison | None = None,
    people: LabelComparison | None = None,
) -> None:
    """Write the report of one evaluation; of more than `SHOWN` traces, those that fare worst one by one.

    The same results give the same bytes. ``results`` is read once, twice with utilities, and only what is shown is kept.
    """
    shown = worst(results, limit=SHOWN)
    questions = [question_view(result, f"q{number}") for number, result in enumerate(shown, 1)]
    values = overview_values(summary) | questions_values(questions, len(results), subject_of(summary))
    values["worst"] = pick_worst_questions(questions) if values["has_coverage"] else []
    values["people"] = people_view(people) if people else None
    values["conversations"] = conversation_views(zip(shown, questions, strict=True))
    values["utility"] = utility_view(summary.utility, hurting_steps(results, limit=10)) if summary.utility else None
    values["complexity"] = complexity_view(summary.complexity) if summary.complexity else None
    _write(
        path, "report.html", values | {"title": title, "comparison": comparison and comparison_view(comparison), "folded": True}
    )


def write_comparison(path: Path | str, comparison: Comparison, *, title: str = "Two pipelines, side by side") -> None:
    """Write the comparison of two pipelines alone."""
    _write(path, "comparison.html", {"title": title, "comparison": comparison_view(comparison), "folded": False})


def write_dashboard(path: Path | str, dashboard: Dashboard, *, title: str = "Evaluations over time") -> None:
    """Write several evaluations over time, and what to fix."""
    values = {"title": title, "view": dashboard_view(dashboard), "width": TREND_WIDTH, "height": TREND_HEIGHT}
    _write(path, "dashboard.html", values)


def write_pairwise(path: Path | str, comparison: PairwiseComparison, *, title: str = "Whose answers win") -> None:
    """Write pipelines compared answer by answer."""
    _write(path, "winning.html", {"title": title, "winning": winning_view(comparison)})


def write_study(path: Path | str, study: Study, *, title: str = "What each setting is worth") -> None:
    """Write a component study."""
    _write(path, "study.html", {"title": title, "study": study_view(study), "width": WIDTH, "height": HEIGHT})


def write_skills(path: Path | str, description: SkillDescription, *, title: str = "Which pipeline can do what") -> None:
    """Write what a skill model says of pipelines and questions."""
    _write(path, "skills.html", {"title": title, "skills": skills_view(description), "width": WIDTH, "height": HEIGHT})


def overview_values(summary: Summary) -> dict[str, Any]:
    """Gather what the overview shows."""
    subject = subject_of(summary)
    rows = {name: metric_row(metric) for name, metric in summary.metrics.items() if is_asked_for(metric, summary)}
    hero = rows.get(_HEROES.get(subject, ""))
    tiles = [rows[name] for name in _TILES if name in rows] if subject == "coverage" else []
    bar = loss_bar(summary.losses, summary.unclear_losses)
    bars = [scenario_bar(role, cells) for role, cells in summary.scenarios.items() if cells is not None]
    return {
        "summary": summary,
        "subject": subject,
        "has_coverage": subject == "coverage",
        "pipelines": [one_line(pipeline, limit=80) for pipeline in summary.pipelines],
        "headline": headline_of(summary),
        "hero_track": hero.track if hero and subject != "coverage" else None,
        "hero_ends": ("\N{MINUS SIGN}1", "0", "+1") if subject == "utility" else ("0%", "100%"),
        "tiles": tiles,
        "few_tiles": [tile for tile in tiles if not tile.is_firm],
        "few_tiles_words": _describe_few(tiles, "figure"),
        "metrics": list(rows.values()),
        "few_metrics_words": _describe_few(list(rows.values()), "metric"),
        "has_few_questions": summary.questions < FEW,
        "nothing_lost": subject == "coverage" and hero is not None and hero.n is not None and bar is None,
        "judge_error": judge_error_sentence(summary),
        "cascade": cascade_sentence(summary),
        "loss_error": loss_error_sentence(summary),
        "controls": controls_sentence(summary),
        "sub_questions_hint": sub_questions_hint(summary) if subject == "coverage" else "",
        "core_noun": core_noun(summary),
        "nuggets_sentence": nuggets_sentence(summary) if subject == "coverage" else "",
        "losses_sentence": losses_sentence_of(summary) if has_losses(summary) else "Nothing was measured, so no loss is known.",
        "abstentions_sentence": abstentions_sentence(summary.answers, core_noun(summary)),
        "corpus_sentence": corpus_sentence(summary.corpus),
        "advice": loss_advice(summary.losses, summary.corpus),
        "loss_bar": bar,
        "scenario_bars": bars,
        "unmeasured": _describe_unmeasured(summary),
    }


def _describe_few(rows: Sequence[MetricRow], noun: str) -> str:
    """Count what is folded away, by why; empty where nothing is.

    A figure that is undefined has its reason in the fold.
    """
    few, undefined = sum(row.n is not None and not row.is_firm for row in rows), sum(row.n is None for row in rows)
    parts = [f"{format_count(few, noun)} with fewer than {FEW} questions"] if few else []
    parts += [f"{undefined} undefined" if few else f"{format_count(undefined, noun)} undefined"] if undefined else []
    return ", ".join(parts)


def _describe_unmeasured(summary: Summary) -> str:
    parts = [
        f"{measure} of {format_count(missing, 'trace')}"
        for measure, counts in summary.outcomes.items()
        if (missing := counts.not_applicable + counts.failed)
    ]
    return ", ".join(parts)


def questions_values(questions: Sequence[QuestionView], total: int, subject: Subject) -> dict[str, Any]:
    """Gather what the questions' section shows."""
    present = {sub_question.state for question in questions for sub_question in question.sub_questions}
    roles = {sub_question.role for question in questions for sub_question in question.sub_questions}
    return {
        "questions": questions,
        "roles": [role for role in ROLES if role in roles],
        "states": [state for state in State if state in present],
        "many_pipelines": len({question.pipeline for question in questions}) > 1,
        "shown_words": _describe_shown(len(questions), total, _ORDERS[subject]),
    }


def _describe_shown(shown: int, total: int, order: tuple[str, str]) -> str:
    which, first = order
    if not first:
        return (
            f"{format_count(shown, 'trace')} of {total:,}, {which}."
            if shown < total
            else f"{format_count(total, 'trace')}, {which}."
        )
    if shown < total:
        return f"Of {format_count(total, 'trace')}, the {shown:,} {which} are shown, {first.split()[0]} first."
    return f"{format_count(total, 'trace')}, {first} first."


def _write(path: Path | str, template: str, values: Mapping[str, Any]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n", opener=open_private) as file:
        file.write(render_page(template, values))


def render_page(template: str, values: Mapping[str, Any]) -> str:
    """Write a complete page, with its style, its script and the policy that names both."""
    return _environment().get_template(template).render({**values, "few": FEW, "policy": _policy()})


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("rag_cover.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_make_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _make_visible(value: object) -> object:
    """Make every printed text visible, whatever it came from; what the templates wrote themselves passes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _policy() -> str:
    style, script = (_hash_of(name) for name in ("page.css", "page.js"))
    return f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'"


def _hash_of(template: str) -> str:
    content = _environment().get_template(template).render()
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
