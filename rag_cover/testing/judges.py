"""Judges for tests: scorers, locators and entailers that go by words or by a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import CertainCuts, ScoringItem, Span
from rag_cover.english.words import content_words
from rag_cover.testing.counters import Counter
from rag_cover.texts import sentences

__all__ = [
    "KeywordEntailer",
    "KeywordLocator",
    "KeywordScorer",
    "ScriptedEntailer",
    "ScriptedLocator",
    "ScriptedScorer",
]


@dataclass(frozen=True)
class KeywordScorer:
    """Scores a text by the share of the question's content words that it holds.

    >>> scorer = KeywordScorer()
    >>> scorer.correctness([ScoringItem("Why is the sky blue?", "The sky is grey.")]).tolist()
    [0.5]
    """

    threshold: float = 0.5
    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"testing:keyword-scorer:{self.threshold}"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return the share of content words found, for each item."""
        self.asked.count(len(items))
        return np.array([_word_share(item.question, item.text) for item in items], dtype=np.float32)


@dataclass(frozen=True)
class ScriptedScorer:
    """Returns the probability that a script holds for (question, text), else ``default``; sure outside the cuts ``certain``.

    >>> scorer = ScriptedScorer({("Who?", "Ada did."): 0.9})
    >>> [round(float(p), 2) for p in scorer.correctness([ScoringItem("Who?", "Ada did."), ScoringItem("Who?", "…")])]
    [0.9, 0.0]
    """

    script: Mapping[tuple[str, str], float] = field(default_factory=dict)
    default: float = 0.0
    threshold: float = 0.5
    certain: CertainCuts = field(default_factory=dict)
    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"testing:scripted-scorer:{sorted(self.script.items())}:{self.default}:{self.threshold}"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return each item's scripted probability."""
        self.asked.count(len(items))
        return np.array([self.script.get((item.question, item.text), self.default) for item in items], dtype=np.float32)


@dataclass(frozen=True)
class KeywordLocator:
    """Locates the first of the sentences that share most content words with the question, None where none shares any.

    >>> KeywordLocator().locate([ScoringItem("Why is the sky blue?", "Grass is green. The sky is blue.")])
    [Span(start=16, end=32)]
    """

    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return "testing:keyword-locator"

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        """Return each item's best sentence."""
        self.asked.count(len(items))
        return [_best_sentence(item) for item in items]


@dataclass(frozen=True)
class ScriptedLocator:
    """Locates the fragment that a script holds for (question, text), None where it holds none or the text does not.

    >>> ScriptedLocator({("Who?", "It was Ada."): "Ada"}).locate([ScoringItem("Who?", "It was Ada.")])
    [Span(start=7, end=10)]
    """

    script: Mapping[tuple[str, str], str] = field(default_factory=dict)
    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"testing:scripted-locator:{sorted(self.script.items())}"

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        """Return each item's scripted fragment."""
        self.asked.count(len(items))
        return [_find_fragment(item.text, self.script.get((item.question, item.text), "")) for item in items]


@dataclass(frozen=True)
class KeywordEntailer:
    """Entails a hypothesis by the share of its content words that the premise holds; the rest is neutral.

    >>> KeywordEntailer().entail([("The sky is grey.", "The sky is blue.")]).tolist()
    [[0.5, 0.5, 0.0]]
    """

    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return "testing:keyword-entailer"

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return (n, 3): entailment, neutral, contradiction."""
        self.asked.count(len(pairs))
        return _three([_word_share(hypothesis, premise) for premise, hypothesis in pairs])


@dataclass(frozen=True)
class ScriptedEntailer:
    """Returns the P(entailment) that a script holds for (premise, hypothesis), else ``default``; the rest is neutral.

    >>> ScriptedEntailer({("It rains.", "It is wet."): 0.75}).entail([("It rains.", "It is wet.")]).tolist()
    [[0.75, 0.25, 0.0]]
    """

    script: Mapping[tuple[str, str], float] = field(default_factory=dict)
    default: float = 0.0
    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"testing:scripted-entailer:{sorted(self.script.items())}:{self.default}"

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return (n, 3): entailment, neutral, contradiction."""
        self.asked.count(len(pairs))
        return _three([self.script.get(pair, self.default) for pair in pairs])


def _word_share(wanted: str, text: str) -> float:
    needed = content_words(wanted)
    return len(needed & content_words(text)) / len(needed) if needed else 0.0


def _best_sentence(item: ScoringItem) -> Span | None:
    needed = content_words(item.question)
    shared = {span: len(needed & content_words(span.of(item.text))) for span in sentences(item.text)}
    best = max(shared, key=shared.__getitem__, default=None)
    return best if best is not None and shared[best] else None


def _find_fragment(text: str, fragment: str) -> Span | None:
    start = text.find(fragment) if fragment else -1
    return None if start < 0 else Span(start, start + len(fragment))


def _three(entailment: Sequence[float]) -> NDArray[np.float32]:
    column = np.array(entailment, dtype=np.float32).reshape(-1)
    return np.stack([column, 1 - column, np.zeros_like(column)], axis=1)
