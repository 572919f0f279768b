"""Does this text answer this question, by a cross-encoder trained for it: QNLI's two logits, or one.

Every window of a text is judged, and the best speaks for it. Such a network has seen no references: items that bring some
are refused, not judged without them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover_transformers.batches import logistic
from rag_cover_transformers.canaries import QUESTIONS, refuse_a_wrong_ranking
from rag_cover_transformers.classifiers import Classifier
from rag_cover_transformers.encodings import Encoded

__all__ = ["CrossEncoderScorer", "answer_probabilities"]

Floats = NDArray[np.float32]


class CrossEncoderScorer:
    """A Scorer without references; thread-safe. ``order`` names the outputs: two classes, or ``("entailment",)`` for one.

    A question is read up to half of an input; a text is read whole, in windows.
    """

    def __init__(self, classifier: Classifier, order: Sequence[str], *, threshold: float = 0.5) -> None:
        if not 0 <= threshold <= 1:
            message = f"threshold is a probability, 0 to 1, not {threshold}"
            raise InvalidValueError(message)
        self._classifier, self._order = classifier, tuple(order)
        self.threshold = threshold
        self.fingerprint = f"{classifier.fingerprint}:{','.join(order)}:{threshold}"

    def correctness(self, items: Sequence[ScoringItem]) -> Floats:
        """Return (n,) P(the text answers the question); a blank text answers nothing, with probability 0."""
        if any(item.references for item in items):
            message = (
                "This scorer judges without references, and an item brings some. Use 'embedded', or a GenEval folder "
                "(rag-cover train geneval), which reads references."
            )
            raise InvalidValueError(message)
        encoder = self._classifier.encoder
        distinct = {
            text: place for place, text in enumerate(dict.fromkeys(text for i in items for text in (i.question, i.text)))
        }
        texts = encoder.tokenised(list(distinct))
        rows: list[Encoded] = []
        owners: list[int] = []
        for number, item in enumerate(items):
            question = texts[distinct[item.question]].ids[: encoder.pair_room // 2]
            windows = texts[distinct[item.text]].windows(encoder.pair_room - len(question))
            rows += [encoder.joined(question, window) for window in windows]
            owners += [number] * len(windows)
        best = np.zeros(len(items), np.float32)
        np.maximum.at(best, np.array(owners, np.intp), answer_probabilities(self._classifier.logits(rows), self._order))
        return best

    def refuse_wrong_canaries(self, questions: Sequence[tuple[str, str, str]] = QUESTIONS) -> None:
        """Refuse a network that ranks texts that answer below texts that do not."""
        answering, other = (self.correctness([ScoringItem(case[0], case[place]) for case in questions]) for place in (1, 2))
        refuse_a_wrong_ranking(self._classifier.name, answering, other, order=self._order, questions=questions)


def answer_probabilities(logits: Floats, order: Sequence[str]) -> Floats:
    """Return (n,) P(answers) of (n, 1) or (n, 2) logits.

    >>> answer_probabilities(np.zeros((1, 1), np.float32), ("entailment",)).tolist()
    [0.5]
    """
    wanted = list(order).index("entailment")
    difference = logits[:, 0] if logits.shape[1] == 1 else logits[:, wanted] - logits[:, 1 - wanted]
    return logistic(difference)
