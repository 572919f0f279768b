"""A text cut into token segments (sentences, or pieces of long ones) and windows of them, tokenised once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.backends import Span
from rag_cover.texts import encodable, flatten, group_lengths, sentences

__all__ = ["SegmentedText", "Window", "segment_texts"]

Window = tuple[int, int]
"""A half-open range of segments."""

LONGEST_SEGMENT = 80
LONGEST_TITLE = 12
"""Words of a first line that is read as a title."""
_CHUNK = 4_096
_TITLE = re.compile(r"\s*(\S(?:[^\n]{0,200}[\w)\]\"'])?)[ \t]*\n\s*\S")

_Encoding = tuple[NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True, slots=True)
class SegmentedText:
    """A text as tokens in segments.

    ``ids`` are its (tokens,) token ids, ``offsets`` the (tokens, 2) code points where each stands in the text, ``bounds``
    the (segments + 1,) places where segments begin and end, ``sentences`` each segment's sentence.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]
    bounds: NDArray[np.int32]
    sentences: tuple[Span, ...]

    def windows(self, size: int, overlap: int = 1) -> list[Window]:
        """Group the segments into ranges of at most ``size`` tokens, neighbours sharing ``overlap`` segments."""
        return group_lengths(np.diff(self.bounds).tolist(), size=size, overlap=overlap)

    def tokens(self, window: Window) -> slice:
        """Return the range of tokens a window holds."""
        return slice(int(self.bounds[window[0]]), int(self.bounds[window[1]]))

    def segment_numbers(self, window: Window) -> NDArray[np.intp]:
        """Number the segment of each token of a window."""
        return np.repeat(np.arange(window[1] - window[0]), np.diff(self.bounds[window[0] : window[1] + 1]))

    def window_text(self, text: str, window: Window) -> str:
        """Cut a window out of the text it was made from."""
        return text[self.sentences[window[0]].start : self.sentences[window[1] - 1].end]

    def around(self, window: Window, first: int, last: int) -> Span:
        """Return the sentences that hold a window's tokens ``first`` to ``last`` (counted from the window's start)."""
        start = self.bounds[window[0]]
        segments = np.searchsorted(self.bounds, [start + first, start + last], side="right") - 1
        return Span(self.sentences[segments[0]].start, self.sentences[segments[1]].end)


def segment_texts(tokenizer: Tokenizer, texts: Sequence[str]) -> list[SegmentedText]:
    """Cut texts into segments of at most 80 tokens; no word is lost, a blank text has none.

    Markup is read as white space (`flatten`), and a title on the first line as a sentence that ends there.
    """
    cleaned = [flatten(encodable(text)) for text in texts]
    spans = [sentences(text) for text in cleaned]
    pieces = (piece for text, found in zip(cleaned, spans, strict=True) for piece in _pieces(text, found))
    encodings = _encode_pieces(tokenizer, list(pieces))
    return [_segment_text(found, [next(encodings) for _ in found]) for found in spans]


def _pieces(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """Cut spans out of a text; a title on its first line gets a full stop in the place of the line's end."""
    title = _TITLE.match(text)
    end = title.end(1) if title and len(title[1].split()) <= LONGEST_TITLE else -1
    for span in spans:
        if span.start <= end < span.end:
            yield f"{text[span.start : end]}.{text[end + 1 : span.end]}"
        else:
            yield text[span.start : span.end] + ("." if 0 <= span.start < end == span.end else "")


def _encode_pieces(tokenizer: Tokenizer, pieces: Sequence[str]) -> Iterator[_Encoding]:
    for start in range(0, len(pieces), _CHUNK):
        for encoding in tokenizer.encode_batch(pieces[start : start + _CHUNK], add_special_tokens=False):
            offsets = np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2)
            yield np.array(encoding.ids, dtype=np.int32), offsets


def _segment_text(spans: Sequence[Span], encodings: Sequence[_Encoding]) -> SegmentedText:
    bounds, parts = [0], []
    for span, (ids, _) in zip(spans, encodings, strict=True):
        for start in range(0, len(ids), LONGEST_SEGMENT):
            bounds.append(bounds[-1] + min(LONGEST_SEGMENT, len(ids) - start))
            parts.append(span)
    empty = (np.zeros(0, np.int32), np.zeros((0, 2), np.int32))
    placed = [(ids, np.minimum(offsets + span.start, span.end)) for span, (ids, offsets) in zip(spans, encodings, strict=True)]
    ids, offsets = (np.concatenate(arrays) for arrays in zip(empty, *placed, strict=True))
    return SegmentedText(ids, offsets.astype(np.int32), np.array(bounds, dtype=np.int32), tuple(parts))
