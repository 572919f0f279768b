"""In which order passages add most to what is covered: greedy marginal gains of expected coverage.

With P(i covers j) from a judge, and passages taken as covering independently of each other, a set S covers sub-question j with
probability 1 - Π_{i ∈ S} (1 - P(i covers j)), and f(S) is the sum of that over the sub-questions. f is monotone and submodular,
as is f(S) plus a prior worth of each passage: the k passages that are taken one after the other, each for its largest gain, are
worth at least 1 - 1/e of what the best k are (Nemhauser, Wolsey & Fisher, 1978). Pure: numbers in, places out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_below, without_none
from rag_cover.errors import InvalidValueError

__all__ = ["Pick", "coverage_probabilities", "greedy_marginal_coverage", "reciprocal_ranks"]


@dataclass(frozen=True, slots=True)
class Pick:
    """A passage's place, and what it adds to the expected number of covered sub-questions beside those before it, ≥ 0.

    ``worth`` is that and its prior: what it was taken for, never more than that of the one before.
    """

    place: int
    gain: float
    worth: float


def greedy_marginal_coverage(probabilities: NDArray[np.float64], prior: Sequence[float], *, k: int | None = None) -> list[Pick]:
    """Return the k passages that are taken, in the order in which they are: by gain plus prior, of equal ones the earlier.

    The second passage of three answers nothing that the first leaves open:

    >>> picked = greedy_marginal_coverage(np.array([[1.0, 0.75, 0.0], [0.0, 0.0, 0.5]]), [0.0, 0.0, 0.0])
    >>> [(pick.place, round(pick.gain, 6)) for pick in picked]
    [(0, 1.0), (2, 0.5), (1, 0.0)]

    Args:
        probabilities: (sub-questions, passages) P(covers), in [0, 1].
        prior: (passages,) what each is worth besides, ≥ 0 and in the unit of gains: 1 is a sub-question surely covered.
        k: how many are taken; None takes all.

    Raises:
        InvalidValueError: k below 1, another number of priors than of passages, or a probability outside [0, 1].
    """
    _refuse_unless_in_range(probabilities, prior, k)
    open_, priors = np.ones(len(probabilities)), np.asarray(prior, dtype=np.float64)
    left, taken = list(range(len(priors))), list[Pick]()
    while left and (k is None or len(taken) < k):
        gains = open_ @ probabilities[:, left]
        worths = gains + priors[left]
        at = int(np.argmax(worths))
        place = left.pop(at)
        taken.append(Pick(place, float(gains[at]), float(worths[at])))
        open_ *= 1 - probabilities[:, place]
    return taken


def coverage_probabilities(probabilities: NDArray[np.float64], places: Sequence[int]) -> NDArray[np.float64]:
    """Return (sub-questions,) the probability that each is covered by some of the passages in these places.

    >>> coverage_probabilities(np.array([[0.5, 0.5], [0.0, 0.25]]), [0, 1]).tolist()
    [0.75, 0.25]
    """
    return np.asarray(1 - np.prod(1 - probabilities[:, list(places)], axis=1), dtype=np.float64)


def reciprocal_ranks(passages: int, *, weight: float) -> list[float]:
    """Return ``weight`` / rank for so many passages in a retriever's order.

    >>> reciprocal_ranks(4, weight=0.5)
    [0.5, 0.25, 0.16666666666666666, 0.125]
    """
    return [weight / rank for rank in range(1, passages + 1)]


def _refuse_unless_in_range(probabilities: NDArray[np.float64], prior: Sequence[float], k: int | None) -> None:
    refuse_below(1, **without_none(k=k))
    if probabilities.ndim != 2 or probabilities.shape[1] != len(prior):  # noqa: PLR2004  # sub-questions by passages
        message = f"there are {len(prior)} priors for probabilities of shape {probabilities.shape}; give one for each passage"
        raise InvalidValueError(message)
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        message = "a probability is outside [0, 1]; a passage that was not judged covers with probability 0"
        raise InvalidValueError(message)
