"""What a language model made of texts, each made once: in this process, and in the cache of a run where there is one.

A failure is remembered within a run, so that one run does not pay for it twice; outside a run there is always a next time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from rag_cover.backends import Failure
from rag_cover.llm.session import LLMSession

__all__ = ["Memory"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Memory(Generic[T]):
    """Makes something of texts, and remembers it. Thread-safe: the same text in two threads is made once.

    Args:
        make: makes what is not known yet, all in one call.
        key: names what is made of a text in the run's cache, by all that it depends on.
        pack: writes it for the cache.
        unpack: reads what was kept; None where it is damaged, or of another version, and is made again.
        run: whose cache it goes by.
    """

    make: Callable[[Sequence[str]], Sequence[T | Failure]]
    key: Callable[[str], str]
    pack: Callable[[T], bytes]
    unpack: Callable[[bytes], T | None]
    run: LLMSession | None = None
    _known: dict[str, T | Failure] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def make_all(self, texts: Sequence[str]) -> list[T | Failure]:
        """Return what is made of each text, in their order; a `Failure` for a text that failed."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            recalled = self._recall(new)
            asked = [text for text in new if text not in recalled]
            made = dict(zip(asked, self.make(asked), strict=True)) if asked else {}
            self._keep(made)
            self._known.update(recalled | made)
            found = [self._known[text] for text in texts]
            if self.run is None:
                self._forget_failures()
        return found

    def _forget_failures(self) -> None:
        for text in [text for text, each in self._known.items() if isinstance(each, Failure)]:
            del self._known[text]

    def _recall(self, texts: Sequence[str]) -> dict[str, T | Failure]:
        if self.run is None or not texts:
            return {}
        keys = {self.key(text): text for text in texts}
        kept = self.run.recall(list(keys))
        return {keys[key]: found for key, answer in kept.items() if (found := self.unpack(answer)) is not None}

    def _keep(self, made: Mapping[str, T | Failure]) -> None:
        if self.run is not None:
            good = {text: each for text, each in made.items() if not isinstance(each, Failure)}
            self.run.keep({self.key(text): self.pack(each) for text, each in good.items()})
