"""Entailment by any classifier trained for it, with texts of any length.

A long premise is read in windows, beside the whole hypothesis; only a hypothesis of more than half an input is read in parts.
Of a premise's windows the one with the highest P(entailment) speaks; of a hypothesis' parts the one with the lowest. A blank
premise or hypothesis is neutral. A classifier of two classes tells neutral from contradiction no more than it was taught to:
all that is not entailed is neutral then.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover_transformers.classifiers import PairClassifier
from rag_cover_transformers.encodings import NetworkInput, TokenisedText
from rag_cover_transformers.labels import THREE_CLASSES

__all__ = ["NliEntailer", "by_class"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]

_NO_LEAD: Ids = np.zeros(0, np.int64)
_LEAD_SHARE = 4
"""A lead has a quarter of an input at most; of a longer one the end is read."""


class NliEntailer:
    """An Entailer; thread-safe. ``order`` is what each output of the classifier means.

    The same pair gets the same verdict alone, in any batch and in any order: to 1e-5 in float32, to rounding in less.
    """

    def __init__(self, classifier: PairClassifier, order: Sequence[str]) -> None:
        self._classifier, self._order = classifier, tuple(order)
        self.fingerprint = f"{classifier.fingerprint}:{','.join(order)}"

    def entail(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return (n, 3): P(entailment), P(neutral), P(contradiction) of each (premise, hypothesis)."""
        return self.entail_with_lead([("", premise, hypothesis) for premise, hypothesis in pairs])

    def entail_with_lead(self, triples: Sequence[tuple[str, str, str]]) -> Floats:
        """Return the same of (lead, premise, hypothesis): the lead stands before every window of the premise, and a space."""
        encoder = self._classifier.encoder
        spaced = [(lead, f" {premise}" if lead else premise, hypothesis) for lead, premise, hypothesis in triples]
        strings = list(dict.fromkeys(text for triple in spaced for text in triple))
        texts = dict(zip(strings, encoder.tokenise(strings), strict=True))
        longest_lead = encoder.pair_room // _LEAD_SHARE
        rows: list[NetworkInput] = []
        plans = [
            self._plan(texts[premise], texts[hypothesis], rows, texts[lead].ids[-longest_lead:])
            for lead, premise, hypothesis in spaced
        ]
        probabilities = by_class(self._classifier.logits(rows), self._order)
        return np.array([_verdict(probabilities, plan) for plan in plans], dtype=np.float32).reshape(-1, 3)

    def _plan(
        self, premise: TokenisedText, hypothesis: TokenisedText, rows: list[NetworkInput], lead: Ids = _NO_LEAD
    ) -> list[range]:
        """Queue every (premise window, hypothesis part); return, for each part, where its windows stand in the queue."""
        encoder = self._classifier.encoder
        room = encoder.pair_room - len(lead)
        plan = []
        for part in hypothesis.windows(max(room // 2, room - len(premise.ids))):
            windows = premise.windows(room - len(part))
            plan.append(range(len(rows), len(rows) + len(windows)))
            rows += [encoder.join_pair(np.concatenate([lead, window]), part) for window in windows]
        return [places for places in plan if places]


def by_class(logits: Floats, order: Sequence[str]) -> Floats:
    """Return (n, 3) probabilities in the order entailment, neutral, contradiction, whatever the classifier's.

    >>> by_class(np.array([[0.0, np.log(3.0)]], np.float32), ("not_entailment", "entailment")).round(2).tolist()
    [[0.75, 0.25, 0.0]]
    """
    powers = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    named = ["not_entailment" if name == "neutral" and name not in order else name for name in THREE_CLASSES]
    found = np.zeros((len(logits), len(THREE_CLASSES)), np.float32)
    for column, name in enumerate(named):
        if name in order:
            found[:, column] = probabilities[:, list(order).index(name)]
    return found


def _verdict(probabilities: Floats, plan: Sequence[range]) -> Floats:
    if not plan:
        return np.array([0.0, 1.0, 0.0], dtype=np.float32)
    strongest = [max((probabilities[place] for place in places), key=lambda row: float(row[0])) for places in plan]
    return min(strongest, key=lambda row: float(row[0]))
