"""How alike an answer and a reference are by their words: the baselines of SePer's Table 2 that need no model.

Words are compared as in SQuAD's evaluation: lower case, without punctuation and articles.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from benchmarks.support.judges import squad_normalised

_ORDERS = 4


def exact_match(answer: str, reference: str) -> float:
    """Return 1 where both are the same words, else 0.

    >>> exact_match("The Beatles.", "beatles")
    1.0
    """
    return float(squad_normalised(answer) == squad_normalised(reference))


def rouge_l(answer: str, reference: str) -> float:
    """Return the F1 of the longest common subsequence of words (Lin, 2004, with β = 1).

    >>> rouge_l("in Paris France", "Paris, in France")
    0.6666666666666666
    """
    said, wanted = squad_normalised(answer).split(), squad_normalised(reference).split()
    shared = _longest_common(said, wanted)
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def bleu(answer: str, reference: str) -> float:
    """Return sentence BLEU-4, orders above 1 smoothed by one (Lin & Och, 2004), with the brevity penalty.

    Orders that the answer is too short for are left out.

    >>> round(bleu("jane austen", "Jane Austen"), 3), round(bleu("austen", "Jane Austen"), 3), bleu("byron", "Jane Austen")
    (1.0, 0.368, 0.0)
    """
    said, wanted = squad_normalised(answer).split(), squad_normalised(reference).split()
    if not said or not set(said) & set(wanted):
        return 0.0
    logs = []
    for order in range(1, min(_ORDERS, len(said)) + 1):
        mine, theirs = _grams(said, order), _grams(wanted, order)
        smooth = int(order > 1)
        logs.append(math.log((sum((mine & theirs).values()) + smooth) / (mine.total() + smooth)))
    return math.exp(sum(logs) / len(logs) + min(0.0, 1 - len(wanted) / len(said)))


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + order]) for start in range(len(words) - order + 1))


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    row = [0] * (len(second) + 1)
    for mine in first:
        new = [0]
        for place, theirs in enumerate(second):
            new.append(row[place] + 1 if mine == theirs else max(row[place + 1], new[-1]))
        row = new
    return row[-1]
