"""Passages found by their words: BM25 as Lucene computes it (Kamphuis et al., ECIR 2020), by bm25s.

A title counts twice. Words are compared without case, accents and the s of plurals (Harman, 1991); Chinese characters, which no
space sets apart, are words each.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rag_cover.questions import Passage
from rag_cover.texts import encodable

__all__ = ["Keywords", "search_words"]

K1, B = 0.9, 0.4
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_NO_WORD = ""  # stands in passages without any, since the lengths of passages are divided by their mean
_FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be been before being between both but by can could did do does doing during
    each for from had has have having how i if in into is it its itself just may me might more most must my no not of on or
    other our out over own same shall she should so some such than that the their them then there these they this those
    through to too under until up us very was we were what when where which while who whom whose why will with would you
    your s t""".split()  # noqa: SIM905  # a list of words, not of lines
)


def search_words(text: str) -> list[str]:
    """Cut a text into words to search by; English function words are left out.

    >>> search_words("Who sang in the Cafés of Škoda's cities?")
    ['sang', 'cafe', 'skoda', 'city']
    """
    return [_singular(word) for word in _WORD.findall(_plain(text)) if word not in _FUNCTION_WORDS]


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", encodable(text)).lower()
    return unicodedata.normalize("NFC", "".join(char for char in apart if unicodedata.category(char) != "Mn"))


def _singular(word: str) -> str:
    if len(word) <= 3 or word[-1] != "s":  # noqa: PLR2004  # Harman's stemmer leaves words of three letters alone
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word if word.endswith(("us", "ss")) else word[:-1]


class Keywords:
    """A BM25 index over passages. Thread-safe."""

    def __init__(self, bm25: Any) -> None:  # a bm25s.BM25, which has no types
        self._bm25 = bm25

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> Self:
        """Index passages."""
        bm25s = _bm25s()
        vocabulary: dict[str, int] = {}
        found = (search_words(passage.title or "") * 2 + search_words(passage.text) for passage in passages)
        ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in words or [_NO_WORD]] for words in found]
        bm25 = bm25s.BM25(k1=K1, b=B)
        bm25.index((ids, vocabulary), show_progress=False)
        return cls(bm25)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a saved index, memory-mapped."""
        return cls(_bm25s().BM25.load(folder, mmap=True))

    def save(self, folder: Path) -> None:
        """Save the index: arrays as .npy without pickle, the rest as JSON."""
        self._bm25.save(folder)

    def __len__(self) -> int:
        return int(self._bm25.scores["num_docs"])

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return (passages,) scores: 0 for passages that share no word with the query."""
        found: NDArray[np.float32] = self._bm25.get_scores_from_ids(self._bm25.get_tokens_ids(search_words(query)))
        return found


def _bm25s() -> Any:  # which has no types
    """Import bm25s, whose logger lets every step of an index through to whoever logs at all, unless that was changed."""
    import bm25s

    logger = logging.getLogger("bm25s")
    if logger.level == logging.DEBUG:
        logger.setLevel(logging.WARNING)
    return bm25s
