"""rag_cover's judges as LangChain's cross-encoder: what ``CrossEncoderReranker`` orders documents by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.runnables import Runnable
from numpy.typing import NDArray

from rag_cover.backends import Entailer, Scorer, ScoringItem
from rag_cover.integration import LazyModels, Reconstructible
from rag_cover_langchain.models import models_of

__all__ = ["RagCoverCrossEncoder"]


class RagCoverCrossEncoder(Reconstructible, BaseCrossEncoder):
    """Scores a text for a query by P(the text contains a correct answer to it), in [0, 1].

    Models are opened at the first score; a pickle holds what was given and opens it anew.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            cross_encoder = RagCoverCrossEncoder()

    Invoke: ::

            scores = cross_encoder.score([("Why is the sky blue?", "Air scatters blue light.")])

    Args:
        judge: the judge, by name or as an object of rag_cover's or LangChain's.
        entailer: asked in place of the judge: a score is then P(the text entails the query), for queries that are statements.

    Raises:
        InvalidValueError: an object that cannot serve as what it is given as.
    """

    def __init__(
        self, judge: str | Scorer | Runnable[Any, Any] = "embedded", *, entailer: str | Entailer | None = None
    ) -> None:
        self._given = (judge, entailer)
        self._models = LazyModels(models_of(judge=judge, entailer=entailer), ["scorer" if entailer is None else "entailer"])

    def __repr__(self) -> str:
        judge, entailer = self._given
        return f"{type(self).__name__}({judge!r})" if entailer is None else f"{type(self).__name__}(entailer={entailer!r})"

    def constructor_arguments(self) -> dict[str, Any]:
        """Return the arguments that make an equal object."""
        judge, entailer = self._given
        return {"judge": judge, "entailer": entailer}

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """Return one score for each (query, text).

        Raises:
            ModelFailedError: the judge failed.
            RagCoverError: a model cannot be opened.
        """
        if not text_pairs:
            return []
        numbers: list[float] = (self._correctness if self._given[1] is None else self._entailment)(text_pairs).tolist()
        return numbers

    def _correctness(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        judge: Any = self._models.get().judge  # opened
        scores: NDArray[np.float32] = judge.correctness([ScoringItem(query, text) for query, text in pairs])
        return scores

    def _entailment(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        entailer: Any = self._models.get().entailer  # opened
        scores: NDArray[np.float32] = entailer.entail([(text, query) for query, text in pairs])[:, 0]
        return scores
