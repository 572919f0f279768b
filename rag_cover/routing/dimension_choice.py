"""How many dimensions a skill model has, and how well it predicts when that number is chosen without the questions judged.

One dimension is the default; more are added while each addition clearly lowers the cross-validated log-loss: the 95% interval
of the gain, over questions, lies above 0. Figures of the folds by which a number was chosen flatter the choice; nested folds do
not (Varma & Simon, BMC Bioinformatics 2006): each outer fold is predicted by a model whose dimensions, and strength of priors,
were chosen on inner folds of the other questions alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_cover.routing.caimira import Caimira
from rag_cover.routing.irt import cross_entropy
from rag_cover.routing.responses import Responses
from rag_cover.stats.folds import folds_of
from rag_cover.stats.intervals import Z95
from rag_cover.stats.logistic import logits_of

__all__ = ["DIMENSIONS", "LOGIT_EDGE", "DimensionChoice", "choose_dimensions", "predict_nested", "sum_losses"]

Floats = NDArray[np.float64]

DIMENSIONS = (1, 2, 3, 5)
"""Numbers of dimensions that are tried where none is named."""
LOGIT_EDGE = 1e-6
"""A probability nearer to 0 or 1 than this has no logit."""


@dataclass(frozen=True, slots=True)
class DimensionChoice:
    """A model with the dimensions and the strength of priors that were chosen, to be fitted; log-losses of all tried.

    ``losses`` are means over held-out questions, in nats; empty where too few questions were there.
    """

    model: Caimira
    losses: Mapping[int, float]


def choose_dimensions(
    responses: Responses, features: Floats, *, tried: Sequence[int] = DIMENSIONS, seed: int = 0
) -> DimensionChoice:
    """Choose dimensions by cross-validation over questions: the first of those tried, unless more predict clearly better.

    Args:
        responses: of n questions.
        features: (n, d) of these questions.
        tried: numbers of dimensions, from the fewest; what comes after one that is not clearly better is not tried.
        seed: seed of the random generator (fits and folds).
    """
    chosen = Caimira(dimensions=tried[0], seed=seed)
    best = np.zeros(0)
    losses: dict[int, float] = {}
    for m in tried:
        model = Caimira(dimensions=m, seed=seed)
        found = model.cross_validate(responses, features)
        if m == tried[0] or _is_clearly_lower(found.losses, best):
            chosen, best = replace(model, shrinkage=found.strength), found.losses
        if len(found.losses):
            losses[m] = float(found.losses.mean())
        if chosen.dimensions != m:
            break
    return DimensionChoice(chosen, losses)


def predict_nested(
    responses: Responses, features: Floats, *, tried: Sequence[int] = DIMENSIONS, folds: int = 5, seed: int = 0
) -> tuple[Floats, tuple[int, ...]]:
    """Predict (n, a) each question by a model that was chosen and fitted without it; and the dimensions of each fold's model.

    An agent without other responses is predicted as the others are on average.
    """
    predicted = np.zeros_like(responses.values)
    dimensions = []
    for held in folds_of(range(len(features)), folds, seed=seed):
        known = np.asarray(~np.isnan(responses.values[~held]).all(axis=0))
        names = [agent for agent, there in zip(responses.agents, known, strict=True) if there]
        others = responses.of_questions(~held).of_agents(names)
        model = choose_dimensions(others, features[~held], tried=tried, seed=seed).model
        predictions = model.fit(others, features[~held]).predict(features[held])
        rows = np.repeat(predictions.mean(axis=1, keepdims=True), len(known), axis=1)
        rows[:, known] = predictions
        predicted[held] = rows
        dimensions.append(model.dimensions)
    return predicted, tuple(dimensions)


def sum_losses(responses: Responses, predicted: Floats) -> Floats:
    """Return (n,) log-losses, summed over the responses of each question, in nats.

    >>> sum_losses(Responses(["a", "b"], ["Why?"], [[1.0, np.nan]]), np.array([[0.5, 0.9]])).round(4).tolist()
    [0.6931]
    """
    losses = cross_entropy(logits_of(predicted, edge=LOGIT_EDGE), np.nan_to_num(responses.values))
    return np.asarray(np.where(np.isnan(responses.values), 0, losses).sum(axis=1))


def _is_clearly_lower(losses: Floats, than: Floats) -> bool:
    """Return whether losses of the same questions are lower, by the 95% interval of the mean difference."""
    if not len(losses):
        return False
    gain = than - losses
    return bool(gain.mean() > Z95 * gain.std() / math.sqrt(len(gain)))
