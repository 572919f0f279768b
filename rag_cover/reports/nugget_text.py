"""Nugget scores as people read them: one wording for the terminal, the notebook and the page."""

from __future__ import annotations

from rag_cover.reports.text import format_count
from rag_cover.summaries import Summary

__all__ = ["nuggets_sentence"]


def nuggets_sentence(summary: Summary) -> str:
    """Say what the nugget scores of TREC's RAG track are, where answers were measured on nuggets; else empty."""
    if (found := summary.nuggets) is None or not found.answers:
        return ""
    scores = found.scores
    named = (
        ("all", scores.all, scores.all_strict),
        ("vital", scores.vital, scores.vital_strict),
        ("weighted", scores.weighted, scores.weighted_strict),
    )
    parts = [f"{name} {lenient:.2f}, strictly {strict:.2f}" for name, lenient, strict in named if None not in (lenient, strict)]
    partly = f" {format_count(found.partial, 'nugget')} in answers only in part." if found.partial else ""
    return f"Nugget scores of {format_count(found.answers, 'answer')}: {'; '.join(parts)}.{partly}" if parts else ""
