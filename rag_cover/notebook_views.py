"""How values of the inner layers reach the page that a notebook shows of them, without importing the reports."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

__all__ = ["DrawnValue", "draw_for_notebook", "show_in_notebook"]


def show_in_notebook(value: object) -> str:
    """Write a value as the HTML that a notebook shows below a cell: the report's own cards, in a frame."""
    cards = import_module("rag_cover.reports.cards")  # by name: reports import the values that they show
    framed: str = cards.framed_card(value)
    return framed


class DrawnValue(Protocol):
    """A drawing: its title, what it shows in words, and as text the SVG, or a sentence where there is nothing to draw."""

    @property
    def title(self) -> str:
        """Return its title."""
        ...

    @property
    def words(self) -> str:
        """Return what it shows, or why there is nothing to draw."""
        ...

    def _repr_html_(self) -> str: ...

    def _repr_svg_(self) -> str | None: ...


def draw_for_notebook(comparison: object) -> DrawnValue:
    """Draw a comparison of two pipelines."""
    drawings = import_module("rag_cover.reports.drawings")
    drawn: DrawnValue = drawings.draw_comparison(comparison)
    return drawn
