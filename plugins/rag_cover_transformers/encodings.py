"""Texts as tokens: tokenised once, cut into windows at sentence ends, joined as the checkpoint's own tokenizer would.

Special tokens written in a text stay text. Nothing is cut off: what is too long becomes several windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.errors import InvalidValueError
from rag_cover.texts import encodable, group_lengths, sentences

__all__ = ["NetworkInput", "PairEncoder", "TextEncoder", "TokenisedText", "longest_input"]

Ids = NDArray[np.int64]

_CHUNK = 4_096
_UNBOUNDED = 100_000
_POSITIONS_BEFORE_TEXT = 2
_SHIFTED = ("camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "roberta", "xlm-roberta", "xmod")
"""RoBERTa and its kin, which number positions from the padding id on."""

SHORTEST = 16


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """One input of a network; ``segments`` is None where the checkpoint's tokenizer tells no segments apart."""

    ids: Ids
    segments: Ids | None = None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class TokenisedText:
    """A text's token ids, the (tokens, 2) code points where each stands, and the places where sentences begin and end."""

    ids: Ids
    offsets: Ids
    bounds: Ids

    def windows(self, size: int) -> list[Ids]:
        """Cut into windows of at most ``size`` tokens at sentence ends, neighbours share a sentence; a blank text has none."""
        if len(self.ids) <= size:
            return [self.ids] if len(self.ids) else []
        pieces = _pieces(self.bounds.tolist(), max(1, size // 2))
        ranges = group_lengths([stop - start for start, stop in pairwise(pieces)], size=size)
        return [self.ids[pieces[first] : pieces[stop]] for first, stop in ranges]


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a tokenizer puts before, between and after the parts of an input, and the segments it gives them."""

    before: Ids
    between: Ids
    after: Ids
    segments: tuple[int, int, int, int, int] | None

    @property
    def size(self) -> int:
        return len(self.before) + len(self.between) + len(self.after)


class PairEncoder(Protocol):
    """What makes one input of a network out of two texts."""

    @property
    def pair_room(self) -> int:
        """Return how many tokens the two parts of a pair may have together."""
        ...

    def tokenise(self, texts: Sequence[str]) -> list[TokenisedText]:
        """Tokenise texts, without special tokens; a blank text has no token."""
        ...

    def join_pair(self, first: Ids, second: Ids) -> NetworkInput:
        """Join the tokens of two texts to one input."""
        ...


class TextEncoder:
    """A checkpoint's tokenizer: texts in, inputs of at most ``max_tokens`` out."""

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self._pair, self._single = _frame(tokenizer, "a", "b"), _frame(tokenizer, "a")
        self._literal = literal_tokenizer(tokenizer)
        self.pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0

    @property
    def pair_room(self) -> int:
        """Return how many tokens the two parts of a pair may have together."""
        return self.max_tokens - self._pair.size

    @property
    def room(self) -> int:
        """Return how many tokens a single text may have."""
        return self.max_tokens - self._single.size

    def tokenise(self, texts: Sequence[str]) -> list[TokenisedText]:
        """Tokenise texts, without special tokens; a blank text has no token, whatever its tokenizer makes of white space."""
        cleaned = [encodable(text) if text.strip() else "" for text in texts]
        return [
            _tokenise_text(text, encoding)
            for start in range(0, len(cleaned), _CHUNK)
            for text, encoding in zip(
                cleaned[start : start + _CHUNK],
                self._literal.encode_batch(cleaned[start : start + _CHUNK], add_special_tokens=False),
                strict=True,
            )
        ]

    def join_pair(self, first: Ids, second: Ids) -> NetworkInput:
        """Join two parts as the tokenizer joins a pair."""
        frame = self._pair
        parts = (frame.before, first, frame.between, second, frame.after)
        return NetworkInput(np.concatenate(parts), _segments(frame, parts))

    def alone(self, ids: Ids) -> NetworkInput:
        """Frame a single text as the tokenizer does."""
        frame = self._single
        parts = (frame.before, ids, frame.after)
        return NetworkInput(np.concatenate(parts), _segments(frame, parts))

    @property
    def text_start(self) -> Ids:
        """Return the special tokens that the tokenizer puts before a single text."""
        return self._single.before

    @property
    def single_start(self) -> int:
        """Return where the text begins in a single input."""
        return len(self._single.before)


def literal_tokenizer(tokenizer: Any) -> Tokenizer:
    """Copy the tokenizer's backend so that special tokens written in a text stay text, nothing is padded, nothing cut."""
    literal = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    literal.no_padding()
    literal.no_truncation()
    literal.encode_special_tokens = True
    return literal


def longest_input(tokenizer: Any, config: Any, asked: int | None = None) -> int:
    """Return how many tokens a network takes: what was asked for, else what its tokenizer and its positions allow.

    Raises:
        InvalidValueError: less than ``SHORTEST``, in which two texts find no room.
    """
    positions = getattr(config.get_text_config(), "max_position_embeddings", None) or _UNBOUNDED
    if config.model_type.startswith(_SHIFTED):
        positions -= _POSITIONS_BEFORE_TEXT
    allowed = min(int(positions), int(tokenizer.model_max_length), _UNBOUNDED)
    longest = allowed if asked is None else min(asked, allowed)
    if longest < SHORTEST:
        message = (
            f"inputs of {longest} tokens are too short for two texts: max_tokens is {SHORTEST} to {allowed} for this model"
        )
        raise InvalidValueError(message)
    return longest


def _frame(tokenizer: Any, *texts: str) -> _Frame:
    """Learn from an example what the tokenizer adds to one text, or to two."""
    encoding = tokenizer(*texts)
    ids, parts = np.array(encoding["input_ids"], dtype=np.int64), encoding.sequence_ids(0)
    first = [place for place, part in enumerate(parts) if part == 0]
    second = [place for place, part in enumerate(parts) if part == 1] or [len(ids)]
    between = slice(first[-1] + 1, second[0]) if len(texts) > 1 else slice(0, 0)
    after = slice(second[-1] + 1, len(ids)) if len(texts) > 1 else slice(first[-1] + 1, len(ids))
    before = slice(0, first[0])
    types = encoding.get("token_type_ids")
    if types is None:
        return _Frame(ids[before], ids[between], ids[after], None)
    places = (before, slice(first[0], first[0] + 1), between, slice(second[0], second[0] + 1), after)
    return _Frame(ids[before], ids[between], ids[after], tuple(next(iter(types[place]), 0) for place in places))  # type: ignore[arg-type]  # five of them


def _segments(frame: _Frame, parts: Sequence[Ids]) -> Ids | None:
    if frame.segments is None:
        return None
    kinds = frame.segments if len(parts) == len(frame.segments) else (*frame.segments[:2], frame.segments[-1])
    return np.repeat(np.array(kinds, dtype=np.int64), [len(part) for part in parts])


def _tokenise_text(text: str, encoding: Any) -> TokenisedText:
    ids = np.array(encoding.ids, dtype=np.int64)
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    ends = np.maximum.accumulate(offsets[:, 1]) if len(ids) else offsets[:, 1]
    starts = np.array([span.start for span in sentences(text)], dtype=np.int64)
    firsts = np.searchsorted(ends, starts, side="right")  # by ends: a token may begin with the space before its sentence
    return TokenisedText(ids, offsets, np.unique(np.concatenate([[0], firsts, [len(ids)]])))


def _pieces(bounds: Sequence[int], longest: int) -> list[int]:
    """Cut sentences that are too long.

    >>> _pieces([0, 3, 10], 4)
    [0, 3, 7, 10]
    """
    return [place for start, stop in pairwise(bounds) for place in range(start, stop, longest)] + [bounds[-1]]
