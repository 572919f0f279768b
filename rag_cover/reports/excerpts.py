"""A text cut into pieces to print: where the fragments lie that answer sub-questions, and what was left out for length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_cover.backends import Span
from rag_cover.placeholder import Placeholder

__all__ = ["ExcerptPiece", "Mark", "excerpt"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A range of a text that answers the sub-question of this number, or that nothing supports (number 0)."""

    span: Span
    number: int


@dataclass(frozen=True, slots=True)
class ExcerptPiece:
    """A run of text under the same marks; ``ends`` are the marks that end with it, ``cut`` counts characters left out here."""

    text: str = ""
    numbers: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    unsupported: bool = False
    unsupported_ends: bool = False
    cut: int = 0


def excerpt(text: str, marks: Iterable[Mark] = (), *, limit: int = 1200) -> tuple[ExcerptPiece, ...]:
    """Cut a text at its marks, keeping about ``limit`` characters around them, or at its start where it has none.

    >>> [piece.text or piece.cut for piece in excerpt("x" * 50 + "answer" + "y" * 44, [Mark(Span(50, 56), 1)], limit=26)]
    [40, 'xxxxxxxxxx', 'answer', 'yyyyyyyyyy', 34]

    What stands in place of a redacted text is shown whole, with what it answers: marks are places in the text that is gone.
    """
    if Placeholder.read(text):
        return (_placeholder_piece(text, {mark.number for mark in marks}),)
    inside = [mark for mark in (_within(mark, len(text)) for mark in marks) if mark is not None]
    pieces: list[ExcerptPiece] = []
    shown = 0
    for window in _windows(len(text), [mark.span for mark in inside], limit):
        pieces += [ExcerptPiece(cut=window.start - shown)] if window.start > shown else []
        pieces += _cut_at_marks(text, window, inside)
        shown = window.end
    return (*pieces, *([ExcerptPiece(cut=len(text) - shown)] if shown < len(text) else []))


def _placeholder_piece(stand_in: str, numbers: set[int]) -> ExcerptPiece:
    return ExcerptPiece(stand_in, ends=tuple(sorted(numbers - {0})), unsupported_ends=0 in numbers)


def _within(mark: Mark, length: int) -> Mark | None:
    start, end = max(0, mark.span.start), min(length, mark.span.end)
    return Mark(Span(start, end), mark.number) if start < end else None


def _windows(length: int, spans: Sequence[Span], limit: int) -> list[Span]:
    """Choose what to show: everything if it fits, else the surroundings of each span, until the limit is used up."""
    if length <= limit:
        return [Span(0, length)] if length else []
    starts = sorted(spans, key=lambda span: (span.start, span.end)) or [Span(0, 0)]
    each = max(1, limit // len(starts))
    windows: list[Span] = []
    for span in starts:
        size = min(span.end - span.start, each)
        margin = (each - size) // 2
        start = max(0, span.start - margin)
        end = min(length, start + each)
        if windows and start <= windows[-1].end:
            windows[-1] = Span(windows[-1].start, max(windows[-1].end, end))
        else:
            windows.append(Span(start, end))
    return windows


def _cut_at_marks(text: str, window: Span, marks: Sequence[Mark]) -> Iterator[ExcerptPiece]:
    here = [mark for mark in marks if mark.span.start < window.end and mark.span.end > window.start]
    edges = {window.start, window.end}
    edges |= {edge for mark in here for edge in (mark.span.start, mark.span.end) if window.start < edge < window.end}
    for start, end in pairwise(sorted(edges)):
        over = [mark for mark in here if mark.span.start < end and mark.span.end > start]
        ending = {mark.number for mark in over if min(mark.span.end, window.end) == end}
        yield ExcerptPiece(
            text=text[start:end],
            numbers=tuple(sorted({mark.number for mark in over} - {0})),
            ends=tuple(sorted(ending - {0})),
            unsupported=any(mark.number == 0 for mark in over),
            unsupported_ends=0 in ending,
        )
