"""CAIMIRA's arithmetic: how a question's content and an agent's skills make the chance that it answers right.

Gor et al., "Do great minds think alike? Investigating human–AI complementarity in question answering with CAIMIRA" (EMNLP
2024), §3: with e_j a question's embedding and s_i an agent's skills in m latent dimensions,

    r_j = softmax((W_R e_j + b_R) / τ)     how relevant each dimension is to the question, a distribution over m
    d_j = W_D e_j - mean                   how difficult it is in each, where the mean is that of the training questions
    P(agent i answers j) = σ((s_i - d_j) · r_j)

Centring the difficulty makes skills and difficulties identifiable up to the order of the dimensions. The mean is frozen when
the model is fitted: centred over whatever is asked about, a single question would always have difficulty 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.stats.logistic import cross_entropy, probabilities

__all__ = ["cross_entropy", "difficulty", "logits", "loss", "probabilities", "relevance"]

Floats = NDArray[np.float64]


def relevance(embeddings: ArrayLike, weights: ArrayLike, bias: ArrayLike, temperature: float = 1.0) -> Floats:
    """Return (n, m) rows that sum to 1: softmax((W_R e + b_R) / τ).

    Args:
        embeddings: (n, d), or (d,) of one question, for which the result is (m,).
        weights: W_R, (m, d).
        bias: b_R, (m,).
        temperature: τ, above 0; 1 in the paper, 0.5 in its code.

    >>> relevance([[1.0, 0.0]], [[0.0, 1.0], [0.0, 2.0]], [0.0, 0.0]).tolist()
    [[0.5, 0.5]]
    """
    rows, w, b = (np.asarray(each, dtype=np.float64) for each in (embeddings, weights, bias))
    scaled = (rows @ w.T + b) / temperature
    powers = np.exp(scaled - scaled.max(axis=-1, keepdims=True))  # so that exp() cannot overflow
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def difficulty(embeddings: ArrayLike, weights: ArrayLike, mean: ArrayLike) -> Floats:
    """Return (n, m) difficulties W_D e - mean: how hard each question is in each dimension, on the scale of skills.

    >>> difficulty([[1.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0]).tolist()
    [[0.0, 2.0]]
    """
    rows, w, centre = (np.asarray(each, dtype=np.float64) for each in (embeddings, weights, mean))
    return np.asarray(rows @ w.T - centre)


def logits(skills: ArrayLike, difficulties: ArrayLike, relevances: ArrayLike) -> Floats:
    """Return (s - d) · r for rows of skills, difficulties and relevances, which broadcast: (…, m) each, (…) out.

    >>> float(logits([1.0, 2.0], [0.0, 1.0], [0.25, 0.75]))
    1.0
    """
    gap = np.asarray(skills, dtype=np.float64) - np.asarray(difficulties, dtype=np.float64)
    return np.asarray((gap * np.asarray(relevances, dtype=np.float64)).sum(axis=-1))


def loss(
    values: ArrayLike,
    labels: ArrayLike,
    skills: ArrayLike,
    difficulties: ArrayLike,
    *,
    skill_penalty: float = 1e-5,
    difficulty_penalty: float = 1e-5,
) -> float:
    """Return the paper's loss of a batch: mean cross-entropy + λ_s Σ|s| + λ_d Σ|d|.

    Args:
        values: the logits, one for each response of the batch.
        labels: 1 where the agent was right, else 0.
        skills: (batch, m), the skills of each response's agent: an agent is penalised as often as it answers.
        difficulties: (batch, m), likewise of its question.
        skill_penalty: λ_s; 1e-5 in the paper.
        difficulty_penalty: λ_d; 1e-5 in the paper.
    """
    penalties = skill_penalty * np.abs(skills).sum() + difficulty_penalty * np.abs(difficulties).sum()
    return float(cross_entropy(values, labels).mean() + penalties)
