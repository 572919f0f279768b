"""How a judge's word about a candidate becomes a probability, and from which one a candidate is kept.

P(a passage's entity belongs to an atom) is a logistic regression on what the scorer says of a pair and the words it shares
(`FEATURES`): a text that mentions or denies a thing answers questions about it all the same. The threshold is the one of the
grid with the best mean F1 on validation queries (QUEST; Malaviya et al., ACL 2023, §4: keep iff p > t). Both hold for one
judge, which is known by its fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_outside
from rag_cover.backends import numbers_for
from rag_cover.errors import InvalidValueError
from rag_cover.setqueries.features import word_features
from rag_cover.setqueries.memberships import COMBINATIONS, Combination
from rag_cover.stats.calibrations import read_calibration, read_shipped_numbers
from rag_cover.stats.logistic import PROBABILITY_EDGE, logits_of, probabilities_of

__all__ = [
    "FEATURES",
    "NUMBERS",
    "MembershipCalibration",
    "load_membership_calibrations",
    "membership_calibration_for",
    "membership_features",
]

Floats = NDArray[np.float64]

NUMBERS = Path(__file__).with_name("memberships.json")
FEATURES = (
    "log-odds of the scorer's probability, those above 0 as far as the text does not deny",
    "share of the predicate's words in the sentence with most of them",
    "whether only clauses with a denial have one of these",
    "share of the predicate's proper names that the text lacks",
)


@dataclass(frozen=True, slots=True)
class MembershipCalibration:
    """What makes memberships of a judge's probabilities: nothing unless fitted.

    Args:
        threshold: a candidate is kept if its probability is above this.
        combination: how the probabilities of a query's atoms are combined.
        weights: the intercept, then one for each of `FEATURES`; empty: the scorer's probability is taken as it is.
        name: what it was fitted on; empty: on nothing.
        n: on how many queries.
    """

    threshold: float = 0.5
    combination: Combination = "product"
    weights: tuple[float, ...] = ()
    name: str = ""
    n: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be calibrated by."""
        refuse_threshold(self.threshold)
        if self.combination not in COMBINATIONS or len(self.weights) not in (0, 1 + len(FEATURES)):
            message = f"a calibration has {1 + len(FEATURES)} weights or none, and one of the combinations "
            raise InvalidValueError(message + ", ".join(COMBINATIONS))

    def memberships(self, features: Floats) -> Floats:
        """Return (n,) P(belongs) of (n, `FEATURES`)."""
        return probabilities_of(self.weights, features)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote.

        Raises:
            InputError: it is nothing that `to_dict` writes.
        """
        return read_calibration(cls, data, name="calibration of set queries")


def membership_features(probabilities: Sequence[float], pairs: Sequence[tuple[str, str]]) -> Floats:
    """Return (n, `FEATURES`) of (predicate, text) pairs and what the scorer says of them."""
    words = np.array([word_features(predicate, text) for predicate, text in pairs]).reshape(-1, 3)
    logits = logits_of(probabilities, edge=PROBABILITY_EDGE)
    return np.column_stack([np.where(logits > 0, logits * (1 - words[:, 1]), logits), words])


def membership_calibration_for(fingerprint: str) -> MembershipCalibration | None:
    """Return what was fitted for a judge, known by its fingerprint; None for one that nothing was fitted for."""
    return numbers_for(fingerprint, load_membership_calibrations())


@cache
def load_membership_calibrations() -> Mapping[str, MembershipCalibration]:
    """Read the shipped calibrations, by the judge's fingerprint."""
    return {fingerprint: MembershipCalibration.from_dict(each) for fingerprint, each in read_shipped_numbers(NUMBERS).items()}


def refuse_threshold(threshold: float) -> None:
    """Refuse a threshold that no probability of membership, or none but 1, could exceed.

    Raises:
        InvalidValueError: it is no number in [0, 1).
    """
    refuse_outside(0, 1, threshold=threshold)
    if threshold == 1:
        message = "threshold is 1, and a candidate is kept above it; give a number below 1"
        raise InvalidValueError(message)
