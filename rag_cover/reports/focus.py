"""What a report is about first of all: coverage, unless only something else was measured."""

from __future__ import annotations

from typing import Literal

from rag_cover.reports.complexity_text import complexity_headline
from rag_cover.reports.text import Headline, headline
from rag_cover.reports.utility_text import utility_headline
from rag_cover.summaries import MetricValue, Summary

__all__ = ["Subject", "headline_of", "is_asked_for", "subject_of"]

Subject = Literal["coverage", "utility", "complexity"]


def subject_of(summary: Summary) -> Subject:
    """Tell what a report is about."""
    if "coverage" in summary.outcomes:
        return "coverage"
    if summary.utility is not None:
        return "utility"
    return "complexity" if summary.complexity is not None else "coverage"


def is_asked_for(metric: MetricValue, summary: Summary) -> bool:
    """Tell whether a report speaks of a metric: one about coverage of all of them, another of what was measured."""
    return subject_of(summary) == "coverage" or metric.measure in summary.outcomes


def headline_of(summary: Summary) -> Headline:
    """Say the one sentence to remember of what a report is about."""
    subject = subject_of(summary)
    if subject == "utility" and summary.utility is not None:
        return utility_headline(summary.utility)
    return complexity_headline(summary) if subject == "complexity" else headline(summary)
