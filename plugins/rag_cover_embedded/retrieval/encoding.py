"""Queries and passages as the encoder sees them, in its text mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.questions import Passage
from rag_cover.texts import encodable
from rag_cover_embedded.inputs import CLS, MAX_TOKENS, SEP, Encoded, open_tokenizer
from rag_cover_embedded.segments import segment_texts
from rag_cover_embedded.session import Network
from rag_cover_embedded.weights import Weights

__all__ = ["Encoder", "TextPiece", "Vectorised"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]

LONGEST_TITLE = 64
_OUTPUTS = ("tokens", "embedding")


@dataclass(frozen=True, slots=True)
class TextPiece:
    """What the encoder reads at once, as (tokens,) ids: a passage with its title, or sentences of a long one with its title."""

    passage: int
    ids: Ids


@dataclass(frozen=True, slots=True)
class Vectorised:
    """A text as the (tokens,) ids and (tokens, 384) vectors of what has a letter or digit, and its (384,) unit vector."""

    ids: Ids
    tokens: Floats
    embedding: Floats


@dataclass(frozen=True, slots=True)
class _Opened:
    """An encoder's files; ``says`` tells of each token of the vocabulary whether it has a letter or digit."""

    session: Network
    tokenizer: Tokenizer
    says: NDArray[np.bool_]

    @classmethod
    def of(cls, weights: Weights) -> Self:
        tokenizer = open_tokenizer(weights.tokenizer)
        says = np.zeros(tokenizer.get_vocab_size(), dtype=np.bool_)
        words = tokenizer.get_vocab()
        says[[place for word, place in words.items() if word.isalnum() or any(map(str.isalnum, word))]] = True
        return cls(weights.session(), tokenizer, says)


class Encoder:
    """The shipped encoder with its tokenizer, whose files are opened when they are first needed. Thread-safe."""

    def __init__(self, weights: Weights) -> None:
        self.fingerprint = weights.fingerprint
        self._weights = weights
        self._opening = Lock()

    def open(self) -> None:
        """Open the files now, unless they are open.

        Raises:
            CorruptFileError: a file cannot be read.
        """
        with self._opening:
            _ = self._opened

    @cached_property
    def _opened(self) -> _Opened:
        return _Opened.of(self._weights)

    @property
    def _files(self) -> _Opened:
        self.open()
        return self._opened

    @property
    def vocabulary(self) -> int:
        """Return the number of tokens that there are."""
        return len(self._files.says)

    def pieces(self, passages: Sequence[Passage], first: int = 0) -> Iterator[TextPiece]:
        """Cut passages into pieces of at most 254 tokens, by sentences; ``first`` is the number of the first passage.

        A passage without a letter or digit has none. Of a title the first 64 tokens are read.
        """
        titles = self._files.tokenizer.encode_batch(
            [encodable(each.title or "") for each in passages], add_special_tokens=False
        )
        texts = segment_texts(self._files.tokenizer, [passage.text for passage in passages])
        for number, (title, text) in enumerate(zip(titles, texts, strict=True), first):
            lead = np.array(title.ids[:LONGEST_TITLE], dtype=np.int32)
            windows = text.windows(MAX_TOKENS - 2 - len(lead), overlap=0)
            for ids in [text.ids[text.tokens(window)] for window in windows] or [text.ids]:
                if self._files.says[whole := np.concatenate([lead, ids])].any():
                    yield TextPiece(number, whole)

    def telling(self, ids: Ids) -> NDArray[np.bool_]:
        """Return which tokens have a letter or digit."""
        return np.asarray(self._files.says[ids])

    def read(self, pieces: Sequence[Ids]) -> list[Vectorised]:
        """Run the encoder over (tokens,) ids, at most 254 of each."""
        encoded = [Encoded((CLS, *ids.tolist(), SEP), (0,) * (len(ids) + 2)) for ids in pieces]
        return [
            Vectorised(ids[kept := self.telling(ids)], tokens[1:-1][kept], embedding)
            for ids, (tokens, embedding) in zip(pieces, self._files.session.run(encoded, _OUTPUTS), strict=True)
        ]

    def query(self, text: str) -> Vectorised | None:
        """Read a query, up to its 254th token; None where it has no letter or digit."""
        ids = np.array(
            self._files.tokenizer.encode(encodable(text), add_special_tokens=False).ids[: MAX_TOKENS - 2], dtype=np.int32
        )
        return self.read([ids])[0] if self.telling(ids).any() else None
