"""What was made of (question, text) pairs before: asking where follows asking whether, of the same pairs."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_cover_embedded.inputs import Encoded

__all__ = ["LogitMemory", "QuestionText", "VectorMemory", "text_digest"]

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


class LogitMemory:
    """Remembers logits that a pass gave besides those it was made for, so that its pair is not read again. Thread-safe."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._logits: OrderedDict[tuple[str, bytes], NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    def remember(self, head: str, encoded: Sequence[Encoded], logits: Sequence[NDArray[np.float32]]) -> None:
        """Keep a head's logits of each pair."""
        keys = [(head, _input_digest(each)) for each in encoded]
        with self._lock:
            self._logits.update(zip(keys, logits, strict=True))
            while len(self._logits) > self.most:
                self._logits.popitem(last=False)

    def recall(self, head: str, encoded: Sequence[Encoded]) -> list[NDArray[np.float32] | None]:
        """Return a head's logits of each pair, None where they are not known."""
        keys = [(head, _input_digest(each)) for each in encoded]
        with self._lock:
            return [self._logits.get(key) for key in keys]


def _input_digest(encoded: Encoded) -> bytes:
    """Hash the token ids, which begin with the task; where the second part starts follows from them."""
    return hashlib.blake2b(np.array(encoded.ids, dtype=np.int32).tobytes(), digest_size=16).digest()


def text_digest(text: str) -> bytes:
    """Hash a text, whatever characters it has, to 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
