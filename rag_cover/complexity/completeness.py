"""How completeness is read from relevance: is what was retrieved about the whole question?

Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024), eq. 2, has an "average
normalised entropy" that can be read in several ways. With Rel_ij how much document i of D is about token j of Q, and
N(x) = -Σ p ln p / ln n the normalised entropy of p = x / Σ x over n places:

    token-entropy         mean_i N(Rel_i·)                     each document, over the question's tokens (the adopted reading)
    weighted              Σ_i m_i N(Rel_i·) / Σ_i m_i          the same, a document weighing its mass m_i = Σ_j Rel_ij
    token-over-documents  mean_j N(Rel_·j)                     each token, over the documents
    document-entropy      N(m_1 … m_D)                         the documents' masses
    joint                 min_i max_j (max_k Rel_kj - Rel_ij)  what they cover only jointly: of the word that a document leaves
                                                               most to the others, how much is left, in the document that
                                                               leaves least
    covered               mean_j max_i Rel_ij                  the share of the question that some document is about

All lie in [0, 1]. N is 1 where nothing is relevant and 0 over a single place. The first four are the paper's words read one way
or another and do not change with the unit of relevance. The others are ours, and take relevance for probabilities: values above
1 are divided by the largest one. ``joint`` asks of the set what a question of several steps has and a simple one has not, parts
that different documents are about; it is 0 where one document is about all that any is about, and where none is about anything.
``covered`` tells a question about what the corpus holds from one about something else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.complexity.choices import CompletenessMethod
from rag_cover.errors import InvalidValueError

__all__ = ["READINGS", "UNPEAKED", "completeness_of", "document_entropies", "relevance_matrix", "sharpen"]

Floats = NDArray[np.float64]


def completeness_of(
    relevance: ArrayLike,
    *,
    documents: int | None = None,
    reading: CompletenessMethod = "token-entropy",
    temperature: float | None = None,
) -> float:
    """Return S_D in [0, 1]; 1 without documents, of which nothing can be said against their being about all of it.

    >>> completeness_of([[1, 0, 0], [0, 1, 0]])
    0.0
    >>> completeness_of([[1, 0, 0], [0.5, 0.5, 0]], reading="joint")
    0.5

    Args:
        relevance: (D, Q), at least 0.
        documents: D, where relevance is to be held against it.
        reading: which one of `READINGS`.
        temperature: peaks relevance first (`sharpen`).

    Raises:
        InvalidValueError: relevance that is negative, NaN or of another shape; no such reading; a temperature not above 0.
    """
    matrix = relevance_matrix(relevance, documents=documents)
    if reading not in READINGS:
        message = f"{reading!r} is no reading of completeness; there are {', '.join(READINGS)}"
        raise InvalidValueError(message)
    if not len(matrix):
        return 1.0
    return READINGS[reading](sharpen(matrix, temperature))


def relevance_matrix(relevance: ArrayLike, *, documents: int | None = None) -> Floats:
    """Check relevance and return it as (documents, tokens); without documents its shape is (0, 0).

    Raises:
        InvalidValueError: another shape, or a value that is negative or not finite.
    """
    matrix = np.asarray(relevance, dtype=np.float64)
    wanted = len(matrix) if documents is None and matrix.ndim else documents
    if not wanted and matrix.shape[:1] == (0,):
        return np.zeros((0, 0))
    if matrix.ndim != 2 or len(matrix) != wanted or not matrix.shape[1]:  # noqa: PLR2004  # documents and tokens
        message = f"relevance has a row per document and a column per token: ({wanted}, tokens), not {matrix.shape}"
        raise InvalidValueError(message)
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        row, column = np.argwhere(~np.isfinite(matrix) | (matrix < 0))[0]
        message = f"relevance[{row}][{column}] is {matrix[row, column]}; relevance is a finite number of at least 0"
        raise InvalidValueError(message)
    return matrix


def sharpen(relevance: Floats, temperature: float | None) -> Floats:
    """Return each document's softmax over the tokens, exp(Rel_ij / temperature) normalised; relevance as it is for None.

    Similarity-like relevance is nearly flat over the tokens, so that its entropy is high for any document; the lower the
    temperature, the less is left of that.

    >>> sharpen(np.array([[0.5, 0.6]]), 0.1).round(3).tolist()
    [[0.269, 0.731]]
    """
    if temperature is None:
        return relevance
    if not (math.isfinite(temperature) and temperature > 0):
        message = f"temperature is {temperature}; it is a number above 0, or None for relevance as it is"
        raise InvalidValueError(message)
    powers = np.exp((relevance - relevance.max(axis=1, keepdims=True)) / temperature)
    result: Floats = powers / powers.sum(axis=1, keepdims=True)
    return result


def document_entropies(relevance: Floats) -> Floats:
    """Return (D,) normalised entropies of (D, Q) relevance over the tokens: 1 where all is zero, 0 for a single token.

    >>> document_entropies(np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])).tolist()
    [0.5, 1.0]
    """
    places = relevance.shape[1]
    if places == 1:
        return np.zeros(len(relevance))
    largest = relevance.max(axis=1, keepdims=True)  # so that huge values cannot sum to infinity
    scaled = np.divide(relevance, largest, out=np.ones_like(relevance), where=largest > 0)
    shares = scaled / scaled.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropies: Floats = -(shares * logs).sum(axis=1) / math.log(places)
    return np.clip(entropies, 0.0, 1.0)


def _token_entropy(relevance: Floats) -> float:
    return float(document_entropies(relevance).mean())


def _mass_weighted_mean(relevance: Floats) -> float:
    masses = _masses(relevance)
    return float(masses @ document_entropies(relevance) / masses.sum()) if masses.any() else 1.0


def _token_over_documents(relevance: Floats) -> float:
    return float(document_entropies(relevance.T).mean())


def _document_entropy(relevance: Floats) -> float:
    return float(document_entropies(_masses(relevance)[None, :])[0])


def _joint(relevance: Floats) -> float:
    likely = _likely(relevance)
    return float((likely.max(axis=0) - likely).max(axis=1).min())


def _mean_best_match(relevance: Floats) -> float:
    return float(_likely(relevance).max(axis=0).mean())


def _likely(relevance: Floats) -> Floats:
    likely: Floats = relevance / max(1.0, float(relevance.max()))
    return likely


def _masses(relevance: Floats) -> Floats:
    """Return each document's total relevance, in units of the largest value there is."""
    masses: Floats = (relevance / (relevance.max() or 1.0)).sum(axis=1)
    return masses


READINGS: Mapping[CompletenessMethod, Callable[[Floats], float]] = {
    "token-entropy": _token_entropy,
    "document-entropy": _document_entropy,
    "token-over-documents": _token_over_documents,
    "weighted": _mass_weighted_mean,
    "joint": _joint,
    "covered": _mean_best_match,
}
"""The readings: from (D, Q) relevance, D and Q at least 1, to completeness."""

UNPEAKED: frozenset[CompletenessMethod] = frozenset({"joint", "covered"})
"""Those that take relevance for probabilities, which a softmax over the tokens would undo."""
