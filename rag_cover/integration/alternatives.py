"""Which of several statements a text supports, by an entailer and, where there is one, an embedder.

A statement's share is proportional to P(text entails statement) · exp(20 · cos(text, statement)): what follows from a text,
among statements that are about the same thing. The two factors, the 20, and that a statement's negation is weighed against it
only where it is worded, were chosen on labelled decisions (``benchmarks/judge/decisions.py`` in the source tree).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Embedder, Entailer
from rag_cover.model_calls import ask_relations

__all__ = ["entailment_probability", "entailment_shares"]

_SHARPNESS = 20.0
_LEAST = 1e-6  # an entailer's 0 leaves a statement the last place, not an undefined one


def entailment_shares(
    text: str, statements: Sequence[str], *, entailer: Entailer, embedder: Embedder | None = None
) -> NDArray[np.float64]:
    """Return how a text divides its support among statements: (n,) positive shares that sum to 1; of none, none.

    >>> from rag_cover.testing import KeywordEntailer
    >>> entailment_shares("It rains.", ["It rains.", "Snow melts."], entailer=KeywordEntailer()).round(2).tolist()
    [1.0, 0.0]

    Raises:
        ModelFailedError: the entailer returned something that is no probability.
    """
    if not statements:
        return np.zeros(0)
    pairs = [(text, statement) for statement in statements]
    found = ask_relations(entailer, pairs)
    weights = np.log(np.maximum([found[pair][0] for pair in pairs], _LEAST))
    if embedder is not None:
        of_text, *of_statements = np.asarray(embedder.embed([text, *statements]), dtype=np.float64)
        weights += _SHARPNESS * (np.array(of_statements) @ of_text)
    raised = np.exp(weights - weights.max())
    shares: NDArray[np.float64] = raised / raised.sum()
    return shares


def entailment_probability(text: str, statement: str, *, entailer: Entailer) -> float:
    """Return P(entailment) / (P(entailment) + P(contradiction)): whether a text supports a statement rather than denies it.

    A text that is unrelated to the statement gives a value near 0.5.

    Raises:
        ModelFailedError: the entailer returned something that is no probability.
    """
    entailed, _, contradicted = (each + _LEAST for each in ask_relations(entailer, [(text, statement)])[text, statement])
    return entailed / (entailed + contradicted)
