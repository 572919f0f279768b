"""What passages say to a question as a reader sees it: answers with their probabilities, and how several readings join."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

__all__ = ["UNANSWERABLE", "Reading", "answers_in", "as_reading"]

UNANSWERABLE = "unanswerable"
"""What a reader says where passages do not answer."""

Reading = tuple[float, Mapping[str, float]]
"""What one text says to a question: P(it answers), in [0, 1), and the likeliest spans with their shares, which sum to 1."""

_MOST = 1 - 1e-9  # so that odds are finite


def answers_in(readings: Sequence[Reading]) -> dict[str, float]:
    """Put readings together: every answer's probability, that of `UNANSWERABLE` first; they sum to 1.

    With a_r = P(reading r answers), o_r = a_r / (1 - a_r) and π_r the shares of its spans:
    P(unanswerable) = 1 - max_r a_r and P(span s) = max_r a_r · Σ_r (o_r / Σ_v o_v) π_r(s).

    >>> answers_in([(0.5, {"Jane Austen": 0.75, "Austen": 0.25}), (0.0, {"Emma": 1.0})])
    {'unanswerable': 0.5, 'Jane Austen': 0.375, 'Austen': 0.125, 'Emma': 0.0}
    >>> answers_in([])
    {'unanswerable': 1.0}
    """
    likely = [min(probability, _MOST) for probability, _ in readings]
    some = max(likely, default=0.0)
    odds = [each / (1 - each) for each in likely]
    total = math.fsum(odds) or 1.0
    answers = {UNANSWERABLE: 1 - some}
    for (_, spans), each in zip(readings, odds, strict=True):
        for text, share in spans.items():
            answers[text] = answers.get(text, 0.0) + some * each / total * share
    return answers


def as_reading(answers: Mapping[str, float]) -> Reading:
    """Return answers with their probabilities as one reading: the other way about.

    >>> as_reading({"unanswerable": 0.5, "Jane Austen": 0.5})
    (0.5, {'Jane Austen': 1.0})
    """
    told = math.fsum(value for text, value in answers.items() if text != UNANSWERABLE)
    return told, {text: value / told for text, value in answers.items() if text != UNANSWERABLE} if told > 0 else {}
