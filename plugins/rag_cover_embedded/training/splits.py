"""Which examples may train: a hash of the top-level question decides, the same for every file."""

from __future__ import annotations

import hashlib
import re
import unicodedata

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
    """Tell whether a question's examples belong to the training part (buckets 0-69)."""
    return bucket(question) < TRAIN_BUCKETS


def trains_by_document(key: str) -> bool:
    """Tell whether a SQuAD article or an NLI premise belongs to the training part (buckets 0-79)."""
    return bucket(key) < TRAIN_BUCKETS_BY_DOCUMENT
