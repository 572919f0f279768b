"""BM25 as the QUEST paper used it: gensim 3's variant, for comparison alone; the product searches with bm25s.

    score(d, q) = Σ_{w in q} idf(w) · f(w, d) (k1 + 1) / (f(w, d) + k1 (1 - b + b |d| / mean |d|))

with k1 = 1.5, b = 0.75 and idf(w) = ln(N - n(w) + 0.5) - ln(n(w) + 0.5), where N is the number of documents and n(w) of those
that have w. A negative idf is replaced by 0.25 times the mean idf over all words, those with a negative one among them; that
floor is itself negative where the mean is. A word that the query repeats counts as often as it stands there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

K1, B, EPSILON = 1.5, 0.75, 0.25


class ReferenceBM25:
    """Scores tokenised documents for tokenised queries.

    >>> [round(score, 4) for score in ReferenceBM25([["a", "b", "a"], ["b", "c"], ["d"]]).scores(["a"])]
    [0.6287, 0.0, 0.0]
    """

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(document) for document in corpus]
        self._mean_length = fmean(map(len, corpus))
        holding = Counter(word for counts in self._counts for word in counts)
        idf = {word: math.log(len(corpus) - n + 0.5) - math.log(n + 0.5) for word, n in holding.items()}
        floor = EPSILON * (sum(idf.values()) / len(idf))
        self._idf = {word: value if value >= 0 else floor for word, value in idf.items()}

    def scores(self, query: Sequence[str]) -> list[float]:
        """Return each document's score."""
        return [self._score(counts, query) for counts in self._counts]

    def _score(self, counts: Counter[str], query: Sequence[str]) -> float:
        norm = K1 * (1 - B + B * counts.total() / self._mean_length)
        shared = [word for word in query if word in counts]
        return math.fsum(self._idf[word] * counts[word] * (K1 + 1) / (counts[word] + norm) for word in shared)
