"""Texts cut into sentences and windows, in linear time, so that nothing long is ever silently cut off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rag_cover.backends import Span

__all__ = ["encodable", "grouped", "sentences", "windows"]

_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|Mt|vs|etc|e\.g|i\.e|cf|al|approx|No|Fig|Eq|Sec|Inc|Ltd|Co|Corp|Gen|Col|Lt|Capt|Sgt|Rev|Hon)|\b[A-Z])\.$"
)
_BREAK = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?:\[\d+\])*+\s+|[\u3002\uff01\uff1f]+|\n[ \t]*\n\s*|\n")
_LONGEST = 2_000


def sentences(text: str) -> list[Span]:
    """Cut a text into sentences, as code points without the white space around them; blank ones are left out.

    List items and lines count as sentences; a run of more than 2,000 characters without an end is cut at white space.

    >>> [span.of("Dr. Who left. Did he? Yes!") for span in sentences("Dr. Who left. Did he? Yes!")]
    ['Dr. Who left.', 'Did he?', 'Yes!']
    """
    return [part for start, end in _raw(text) for part in _stripped(text, start, end)]


def _raw(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BREAK.finditer(text):
        mark = match.group()
        if mark[0] == "." and "\n" not in mark and _ABBREVIATION.search(text, max(start, match.start() - 8), match.start() + 1):
            continue
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end:
        stop = end
        if end - start > _LONGEST:
            space = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
            stop = space + 1 if space > 0 else start + _LONGEST
        piece = text[start:stop]
        if stripped := piece.strip():
            left = start + len(piece) - len(piece.lstrip())
            yield Span(left, left + len(stripped))
        start = stop


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot carry (lone surrogates), code point by code point, so that offsets stay true.

    >>> encodable("a" + chr(0xD800) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def windows(spans: Sequence[Span], *, size: int, length: Callable[[Span], int], overlap: int = 1) -> list[Span]:
    """Join consecutive sentences into windows of at most ``size`` (as ``length`` counts), ``overlap`` sentences shared.

    A single sentence longer than ``size`` is a window of its own. The windows together hold every sentence.
    """
    groups = grouped([length(span) for span in spans], size=size, overlap=overlap)
    return [Span(spans[first].start, spans[stop - 1].end) for first, stop in groups]


def grouped(lengths: Sequence[int], *, size: int, overlap: int = 1) -> list[tuple[int, int]]:
    """Group consecutive parts, given their lengths, into half-open ranges of at most ``size`` in all.

    >>> grouped([3, 3, 3, 9, 1], size=7)
    [(0, 2), (1, 3), (3, 4), (4, 5)]
    """
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(lengths):
        end, total = start + 1, lengths[start]
        while end < len(lengths) and total + lengths[end] <= size:
            total += lengths[end]
            end += 1
        found.append((start, end))
        if end == len(lengths):
            break
        shared = max(start + 1, end - overlap)
        start = shared if sum(lengths[shared : end + 1]) <= size else end
    return found
