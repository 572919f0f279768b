"""How a skill model is fitted: which questions are held out, how strong the priors are, and when to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_cover.routing.fitting import (
    Layout,
    Observations,
    Priors,
    objective_of,
    observations_of,
    starting_point,
)
from rag_cover.routing.irt import cross_entropy, relevance
from rag_cover.routing.minimisation import minimise
from rag_cover.routing.parameters import Parameters
from rag_cover.routing.uncertainty import skill_covariances
from rag_cover.stats.folds import folds_of

__all__ = ["Settings", "Trained", "Validation", "cross_validate_strengths", "fit_parameters"]

Floats = NDArray[np.float64]

_STRENGTHS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
_PATIENCE = 2  # weaker priors that are tried after the best
_FOLDS = 3
_CLEARLY = 3.0  # standard errors by which a fold's losses are higher where no other fold is tried
_HELD_OUT = 5  # one question in so many, where the fit is stopped early
_OUTWEIGHED = 10.0  # strength times questions, below which a prior holds nothing that few questions leave open
_LEAST = 20  # questions, below which none can be spared to choose by
_ITERATIONS = 300
_STARTS = 4
_ROUGH, _FINE = 1e-5, 1e-6  # gradients: where only the order of candidates matters, and at the end


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that `Caimira` was given."""

    dimensions: int
    temperature: float
    skill_penalty: float
    difficulty_penalty: float
    patience: int | None
    seed: int
    shrinkage: float | None

    def priors(self, strength: float) -> Priors:
        """Scale the hierarchical priors; at strength 1 they suit what the content of open questions tells of difficulty.

        Their proportions were chosen by cross-validation on questions of Natural Questions (`benchmarks/routing/skills.py`).

        The paper's penalties stand where there are no priors: absolute values pull every skill towards 0 by the same amount,
        however much is known of it, and intervals around it then miss.
        """
        if not strength:
            return Priors(skill=self.skill_penalty, difficulty=self.difficulty_penalty)
        return Priors(
            relevance=160.0 / self.dimensions * strength,
            content=32.0 * strength,
            content_apart=325.0 * strength,
            skill_apart=1.0 * strength,
            agents_apart=1.0 * strength,
            dimensions_apart=1000.0 * strength,
        )


@dataclass(frozen=True, slots=True)
class Trained:
    """A fitted model with what it was fitted on, from which the covariances of skills follow."""

    parameters: Parameters
    shrinkage: float
    observed: Observations
    layout: Layout
    priors: Priors
    point: Floats

    def with_covariances(self) -> Parameters:
        """Return the parameters with the covariances of skills."""
        found = skill_covariances(self.observed, self.layout, self.priors, self.parameters.temperature, self.point)
        return replace(self.parameters, covariances=found)


@dataclass(frozen=True, slots=True)
class Validation:
    """The strength of the priors that predicts held-out questions best, and (n,) their mean log-losses with it, in nats.

    ``losses`` is empty where too few questions were there to choose by.
    """

    strength: float
    losses: Floats


def cross_validate_strengths(values: Floats, features: Floats, settings: Settings) -> Validation:
    """Choose how strong the priors are for responses (n, a) to questions with features (n, d), in three folds of questions."""
    spanned, _ = _project_on_span((features - features.mean(axis=0)) / _scale(features))
    observed = observations_of(spanned, values)
    return _choose_strength(observed, Layout(values.shape[1], settings.dimensions, spanned.shape[1]), settings)


def fit_parameters(agents: Sequence[str], values: Floats, features: Floats, settings: Settings) -> Trained:
    """Fit responses (n, a) by features (n, d), every row and column with a response."""
    centre, scale = features.mean(axis=0), _scale(features)
    spanned, basis = _project_on_span((features - centre) / scale)
    observed = observations_of(spanned, values)
    layout = Layout(values.shape[1], settings.dimensions, spanned.shape[1])
    strength = _choose_strength(observed, layout, settings).strength if settings.shrinkage is None else settings.shrinkage
    point = (
        _best_end(observed, layout, settings, strength) if strength else _fit_with_early_stopping(observed, layout, settings)
    )
    priors = settings.priors(strength)
    parameters = _parameters(tuple(agents), layout, point, centre, basis / scale, settings.temperature, priors)
    return Trained(parameters, strength, observed, layout, priors, point)


def _best_end(observed: Observations, layout: Layout, settings: Settings, strength: float) -> Floats:
    """Fit from several starts and return the best end: there are local minima where responses tell dimensions apart."""
    starts = [starting_point(layout, settings.seed + number) for number in range(_STARTS if layout.dimensions > 1 else 1)]
    ends = [_fit(observed, layout, settings, strength, start, _ROUGH) for start in starts]
    objective = objective_of(observed, layout, settings.priors(strength), settings.temperature)
    best = min(ends, key=lambda point: objective(point)[0])
    return _fit(observed, layout, settings, strength, best, _FINE)


def _fit(
    observed: Observations, layout: Layout, settings: Settings, strength: float, start: Floats, tolerance: float
) -> Floats:
    objective = objective_of(observed, layout, settings.priors(strength), settings.temperature)
    return minimise(objective, start, iterations=_ITERATIONS, tolerance=tolerance)


def _choose_strength(observed: Observations, layout: Layout, settings: Settings) -> Validation:
    """Weaken the priors until held-out questions are predicted no better; 1 where too few questions are there."""
    n = len(observed.labels)
    if n < _LEAST:
        return Validation(1.0, np.zeros(0))
    folds = list(folds_of(range(n), _FOLDS, seed=settings.seed))
    losses: dict[float, Floats] = {}
    means: dict[float, float] = {}
    best = _STRENGTHS[0]
    for strength in (each for each in _STRENGTHS if each * n >= _OUTWEIGHED):
        losses[strength] = _losses_until_worse(observed, folds, layout, settings, strength, than=losses.get(best))
        means[strength] = float(losses[strength].sum() / observed.seen.sum())
        best = min(means, key=means.__getitem__)
        if list(means).index(best) + _PATIENCE < len(means):
            break
    return Validation(best, losses[best] / observed.seen.sum(axis=1))


