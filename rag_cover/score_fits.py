"""What a judge's probabilities are made of, and what fitting them to labels gives: the values that cross the seam.

A judge whose probability is a logistic function of features of its own (`FittableScorer`) can be fitted to people's labels
without training its network: `rag_cover.judge_fit` fits the weights, the judge keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from rag_cover.backends import CalibrationShift, Mode, ScoringItem

__all__ = ["JUDGE_NAME", "FittableScorer", "FittedMode", "SavedJudge", "ScoreFeatures"]

JUDGE_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
"""What a fitted judge may be called: letters, digits, ``.``, ``-`` and ``_``, at most 64, as a folder can."""


@dataclass(frozen=True, slots=True)
class ScoreFeatures:
    """What the probability of a text is made of: P(it answers) = sigmoid(weights of its ``kind`` · ``values``).

    The first value is the network's logit, the last is 1.
    """

    kind: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FittedMode:
    """What was fitted to the labels of one mode.

    ``weights`` are those of the kinds of text that had labels enough, ``cut`` the probability from which a text covers,
    ``certain`` the two between which a verdict is unsure, ``shift`` how far the probabilities lie off on texts that had no part
    in a fit.
    """

    weights: Mapping[str, tuple[float, ...]]
    cut: float
    certain: tuple[float, float]
    shift: CalibrationShift


@dataclass(frozen=True, slots=True)
class SavedJudge:
    """A fitted judge that was kept: what it is opened by (``embedded:mine``), its folder, and its fingerprint."""

    name: str
    folder: Path
    fingerprint: str


@runtime_checkable
class FittableScorer(Protocol):
    """A Scorer whose probabilities can be fitted to labels (without references)."""

    @property
    def score_weights(self) -> Mapping[str, tuple[float, ...]]:
        """Return the weights of every kind of text."""
        ...

    @property
    def certain(self) -> Mapping[Mode, tuple[float, float]]:
        """Return the cuts of each mode between which a verdict is unsure."""
        ...

    def score_features(self, items: Sequence[ScoringItem]) -> list[ScoreFeatures | None]:
        """Return what the probability of each text is made of, None where it is made of something else."""
        ...

    def fitted_folder(self, place: str | Path) -> Path:
        """Return the folder of a fitted judge: a path as it is, a name in the folder of named judges.

        Raises:
            InvalidValueError: a name that no folder can have.
        """
        ...

    def save_fitted(self, place: str | Path, modes: Mapping[Mode, FittedMode], *, overwrite: bool = False) -> SavedJudge:
        """Keep this judge with what was fitted, under a name or in a folder.

        Raises:
            OutputExistsError: there is one already, which is not to be written over.
            StoreError: it cannot be written.
        """
        ...
