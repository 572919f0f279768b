"""Passages found by their words: BM25 as Lucene computes it (Kamphuis et al., ECIR 2020), by bm25s.

A title counts twice. Words are compared without case, accents and the s of plurals (Harman, 1991); Chinese characters, which no
space sets apart, are words each.
"""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rag_cover.questions import Passage
from rag_cover.texts import encodable
from rag_cover_embedded.retrieval.fusion import Places, rank_scores
from rag_cover_embedded.retrieval.rows import are_places, join_ranges, places_of

__all__ = ["Keywords", "search_words"]

Whole = NDArray[np.integer]

K1, B = 0.9, 0.4
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_WORDS = "words.json"
_ARRAYS = ("starts", "passages", "counts", "weights", "lengths")
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


@dataclass(frozen=True)
class Keywords:
    """A BM25 index over passages: which of them hold a word, how often, and the score that it gives them. Thread-safe.

    ``words`` are in alphabetical order; entries ``starts[i]`` to ``starts[i + 1]`` are the ``passages`` that hold word i, in
    their order, with ``counts`` and ``weights``. ``lengths`` are the passages' numbers of words. So two indexes of the same
    passages are the same, whatever was added and removed on the way.
    """

    words: Sequence[str]
    starts: NDArray[np.int64]
    passages: NDArray[np.int32]
    counts: NDArray[np.int32]
    weights: NDArray[np.float32]
    lengths: NDArray[np.int32]

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> Self:
        """Index passages."""
        vocabulary: dict[str, int] = {}
        found = (search_words(passage.title or "") * 2 + search_words(passage.text) for passage in passages)
        ids = [array("q", [vocabulary.setdefault(word, len(vocabulary)) for word in words]) for words in found]
        words = sorted(vocabulary)
        ranks = np.empty(len(words), dtype=np.int64)
        ranks[[vocabulary[word] for word in words]] = np.arange(len(words))
        lengths = np.array([len(each) for each in ids], dtype=np.int32)
        owners = np.repeat(np.arange(len(ids)), lengths)
        pairs, counts = np.unique(ranks[np.frombuffer(b"".join(ids), np.int64)] * len(ids) + owners, return_counts=True)
        held, passage = np.divmod(pairs, max(1, len(ids)))
        return cls._weigh(words, held, passage, counts, lengths)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a saved index, memory-mapped.

        Raises:
            ValueError: its files do not fit together.
        """
        arrays = [np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in _ARRAYS]
        opened = cls(json.loads((folder / _WORDS).read_text(encoding="utf-8")), *arrays)
        if not opened.fit:
            message = "the files of its words do not fit together"
            raise ValueError(message)
        return opened

    @property
    def fit(self) -> bool:
        """Return whether the arrays fit together: their sizes, and the places they name."""
        entries = {len(self.passages), len(self.counts), len(self.weights), int(self.starts[-1])}
        return (
            len(self.starts) == len(self.words) + 1
            and len(entries) == 1
            and are_places(self.starts, len(self.passages) + 1)
            and int(self.passages.min(initial=0)) >= 0
            and int(self.passages.max(initial=-1)) < len(self)
        )

    def save(self, folder: Path) -> None:
        """Save the index: arrays as .npy without pickle, the words as JSON."""
        (folder / _WORDS).write_text(json.dumps(self.words), encoding="utf-8")
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    def rearrange(self, added: Self, order: NDArray[np.intp]) -> Self:
        """Index passages of this index and of another: ``order`` names them, those of the other after all of this one's."""
        both = [*self.words, *added.words]
        words = sorted(set(both))
        ranks = {word: rank for rank, word in enumerate(words)}
        holders = np.concatenate([np.diff(self.starts), np.diff(added.starts)])
        held = np.repeat(np.array([ranks[word] for word in both], dtype=np.int64), holders)
        owners = np.concatenate([self.passages, added.passages + len(self)])
        lengths = np.concatenate([self.lengths, added.lengths])
        places, firsts, sizes = places_of(order, len(lengths))
        moved = places[join_ranges(firsts[owners], sizes[owners])]
        keys = np.repeat(held, sizes[owners]) * len(order) + moved
        counts = np.repeat(np.concatenate([self.counts, added.counts]), sizes[owners])
        sort = np.argsort(keys)
        held, passages = np.divmod(keys[sort], max(1, len(order)))
        return self._weigh(words, held, passages, counts[sort], lengths[order])

    def __len__(self) -> int:
        return len(self.lengths)

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return (passages,) scores: 0 for passages that share no word with the query."""
        ids = self._bm25.get_tokens_ids(search_words(query))
        if not ids:
            return np.zeros(len(self), dtype=np.float32)
        found: NDArray[np.float32] = self._bm25.get_scores_from_ids(ids)
        return found

    def rank(self, query: str, most: int) -> Places:
        """Return the ``most`` passages with the highest scores, best first; those that share no word are left out."""
        scores = self.scores(query)
        held = np.flatnonzero(scores)
        return held[rank_scores(scores[held], most)]

    @classmethod
    def _weigh(cls, words: Sequence[str], held: Whole, passages: Whole, counts: Whole, lengths: Whole) -> Self:
        """Score entries, given by the word's number and the passage's, in this order; words of no entry are left out.

        weight = ln(1 + (N - n + 0.5) / (n + 0.5)) · f / (f + k1 · (1 - b + b · length / mean length))
        """
        holders = np.bincount(held, minlength=len(words))
        rarity = np.log1p((len(lengths) - holders + 0.5) / (holders + 0.5))
        relative = np.maximum(lengths, 1) / np.maximum(lengths, 1).mean() if len(lengths) else lengths
        weights = rarity[held] * counts / (counts + K1 * (1 - B + B * relative)[passages])
        used = np.flatnonzero(holders)
        return cls(
            [words[number] for number in used.tolist()],
            np.concatenate([[0], np.cumsum(holders[used])]).astype(np.int64),
            passages.astype(np.int32),
            counts.astype(np.int32),
            weights.astype(np.float32),
            lengths.astype(np.int32),
        )

    @cached_property
    def _bm25(self) -> Any:  # a bm25s.BM25, which has no types
        bm25 = _bm25s().BM25(k1=K1, b=B)
        bm25.scores = {"data": self.weights, "indices": self.passages, "indptr": self.starts, "num_docs": len(self)}
        bm25.vocab_dict = {word: number for number, word in enumerate(self.words)}
        bm25.nonoccurrence_array = None
        return bm25


def _bm25s() -> Any:  # which has no types
    """Import bm25s, whose logger lets every step of an index through to whoever logs at all, unless that was changed."""
    import bm25s

    logger = logging.getLogger("bm25s")
    if logger.level == logging.DEBUG:
        logger.setLevel(logging.WARNING)
    return bm25s