def _losses_until_worse(
    observed: Observations,
    folds: Sequence[NDArray[np.bool_]],
    layout: Layout,
    settings: Settings,
    strength: float,
    *,
    than: Floats | None,
) -> Floats:
    """Return (n,) log-losses of held-out questions; infinite after a fold where they are clearly higher than others'.

    Weak priors take most of the time, and a fold is enough to see that they are too weak.
    """
    losses = np.full(len(observed.labels), np.inf)
    for held in folds:
        losses[held] = _losses_between(observed.of(~held), observed.of(held), layout, settings, strength)
        if than is not None:
            excess = losses[held] - than[held]
            if excess.mean() > _CLEARLY * excess.std() / np.sqrt(len(excess)):
                break
    return losses


def _losses_between(kept: Observations, held: Observations, layout: Layout, settings: Settings, strength: float) -> Floats:
    point = _fit(kept, layout, settings, strength, starting_point(layout, settings.seed), _ROUGH)
    return _sum_losses_at(held, layout, point, settings.temperature)


def _fit_with_early_stopping(observed: Observations, layout: Layout, settings: Settings) -> Floats:
    """Fit without priors, and return the step that predicts held-out questions best."""
    start = starting_point(layout, settings.seed)
    if settings.patience is None or len(observed.labels) < _LEAST:
        return _fit(observed, layout, settings, 0.0, start, _FINE)
    kept, held = _split_held_out(observed, settings.seed)
    watch = _Watch(held, layout, settings.temperature, settings.patience)
    objective = objective_of(kept, layout, settings.priors(0.0), settings.temperature)
    minimise(objective, start, iterations=_ITERATIONS, stop=watch)
    return start if watch.best is None else watch.best


class _Watch:
    """Remembers the step that predicts held-out questions best, and says when none better came for a while."""

    def __init__(self, held: Observations, layout: Layout, temperature: float, patience: int) -> None:
        self._held, self._layout, self._temperature, self._patience = held, layout, temperature, patience
        self._lowest, self._waited = np.inf, 0
        self.best: Floats | None = None

    def __call__(self, point: Floats) -> bool:
        loss = _validation_loss(self._held, self._layout, point, self._temperature)
        if loss < self._lowest:
            self._lowest, self._waited, self.best = loss, 0, point.copy()
        else:
            self._waited += 1
        return self._waited >= self._patience


def _validation_loss(held: Observations, layout: Layout, point: Floats, temperature: float) -> float:
    return float(_sum_losses_at(held, layout, point, temperature).sum() / held.seen.sum())


def _sum_losses_at(held: Observations, layout: Layout, point: Floats, temperature: float) -> Floats:
    """Return (n,) the log-losses of each question's responses, summed."""
    skills, weights, bias, content = layout.split(point)
    relevances = relevance(held.features, weights, bias, temperature)
    logits = relevances @ skills.T - (relevances * (held.features @ content.T)).sum(axis=1, keepdims=True)
    return np.asarray((held.seen * cross_entropy(logits, held.labels)).sum(axis=1))


def _split_held_out(observed: Observations, seed: int) -> tuple[Observations, Observations]:
    """Deal questions to those that are fitted and those that are held out."""
    out = np.random.default_rng(seed).permutation(len(observed.labels)) % _HELD_OUT == 0
    return observed.of(~out), observed.of(out)


def _project_on_span(features: Floats) -> tuple[Floats, Floats]:
    """Return coordinates (n, r) of the features in a basis (r, d) of what they span.

    The priors look alike in every direction, so that no weight leaves that space: with fewer questions than features it is
    smaller, and the fit the same.
    """
    n, d = features.shape
    if n >= d:
        return features, np.eye(d)
    left, sizes, basis = np.linalg.svd(features, full_matrices=False)
    return left * sizes, basis


def _scale(features: Floats) -> float:
    """Return the root mean square distance of features from their mean, so that priors mean the same for any encoder."""
    spread = float(np.sqrt(features.var(axis=0).sum()))
    return spread if spread > 0 else 1.0


def _parameters(
    agents: tuple[str, ...], layout: Layout, point: Floats, centre: Floats, basis: Floats, temperature: float, priors: Priors
) -> Parameters:
    """Express what was fitted to coordinates of the centred features in a basis in terms of the features as they come."""
    skills, weights, bias, content = layout.split(point)
    w_r, w_d = weights @ basis, content @ basis
    m = layout.dimensions
    return Parameters(
        agents=agents,
        skills=skills.copy(),
        relevance_weights=w_r,
        relevance_bias=bias - w_r @ centre,
        difficulty_weights=w_d,
        difficulty_mean=w_d @ centre,
        temperature=temperature,
        covariances=np.full((len(agents), m, m), np.nan),
        prior_mean=skills.mean(axis=0),
        prior_precision=_precision_of_new_agent(skills, priors),
    )


def _precision_of_new_agent(skills: Floats, priors: Priors) -> Floats:
    """Return how close to the mean a new agent is expected: as close as those that are there, with some room where few are."""
    a, m = skills.shape
    spread = (skills - skills.mean(axis=0)).T @ (skills - skills.mean(axis=0)) + np.eye(m)  # as if one more agent of variance 1
    precision = np.linalg.inv(spread / max(a, 1))
    return np.asarray(precision + priors.skill_apart * (np.eye(m) - 1 / m))
