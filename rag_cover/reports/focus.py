"""What a report is about first of all: coverage, unless only other measures were asked for."""

from __future__ import annotations

from typing import Literal

from rag_cover.reports.complexity_text import complexity_headline
from rag_cover.reports.text import Headline, headline, headline_of_metric
from rag_cover.reports.utility_text import utility_headline
from rag_cover.summaries import MetricValue, Summary

__all__ = ["Subject", "has_losses", "headline_of", "is_asked_for", "subject_of"]

Subject = Literal["coverage", "utility", "complexity", "other"]


def subject_of(summary: Summary) -> Subject:
    """Tell what a report is about."""
    if "coverage" in summary.outcomes:
        return "coverage"
    if summary.utility is not None:
        return "utility"
    if summary.complexity is not None:
        return "complexity"
    return "other" if summary.outcomes else "coverage"


def is_asked_for(metric: MetricValue, summary: Summary) -> bool:
    """Tell whether a report speaks of a metric: one about coverage of all of them, another of what was measured."""
    return subject_of(summary) == "coverage" or metric.measure in summary.outcomes


def has_losses(summary: Summary) -> bool:
    """Tell whether a report speaks of losses: it is about coverage, and some trace was measured for it."""
    counts = summary.outcomes.get("coverage")
    return subject_of(summary) == "coverage" and (counts is None or counts.measured > 0)


def headline_of(summary: Summary) -> Headline:
    """Say the one sentence to remember of what a report is about."""
    subject = subject_of(summary)
    if subject == "utility" and summary.utility is not None:
        return utility_headline(summary.utility)
    if subject == "other":
        return headline_of_metric(next(metric for metric in summary.metrics.values() if metric.measure in summary.outcomes))
    return complexity_headline(summary) if subject == "complexity" else headline(summary)
