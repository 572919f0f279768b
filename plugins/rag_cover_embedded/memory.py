"""What was made of (question, text) pairs before: asking where follows asking whether, of the same pairs."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["QuestionText", "VectorMemory", "text_digest"]

T = TypeVar("T")
P = TypeVar("P", bound=tuple[str, ...])
QuestionText = tuple[str, str]
"""A question and a text."""


class VectorMemory(Generic[P, T]):
    """Remembers the last ``most`` pairs, by hashes of them. Thread-safe; two threads may make the same at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._made: OrderedDict[bytes, T] = OrderedDict()
        self._lock = Lock()

    def recall(self, pairs: Iterable[P], make: Callable[[Sequence[P]], Sequence[T]]) -> dict[P, T]:
        """Return what is made of each pair; ``make`` is called once, with those that are not remembered."""
        keys = {pair: text_digest("".join(f"{len(text)}:{text}" for text in pair)) for pair in pairs}
        with self._lock:
            known = {pair: self._made[key] for pair, key in keys.items() if key in self._made}
        new = [pair for pair in keys if pair not in known]
        known |= dict(zip(new, make(new), strict=True))
        with self._lock:
            self._made |= {keys[pair]: known[pair] for pair in new}
            while len(self._made) > self.most:
                self._made.popitem(last=False)
        return known

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._made.clear()

    def __len__(self) -> int:
        return len(self._made)


def text_digest(text: str) -> bytes:
    """Hash a text, whatever characters it has, to 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
