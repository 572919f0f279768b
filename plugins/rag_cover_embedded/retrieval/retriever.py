"""The embedded retriever: BM25 and late interaction over the shipped encoder, their rankings fused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover_embedded.retrieval.encoding import Encoder
from rag_cover_embedded.retrieval.fusion import fuse_rankings, rank_scores
from rag_cover_embedded.retrieval.index import Index, corpus_digest
from rag_cover_embedded.weights import Weights

__all__ = ["EmbeddedRetriever"]

CANDIDATES = 100
KAPPA = 10


class EmbeddedRetriever:
    """Finds passages by their words and by what their tokens mean. Thread-safe, deterministic, offline; made for English.

    Args:
        corpus: the passages, kept in memory; of equal ones each is found.
        index: the folder where their index is found, or built; None builds it in memory.

    Raises:
        InvalidValueError: the corpus is empty.
        StoreError: ``index`` holds something else, or the index of another corpus or encoder; or it cannot be written.
        CorruptFileError: the index is damaged.
    """

    agreed_score = 0.95
    """From this score on, a passage is first by its words and by what they mean, or nearly."""

    def __init__(self, corpus: Iterable[Passage], index: Path | None = None) -> None:
        self._passages = tuple(corpus)
        if not self._passages:
            message = "A retriever needs at least one passage to find; this corpus is empty."
            raise InvalidValueError(message)
        self._encoder = Encoder(Weights.open())
        digest = corpus_digest(self._passages)
        kept = (
            Index.of(self._passages, self._encoder)
            if index is None
            else Index.open_or_build(self._passages, self._encoder, index, digest)
        )
        self._keywords, self._vectors = kept.keywords, kept.vectors
        self.fingerprint = f"{self._encoder.fingerprint}:hybrid-1:{digest[:16]}"

    def retrieve(self, query: str, *, k: int) -> tuple[Passage, ...]:
        """Return at most k passages, best first, as they came but for ``score``.

        The score is in (0, 1] and tells the order, not whether a passage answers: 1 stands first by words and by meaning, 0.5
        first by one of them and far behind by the other. Ranked are the 100 (or k) best by words and the 100 (or k) best by
        the query's vector, up to its 254th token. A query of function words alone is ranked by meaning; one without a letter
        or digit finds nothing, and no passage without any is found.
        """
        if k < 1:
            message = f"k is at least 1, not {k}"
            raise InvalidValueError(message)
        if (asked := self._encoder.query(query)) is None:
            return ()
        most = max(CANDIDATES, k)
        scores = self._keywords.scores(query)
        by_words = rank_scores(scores, min(most, int((scores > 0).sum())))
        cosines = self._vectors.cosines(asked.embedding)
        candidates = np.union1d(by_words, self._vectors.nearest(cosines, most))
        places, fusion = fuse_rankings([by_words, self._vectors.interacting(asked, cosines, candidates)], kappa=KAPPA)
        best = zip(places[:k].tolist(), fusion[:k].tolist(), strict=True)
        return tuple(self._passages[place].model_copy(update={"score": score}) for place, score in best)
