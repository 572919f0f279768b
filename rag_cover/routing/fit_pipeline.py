"""Skills learnt from outcomes: the model, the record kept beside it, and an adjustment by complexity where that helps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Embedder, Failure, Scorer, fingerprint_of
from rag_cover.complexity import Complexity, complexities_of
from rag_cover.errors import InputError
from rag_cover.routing.caimira import Caimira
from rag_cover.routing.complexity_adjustment import Adjustment, AdjustmentFit, complexity_evidence, fit_adjustment
from rag_cover.routing.features import encode
from rag_cover.routing.irt import cross_entropy
from rag_cover.routing.responses import Responses
from rag_cover.routing.skill_report import HeldOut, SkillRecord
from rag_cover.routing.training_data import Outcomes
from rag_cover.stats.classification import area_under_roc
from rag_cover.stats.folds import folds_of
from rag_cover.stats.intervals import Interval, jackknife
from rag_cover.stats.logistic import logits_of

__all__ = ["complexities_without_references", "learn_skills"]

Floats = NDArray[np.float64]

CHOICES = (1, 2, 3, 5)
"""Dimensions that are tried where none are named."""
_LEAST = 20
_EDGE = 1e-6  # a probability nearer to 0 or 1 has no logit


def learn_skills(
    outcomes: Outcomes,
    embedder: Embedder,
    *,
    dimensions: int | None = None,
    complexities: Sequence[Complexity | None] = (),
    folds: int = 5,
    seed: int = 0,
) -> tuple[Caimira, SkillRecord]:
    """Fit skills to outcomes, and judge them on questions that were held out.

    Args:
        outcomes: what `gather_outcomes` found.
        embedder: reads the questions; routing needs the same one.
        dimensions: of the model; None: the fewest of 1, 2, 3 and 5 whose cross-validated log-loss is within one standard error
            of the best.
        complexities: of the questions, in their order, judged without references as a router judges them; none: no adjustment.
        folds: of the cross-validation, by question.
        seed: seed of the random generator (fit and folds).

    Raises:
        InputError: fewer than twenty questions.
        InvalidValueError: what `Caimira.fit` refuses.
    """
    responses = outcomes.responses
    if len(responses.questions) < _LEAST:
        found = len(responses.questions)
        problem = f"skills need outcomes of {_LEAST} questions at least, not {found}; evaluate the pipelines on more"
        raise InputError(problem)
    features = np.asarray(encode(responses.questions, embedder), dtype=np.float64)

    def fitter(m: int) -> Callable[[Responses, Floats], Caimira]:
        return lambda some, rows: Caimira(dimensions=m, seed=seed).fit(some, rows, encoder=fingerprint_of(embedder))

    tried = CHOICES if dimensions is None else (dimensions,)
    held_out = {m: _cross_validate(responses, features, fitter(m), folds, seed) for m in tried}
    chosen, choice = _choose_dimensions(responses, held_out)
    model, predicted = fitter(chosen)(responses, features), held_out[chosen]
    adjustment, notes = _adjustment(responses, predicted, complexities, seed)
    record = SkillRecord(
        criterion=outcomes.criterion,
        responses=responses,
        relevance=model.relevance(features),
        difficulty=model.difficulty(features),
        predicted=predicted,
        held_out=_score_held_out(responses, predicted, folds, seed),
        adjustment=adjustment,
        notes=(*outcomes.notes, *choice, *notes),
    )
    return model, record


def complexities_without_references(outcomes: Outcomes, scorer: Scorer | None) -> list[Complexity | None]:
    """Return how complex each question is for what was retrieved for it, judged without references, as a router must.

    What was measured so already is taken as it is; the rest is asked of the scorer, where there is one, else it is None.
    """
    known = [each.complexity if each else None for each in outcomes.retrieved] or [None] * len(outcomes.responses.questions)
    found = [complexity if complexity and complexity.references == "none" else None for complexity in known]
    asked = [
        (place, each)
        for place, (each, complexity) in enumerate(zip(outcomes.retrieved, found, strict=False))
        if each is not None and complexity is None
    ]
    if scorer is not None and asked:
        judged = complexities_of([(each.question.text, each.passages, ()) for _, each in asked], scorer)
        for (place, _), complexity in zip(asked, judged, strict=True):
            found[place] = None if isinstance(complexity, Failure) else complexity
    return found


def _choose_dimensions(responses: Responses, held_out: Mapping[int, Floats]) -> tuple[int, tuple[str, ...]]:
    """Choose the fewest dimensions within one standard error of the best (Hastie et al. 2009, section 7.10), and say why."""
    if len(held_out) == 1:
        return next(iter(held_out)), ()
    losses = {m: _losses_by_question(responses, predicted) for m, predicted in held_out.items()}
    means = {m: float(loss.mean()) for m, loss in losses.items()}
    best = min(means, key=means.__getitem__)
    chosen = min(
        m for m, loss in losses.items() if means[m] - means[best] <= (loss - losses[best]).std() / math.sqrt(len(loss))
    )
    told = ", ".join(f"{m}: {mean:.4f}" for m, mean in means.items())
    return chosen, (
        f"Dimensions chosen by held-out log-loss, the fewest within one standard error of the best: {chosen} ({told}).",
    )


def _losses_by_question(responses: Responses, predicted: Floats) -> Floats:
    """Return (n,) mean log-losses of the questions that have responses, in nats."""
    counts = (~np.isnan(responses.values)).sum(axis=1)
    return np.asarray((_sum_losses(responses, predicted) / np.maximum(counts, 1))[counts > 0])


def _sum_losses(responses: Responses, predicted: Floats) -> Floats:
    """Return (n,) log-losses, summed over the responses of each question, in nats."""
    losses = cross_entropy(logits_of(predicted, edge=_EDGE), np.nan_to_num(responses.values))
    return np.asarray(np.where(np.isnan(responses.values), 0, losses).sum(axis=1))


def _cross_validate(
    responses: Responses, features: Floats, fit: Callable[[Responses, Floats], Caimira], folds: int, seed: int
) -> Floats:
    """Predict each question by a model fitted without it; an agent without other responses as the others on average."""
    predicted = np.zeros_like(responses.values)
    for held in folds_of(range(len(features)), folds, seed=seed):
        known = np.asarray(~np.isnan(responses.values[~held]).all(axis=0))
        names = [agent for agent, there in zip(responses.agents, known, strict=True) if there]
        predictions = fit(responses.of_questions(~held).of_agents(names), features[~held]).predict(features[held])
        rows = np.repeat(predictions.mean(axis=1, keepdims=True), len(known), axis=1)
        rows[:, known] = predictions
        predicted[held] = rows
    return predicted


def _score_held_out(responses: Responses, predicted: Floats, folds: int, seed: int) -> HeldOut:
    values, seen = responses.values, ~np.isnan(responses.values)
    means = np.zeros_like(predicted)
    for held in folds_of(range(len(values)), folds, seed=seed):
        right, counts = np.nansum(values[~held], axis=0), seen[~held].sum(axis=0)
        means[held] = (right + 1) / (counts + 2)  # Laplace's rule, so that no agent is certain
    losses = [_sum_losses(responses, said) for said in (means, predicted)]
    rows = np.column_stack([*losses, seen.sum(axis=1)])
    totals = rows.sum(axis=0) / rows[:, 2].sum()
    gain = jackknife(rows, lambda sums: (sums[..., 0] - sums[..., 1]) / sums[..., 2])
    questions, _ = np.nonzero(seen)
    return HeldOut(
        log_loss=float(totals[1]),
        agent_means_log_loss=float(totals[0]),
        gain=gain or Interval(float(totals[0] - totals[1]), None, None, len(rows)),
        area=area_under_roc(predicted[seen], values[seen] >= 0.5, questions.tolist()),  # noqa: PLR2004 - more right than wrong
    )


def _adjustment(
    responses: Responses, predicted: Floats, complexities: Sequence[Complexity | None], seed: int
) -> tuple[Adjustment | None, tuple[str, ...]]:
    known = sum(complexity is not None for complexity in complexities)
    if known < 30:  # noqa: PLR2004 - what `fit_adjustment` asks for
        words = f"No adjustment by complexity: {known} questions have one that was judged without references, and it takes 30."
        return None, (words,)
    fit = fit_adjustment(
        logits_of(predicted, edge=_EDGE), responses.values, complexity_evidence(complexities), responses.agents, seed=seed
    )
    return (fit.adjustment if fit.helps else None), (_adjustment_words(fit),)


def _adjustment_words(fit: AdjustmentFit) -> str:
    gain = fit.gain
    bounds = "" if gain.lower is None or gain.upper is None else f" (95% interval {gain.lower:+.4f} to {gain.upper:+.4f})"
    kept = "kept" if fit.helps else "left out, since that is no clear gain"
    return (
        f"Adjustment by complexity {kept}: held-out log-loss {fit.with_evidence:.4f} with it and {fit.without:.4f} without, "
        f"a gain of {gain.estimate:+.4f}{bounds} over {fit.questions:,} questions."
    )
