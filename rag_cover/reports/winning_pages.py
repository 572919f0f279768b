"""The page of pipelines compared answer by answer."""

from __future__ import annotations

from pathlib import Path

from rag_cover.pairwise import PairwiseComparison
from rag_cover.reports.html import _write
from rag_cover.reports.winning import winning_view

__all__ = ["write_pairwise"]


def write_pairwise(path: Path | str, comparison: PairwiseComparison, *, title: str = "Whose answers win") -> None:
    """Write pipelines compared answer by answer, as one HTML file."""
    _write(path, "winning.html", {"title": title, "winning": winning_view(comparison)})
