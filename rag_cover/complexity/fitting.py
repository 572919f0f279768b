"""Thresholds fitted on labelled questions, and how well they do on others.

Each fold of the questions, whole groups at a time, is judged by what was fitted on the others, the choice among readings and
temperatures included, so that the figures hold for questions that are not among the labelled ones (Stone, 1974). What is
returned is fitted on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rag_cover.complexity.calibration import Calibration, complexity_features
from rag_cover.complexity.choices import CompletenessMethod, Constraints
from rag_cover.complexity.completeness import READINGS, UNPEAKED, completeness_of
from rag_cover.complexity.rrcp import Evidential
from rag_cover.complexity.thresholds import best_thresholds
from rag_cover.errors import InvalidValueError
from rag_cover.stats.folds import folds_of
from rag_cover.stats.intervals import Interval, jackknife_share
from rag_cover.stats.logistic import fit_weights

__all__ = ["LEAST", "TEMPERATURES", "CalibrationResult", "Labelled", "calibrate"]

Floats = NDArray[np.float64]
Truth = NDArray[np.bool_]

LEAST = 20
"""Complex questions, and simple ones, that a calibration needs at least."""

TEMPERATURES: tuple[float | None, ...] = (None, 1.0, 0.5, 0.2, 0.1, 0.05)
"""Of the softmax that peaks relevance, as far as they are tried; None leaves relevance as it is."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question's evidence (a `Complexity` will do), whether it is complex, and what it is to be kept together with.

    Questions that share a ``group``, such as a question and its own sub-questions, are never judged by one another.
    """

    evidence: Evidential
    is_complex: bool
    group: str


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """A calibration, its accuracy and the F1 of complex questions on questions it was not fitted on, and what to mind.

    ``majority`` is the accuracy of always saying what most questions are.
    """

    calibration: Calibration
    accuracy: Interval | None
    f1: Interval | None
    majority: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Setting:
    reading: CompletenessMethod
    temperature: float | None


@dataclass(frozen=True, slots=True)
class _Measured:
    """Labelled questions in numbers: highest answer probabilities, completeness by setting, truth, and the group of each."""

    answers: Floats
    completeness: Mapping[_Setting, Floats]
    truth: Truth
    groups: NDArray[np.intp]

    def where(self, kept: Truth) -> _Measured:
        completeness = {setting: values[kept] for setting, values in self.completeness.items()}
        return _Measured(self.answers[kept], completeness, self.truth[kept], self.groups[kept])

    def fit(self, constraints: Constraints) -> Calibration:
        """Fit the thresholds under every setting, and keep the best; the first of equally good ones."""
        found = {
            setting: best_thresholds(self.answers, values, self.truth, constraints)
            for setting, values in self.completeness.items()
        }
        setting = max(found, key=lambda each: found[each].f1)
        features = [
            complexity_features(*each, constraints) for each in zip(self.answers, self.completeness[setting], strict=True)
        ]
        return Calibration(
            t_ans=found[setting].t_ans,
            t_com=found[setting].t_com,
            reading=setting.reading,
            temperature=setting.temperature,
            constraints=constraints,
            weights=tuple(map(float, fit_weights(features, self.truth))),
            n=len(self.truth),
        )

    def classify(self, calibration: Calibration) -> Truth:
        """Return (n,) which questions a calibration calls complex."""
        unanswered = self.answers < calibration.t_ans
        complete = self.completeness[_Setting(calibration.reading, calibration.temperature)] >= calibration.t_com
        match calibration.constraints:
            case "both":
                return unanswered & complete
            case "answerability":
                return unanswered
            case "completeness":
                return complete


def calibrate(
    labelled: Sequence[Labelled],
    *,
    constraints: Constraints = "both",
    readings: Sequence[CompletenessMethod] = ("token-entropy",),
    temperatures: Sequence[float | None] = TEMPERATURES,
    folds: int = 5,
    seed: int = 0,
    name: str = "",
) -> CalibrationResult:
    """Fit thresholds, and with several readings or temperatures the choice among them, to the highest F1 of complex questions.

    Args:
        labelled: questions with evidence, all asked in the same way (`Evidential.references`, `Evidential.twofold`).
        constraints: which of the two decide; one alone shows what it is worth.
        readings: those to choose among; ``joint`` and ``covered`` are read from relevance as it is.
        temperatures: those to choose among.
        folds: of the cross-validation.
        seed: seed of the random generator (folds).
        name: what the questions are, for the calibration's name.

    Raises:
        InvalidValueError: fewer than 20 complex or simple questions, or fewer groups than folds; evidence asked in different
            ways; no relevance where completeness decides; an unknown reading.
    """
    _refuse_too_few(labelled, folds)
    _refuse_mixed(labelled, constraints)
    measured = _measure(labelled, _settings(constraints, readings, temperatures))
    is_complex = np.zeros(len(labelled), dtype=bool)
    for held_out in folds_of(measured.groups.tolist(), folds, seed=seed):
        is_complex[held_out] = measured.where(held_out).classify(measured.where(~held_out).fit(constraints))
    fitted = measured.fit(constraints)
    first = labelled[0].evidence
    name = name or f"{len(labelled)} labelled questions"
    sums = _sums(is_complex, measured)
    return CalibrationResult(
        calibration=replace(fitted, name=name, references=first.references, twofold=first.twofold),
        accuracy=jackknife_share(sums, lambda s: (s[..., 0] + s[..., 3]) / s.sum(axis=-1)),
        f1=jackknife_share(sums, _f1),
        majority=float(max(measured.truth.mean(), 1 - measured.truth.mean())),
        warnings=_warnings(measured, fitted),
    )


def _settings(
    constraints: Constraints, readings: Sequence[CompletenessMethod], temperatures: Sequence[float | None]
) -> list[_Setting]:
    if unknown := [reading for reading in readings if reading not in READINGS]:
        message = f"{unknown[0]!r} is no reading of completeness; there are {', '.join(READINGS)}"
        raise InvalidValueError(message)
    if not readings or not temperatures:
        message = "there is nothing to choose among; name at least one reading and one temperature (None: no softmax)"
        raise InvalidValueError(message)
    if constraints == "answerability":
        return [_Setting(readings[0], None)]
    pairs = product(readings, temperatures)
    return list(dict.fromkeys(_Setting(each, None if each in UNPEAKED else temperature) for each, temperature in pairs))


def _measure(labelled: Sequence[Labelled], settings: Sequence[_Setting]) -> _Measured:
    evidence = [each.evidence for each in labelled]
    numbers: dict[str, int] = {}
    return _Measured(
        answers=np.array([max(each.answer_probabilities, default=0.0) for each in evidence]),
        completeness={setting: np.array([_completeness(each, setting) for each in evidence]) for setting in settings},
        truth=np.array([each.is_complex for each in labelled]),
        groups=np.array([numbers.setdefault(each.group, len(numbers)) for each in labelled]),
    )


def _completeness(evidence: Evidential, setting: _Setting) -> float:
    if evidence.relevance is None:
        return 1.0  # never read: without relevance only answerability is calibrated
    documents = len(evidence.answer_probabilities)
    return completeness_of(evidence.relevance, documents=documents, reading=setting.reading, temperature=setting.temperature)


def _sums(said: Truth, measured: _Measured) -> Floats:
    """Count, for each group, the questions called complex rightly and wrongly, and called simple wrongly and rightly."""
    truth = measured.truth
    cells = (said & truth, said & ~truth, ~said & truth, ~said & ~truth)
    return np.stack([np.bincount(measured.groups, weights=cell) for cell in cells], axis=1)


def _f1(sums: Floats) -> Floats:
    whole = 2 * sums[..., 0] + sums[..., 1] + sums[..., 2]
    shares: Floats = np.divide(2 * sums[..., 0], whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return shares


def _warnings(measured: _Measured, fitted: Calibration) -> tuple[str, ...]:
    if fitted.constraints == "answerability":
        return ()
    values = measured.completeness[_Setting(fitted.reading, fitted.temperature)]
    if np.ptp(values) < 1e-9:  # noqa: PLR2004  # rounding
        return (f"completeness is {values[0]:.3f} for all {len(values)} questions; it cannot tell them apart",)
    if (values >= fitted.t_com).all():
        return (f"completeness decides nothing: all {len(values)} questions are complete at t_com = {fitted.t_com:.3f}",)
    return ()


def _refuse_too_few(labelled: Sequence[Labelled], folds: int) -> None:
    complex_ones = sum(each.is_complex for each in labelled)
    simple_ones = len(labelled) - complex_ones
    if min(complex_ones, simple_ones) < LEAST:
        message = (
            f"{complex_ones} complex and {simple_ones} simple questions are too few to fit thresholds on; label at least"
            f" {LEAST} of either kind"
        )
        raise InvalidValueError(message)
    groups = len({each.group for each in labelled})
    if not 2 <= folds <= groups:  # noqa: PLR2004  # one to fit on and one to judge
        message = f"{groups} groups cannot be split into {folds} folds; folds is at least 2 and at most the number of groups"
        raise InvalidValueError(message)


def _refuse_mixed(labelled: Sequence[Labelled], constraints: Constraints) -> None:
    found = [each.evidence for each in labelled if each.evidence.answer_probabilities]
    ways = {(each.references, each.twofold) for each in found}
    if len(ways) > 1:
        message = "questions judged with references and without, or asked once and twofold, have no thresholds in common"
        raise InvalidValueError(message)
    untold = sum(each.relevance is None for each in found)
    if untold and constraints != "answerability":
        message = (
            f"{untold} of {len(found)} questions have no relevance to read completeness from; name a relevance model, or"
            " calibrate answerability alone"
        )
        raise InvalidValueError(message)
