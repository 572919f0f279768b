"""One mode of a judge fitted to labels, and held against the judge as it was on questions that had no part in the fit.

Weights move from the judge's own (`rag_cover.stats.shrunken_fit`), each kind of text by itself. Every label is judged by
weights that were fitted to four fifths of the questions, without its own (cross-fitting: Stone, 1974), in several ways to deal
the questions; losses and verdicts are averaged over these. A fit counts only where it is clearly better than the judge as it
was, in log-loss or in agreement, clearly worse in neither, and clearly better than always saying the share covered: labels
that have nothing to do with the texts would be fitted by believing nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import CalibrationShift, Mode
from rag_cover.judge_fit.result import Change, ModeFit
from rag_cover.score_fits import FittedMode, ScoreFeatures
from rag_cover.stats.certainty import fit_certain_cuts
from rag_cover.stats.classification import by_cluster
from rag_cover.stats.folds import folds_of
from rag_cover.stats.intervals import Interval, jackknife
from rag_cover.stats.judge_error import estimate_shift
from rag_cover.stats.logistic import cross_entropy, probabilities, recentre
from rag_cover.stats.shrunken_fit import fit_from
from rag_cover.stats.thresholds import best_cut, cross_fitted

__all__ = ["LEAST_LABELS", "LEAST_OF_EACH", "LEAST_QUESTIONS", "LabelledFeatures", "fit_mode"]

Floats = NDArray[np.float64]
Weights = Mapping[str, tuple[float, ...]]

LEAST_LABELS = 100
"""The labels of a mode from which it is fitted."""
LEAST_QUESTIONS = 20
"""And the questions these must be of: labels of one question are much alike."""
LEAST_OF_EACH = 15
"""And the labels that must say covered, and not covered."""
_LEAST_OF_KIND, _LEAST_OF_EACH_OF_KIND = 30, 5  # labels of a kind of text; of fewer, its weights stay as they were
_DEALS = 4
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class LabelledFeatures:
    """A label, what the probability of its text is made of, and the question that it is of."""

    features: ScoreFeatures
    label: bool
    question: Hashable


@dataclass(frozen=True, slots=True)
class _Held:
    """Of every label, from fits to other questions: mean probability, log-loss, and that of the share covered alone (n,)."""

    probability: Floats
    loss: Floats
    constant_loss: Floats


def fit_mode(mode: Mode, rows: Sequence[LabelledFeatures], known: Weights, *, cut: float, seed: int = 0) -> ModeFit:
    """Fit the weights, the cut and the certain cuts of a mode to labels, and refuse what is not clearly better."""
    covered, questions = sum(row.label for row in rows), [row.question for row in rows]
    counted = (mode, len(rows), covered, len(set(questions)))
    if reason := _too_few(len(rows), covered, len(set(questions))):
        return ModeFit(*counted, refused_because=reason)
    labels = np.array([row.label for row in rows], dtype=np.float64)
    own = _logits(rows, known)
    held = _hold_out(rows, labels, known, seed)
    chosen = _choose_cut(held.probability, labels, questions, cut, seed)
    right = ((held.probability >= chosen) == labels).astype(np.float64)
    was_right = ((probabilities(own) >= cut) == labels).astype(np.float64)
    own_loss = cross_entropy(own, labels)
    log_loss = Change(float(own_loss.mean()), float(held.loss.mean()), _mean(own_loss - held.loss, questions))
    accuracy = Change(float(was_right.mean()), float(right.mean()), _mean(right - was_right, questions))
    over_constant = _mean(held.constant_loss - held.loss, questions)
    weights = _fit(rows, labels, known)
    reason = _refuse(log_loss, accuracy, over_constant, weights)
    fitted = None if reason else _make_fit(weights, held, labels, questions, chosen)
    return ModeFit(*counted, log_loss, accuracy, over_constant, fitted, reason)


def _too_few(labels: int, covered: int, questions: int) -> str | None:
    if labels < LEAST_LABELS:
        return f"{_count(labels, 'label')}; a fit needs {LEAST_LABELS}"
    if questions < LEAST_QUESTIONS:
        return f"labels of {_count(questions, 'question')}; a fit needs {LEAST_QUESTIONS}"
    if (fewer := min(covered, labels - covered)) < LEAST_OF_EACH:
        rare = "covered" if covered < labels - covered else "not covered"
        return f"{fewer} of {labels} labels say {rare}; a fit needs {LEAST_OF_EACH} of each kind"
    return None


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _refuse(log_loss: Change, accuracy: Change, over_constant: Interval, weights: Weights) -> str | None:
    if any(each[0] <= 0 for each in weights.values()):
        return "the labels say the opposite of what the judge reads; check that 1 means covered"
    if over_constant.lower is None or over_constant.lower <= 0:
        return "always saying the share covered does as well: the labels hardly depend on the texts; check the labels"
    if accuracy.is_worse or log_loss.is_worse:
        return f"the fit is worse than the judge as it is ({_tell(log_loss, accuracy)})"
    if not accuracy.is_better and not log_loss.is_better:
        return f"the fit is not clearly better than the judge as it is ({_tell(log_loss, accuracy)}); keep the judge"
    return None


def _tell(log_loss: Change, accuracy: Change) -> str:
    return f"gain in log-loss {_bounds(log_loss.gain, '.3f')}, in agreement {_bounds(accuracy.gain, '.2f')}"


def _bounds(gain: Interval, digits: str) -> str:
    if gain.lower is None or gain.upper is None:
        return f"{gain.estimate:+{digits}}"
    return f"{gain.estimate:+{digits}}, 95% interval {gain.lower:+{digits}} to {gain.upper:+{digits}}"


def _logits(rows: Sequence[LabelledFeatures], weights: Weights) -> Floats:
    return np.array([float(np.dot(weights[row.features.kind], row.features.values)) for row in rows])


def _fit(rows: Sequence[LabelledFeatures], labels: Floats, known: Weights) -> dict[str, tuple[float, ...]]:
    """Fit the weights of every kind of text that has labels enough."""
    kinds = np.array([row.features.kind for row in rows])
    fitted = {}
    for kind in dict.fromkeys(kinds.tolist()):
        mine = kinds == kind
        of_each = min(labels[mine].sum(), (1 - labels[mine]).sum())
        if mine.sum() >= _LEAST_OF_KIND and of_each >= _LEAST_OF_EACH_OF_KIND:
            features = [row.features.values for row, chosen in zip(rows, mine, strict=True) if chosen]
            found = fit_from(known[kind], features, labels[mine])
            fitted[kind] = tuple(round(each, _DIGITS) for each in found)
    return fitted


def _hold_out(rows: Sequence[LabelledFeatures], labels: Floats, known: Weights, seed: int) -> _Held:
    questions = [row.question for row in rows]
    probability, loss, constant = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
    for deal in range(_DEALS):
        for held in folds_of(questions, seed=seed + deal):
            others = [row for row, is_held in zip(rows, held, strict=True) if not is_held]
            weights = {**known, **_fit(others, labels[~held], known)}
            logits = _logits([row for row, is_held in zip(rows, held, strict=True) if is_held], weights)
            share = (labels[~held].sum() + 0.5) / (len(others) + 1)
            probability[held] += probabilities(logits) / _DEALS
            loss[held] += cross_entropy(logits, labels[held]) / _DEALS
            constant[held] += cross_entropy(np.full(held.sum(), np.log(share / (1 - share))), labels[held]) / _DEALS
    return _Held(probability, loss, constant)


def _choose_cut(judged: Floats, labels: Floats, questions: Sequence[Hashable], cut: float, seed: int) -> float:
    """Return a cut fitted to the labels where cuts fitted to other questions are clearly better than the judge's, else that."""
    said = cross_fitted(judged, labels.astype(bool), questions, seed=seed)
    if said is None:
        return cut
    gain = _mean((said * labels + (1 - said) * (1 - labels)) - ((judged >= cut) == labels), questions)
    if gain.lower is None or gain.lower <= 0:
        return cut
    return round(best_cut(judged, labels.astype(bool)), _DIGITS)


