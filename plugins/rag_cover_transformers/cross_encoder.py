"""Does this text answer this question, by a cross-encoder trained for it: QNLI's two logits, or one.

Every window of a text is judged, and the best speaks for it. Such a network has seen no references: items that bring some
are refused, not judged without them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_outside
from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover_transformers.batches import logistic
from rag_cover_transformers.classifiers import PairClassifier
from rag_cover_transformers.encodings import NetworkInput, PairEncoder

__all__ = ["CrossEncoderScorer", "answer_probabilities", "best_answers", "probability_cut"]

Floats = NDArray[np.float32]


class CrossEncoderScorer:
    """A Scorer without references; thread-safe. ``order`` names the outputs: two classes, or ``("entailment",)`` for one.

    A question is read up to half of an input; a text is read whole, in windows.
    """

    def __init__(self, classifier: PairClassifier, order: Sequence[str], *, threshold: float = 0.5) -> None:
        self._classifier, self._order = classifier, tuple(order)
        self.threshold = probability_cut(threshold)
        self.reads_references = False
        self.fingerprint = f"{classifier.fingerprint}:{','.join(order)}:{threshold}"

    def correctness(self, items: Sequence[ScoringItem]) -> Floats:
        """Return (n,) P(the text answers the question); a blank text answers nothing, with probability 0."""
        if any(item.references for item in items):
            message = (
                "This scorer judges without references, and an item brings some. Use 'embedded', a GenEval folder "
                "(rag-cover train geneval) or an entailment classifier, which read references."
            )
            raise InvalidValueError(message)
        asked = [(self._classifier.encoder, item.question, item.text) for item in items]
        return best_answers(self._classifier, self._order, asked)


def probability_cut(threshold: float) -> float:
    """Return a threshold that is a probability.

    Raises:
        InvalidValueError: it is none.
    """
    refuse_outside(0, 1, threshold=threshold)
    return threshold


def best_answers(classifier: PairClassifier, order: Sequence[str], asked: Sequence[tuple[PairEncoder, str, str]]) -> Floats:
    """Return (n,) P(answers) of the best window of each text, given (encoder, question, text); 0 for a blank text.

    Encoders may differ in how they join, not in their tokens. A question is read up to half of an input.
    """
    strings = list(dict.fromkeys(text for _, *texts in asked for text in texts))
    tokenised = dict(zip(strings, classifier.encoder.tokenise(strings), strict=True))
    rows: list[NetworkInput] = []
    owners: list[int] = []
    for number, (encoder, question, text) in enumerate(asked):
        first = tokenised[question].ids[: encoder.pair_room // 2]
        windows = tokenised[text].windows(encoder.pair_room - len(first))
        rows += [encoder.join_pair(first, window) for window in windows]
        owners += [number] * len(windows)
    best = np.zeros(len(asked), np.float32)
    np.maximum.at(best, np.array(owners, np.intp), answer_probabilities(classifier.logits(rows), order))
    return best


def answer_probabilities(logits: Floats, order: Sequence[str]) -> Floats:
    """Return (n,) P(answers) of (n, 1) or (n, 2) logits.

    >>> answer_probabilities(np.zeros((1, 1), np.float32), ("entailment",)).tolist()
    [0.5]
    """
    wanted = list(order).index("entailment")
    difference = logits[:, 0] if logits.shape[1] == 1 else logits[:, wanted] - logits[:, 1 - wanted]
    return logistic(difference)
