"""Which examples may train: a hash of the top-level question decides, the same for every file."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

TRAIN_BUCKETS = 70
TRAIN_BUCKETS_BY_DOCUMENT = 80
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def bucket(key: str) -> int:
    """Place a key (question, article title or premise) in one of 100 buckets.

    The key is compared after NFKC and lower-casing, by its letters and digits alone.

    >>> bucket("Who wrote Hamlet?") == bucket("who wrote  hamlet")
    True
    """
    letters = "".join(_LETTER_OR_DIGIT.findall(unicodedata.normalize("NFKC", key).lower()))
    return int(hashlib.sha256(letters.encode()).hexdigest(), 16) % 100


def trains(question: str) -> bool:
    """Return whether a question's examples belong to the training part (buckets 0-69)."""
    return bucket(question) < TRAIN_BUCKETS


def trains_by_document(key: str) -> bool:
    """Return whether a SQuAD article or an NLI premise belongs to the training part (buckets 0-79)."""
    return bucket(key) < TRAIN_BUCKETS_BY_DOCUMENT


@dataclass(frozen=True, slots=True)
class Part:
    """A range of buckets: of top-level questions, and of documents (SQuAD articles, NLI premises)."""

    questions: range
    documents: range

    @property
    def is_fitted_on(self) -> bool:
        """Return whether the part serves to fit numbers, and trains no weights."""
        return TRAIN_BUCKETS - 1 in self.questions

    def has(self, question: str) -> bool:
        """Return whether a top-level question belongs to the part."""
        return bucket(question) in self.questions

    def has_document(self, key: str) -> bool:
        """Return whether an article's title or a premise belongs to the part."""
        return bucket(key) in self.documents


LEARNING = Part(range(67), range(78))
"""What the weights see."""
FITTING = Part(range(67, TRAIN_BUCKETS), range(78, TRAIN_BUCKETS_BY_DOCUMENT))
"""The rest of the training part: temperatures and thresholds are fitted on it."""