def _make_fit(weights: Weights, held: _Held, labels: Floats, questions: Sequence[Hashable], cut: float) -> FittedMode:
    low, high = fit_certain_cuts(held.probability, labels, cut=cut)
    return FittedMode(weights, cut, (round(low, 4), round(high, 4)), _shift(held.probability, labels, questions, cut))


def _shift(judged: Floats, labels: Floats, questions: Sequence[Hashable], cut: float) -> CalibrationShift:
    """Return how far probabilities of other questions lie off, with a spread that holds that labels of a question are alike."""
    centred = np.array([recentre(float(each), cut=cut) for each in judged])
    shift, variance = estimate_shift(centred, labels)
    totals = by_cluster((labels - centred)[:, None], questions)
    spread = max(variance, float((totals**2).sum()) * variance**2) ** 0.5
    return CalibrationShift(shift, spread, 1, len(labels), int(((judged >= cut) == labels).sum()))


def _mean(values: Floats, questions: Sequence[Hashable]) -> Interval:
    """Return a mean with its interval over questions; there are at least two."""
    rows = by_cluster(np.stack([values, np.ones_like(values)], axis=1), questions)
    found = jackknife(rows, lambda sums: sums[..., 0] / sums[..., 1])
    return Interval(float(values.mean()), None, None, len(rows)) if found is None else found
