"""The seam: what a model must offer, as Protocols, and the small values that cross it.

A plugin implements the Protocols it can and returns them as one or more `Backend` records from its ``backends()`` hook.
Implementations are thread-safe and judge a text of any length whole: what exceeds their input they window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_cover.calibration_shift import CalibrationShift, read_shifts
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage
from rag_cover.traces import Sample

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "IN_FLOATS",
    "Abstention",
    "AbstentionDetector",
    "Backend",
    "CalibrationShift",
    "CertainCuts",
    "Embedder",
    "Entailer",
    "Failure",
    "Generation",
    "Generator",
    "Locator",
    "Message",
    "Mode",
    "Prompt",
    "Receiver",
    "Relevance",
    "Retriever",
    "Sampling",
    "Scorer",
    "ScoringItem",
    "Span",
    "TokenRelevance",
    "calibration_shifts_of",
    "certain_cuts_of",
    "fingerprint_of",
    "languages_of",
    "mode_of",
    "numbers_for",
    "read_shifts",
    "reads_references",
    "reply_threshold_of",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScoringItem:
    """One judgment asked of a Scorer or Locator: does this text answer the question (as the references do)?

    ``user_question`` is the question that the text replies to; it is empty for passages, which reply to nobody. Without
    ``references``, the question alone decides; blank ones are left out.

    Raises:
        InvalidValueError: the references are no tuple or list of strings, or another field is no string.
    """

    question: str
    text: str
    references: tuple[str, ...] = ()
    user_question: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no string, and references that are one, which would be read letter by letter; leave out blank ones."""
        for name in ("question", "text", "user_question"):
            if not isinstance(value := getattr(self, name), str):
                message = f"{name} is {value!r}; it is a string" + (", empty for a passage" if name == "user_question" else "")
                raise InvalidValueError(message)
        if not isinstance(self.references, tuple | list) or not all(isinstance(each, str) for each in self.references):
            wanted = f": ({self.references!r},)" if isinstance(self.references, str) else ", empty where there are none"
            message = f"references is {self.references!r}; give a tuple of strings{wanted}"
            raise InvalidValueError(message)
        kept = tuple(filter(str.strip, self.references))
        if kept != self.references:
            object.__setattr__(self, "references", kept)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points in the text as it was passed."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Cut the span out of its text.

        >>> Span(4, 7).of("The sky")
        'sky'
        """
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class TokenRelevance:
    """How much each text has to do with each token of a question: ``values`` is (texts, tokens), all at least 0."""

    tokens: tuple[str, ...]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


Prompt = str | tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a Generator draws its answers."""

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int | None = None
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no server would accept."""
        if self.n < 1 or self.max_tokens < 1 or self.temperature < 0 or not 0 < self.top_p <= 1:
            message = f"{self}: n and max_tokens are at least 1, temperature at least 0, top_p in (0, 1]"
            raise InvalidValueError(message)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an item has no result: kept, counted and shown, never turned into a number.

    ``raw`` is what the model wrote, where that is why.
    """

    kind: str
    message: str
    attempts: int = 1
    raw: str | None = None

    @classmethod
    def of(cls, error: ModelFailedError) -> Self:
        """Keep what a model's error says."""
        return cls(error.kind, str(error), error.attempts, error.raw)

    def about(self, what: str) -> Failure:
        """Return it with what it kept from being done before its message.

        >>> Failure("timeout", "no reply in 60 s").about("the question could not be split").message
        'the question could not be split: no reply in 60 s'
        """
        return Failure(self.kind, f"{what}: {self.message}", self.attempts, self.raw)

    def error(self) -> ModelFailedError:
        """Return it as the error to raise, where a failure ends more than its item."""
        return ModelFailedError(self.message, attempts=self.attempts, kind=self.kind, raw=self.raw)


@dataclass(frozen=True, slots=True)
class Generation:
    """What a Generator made of one prompt; token counts are None where the server does not tell."""

    samples: tuple[Sample, ...]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    failure: Failure | None = None


@runtime_checkable
class Entailer(Protocol):
    """Judges whether a hypothesis follows from a premise."""

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return (n, 3): P(entailment), P(neutral), P(contradiction) of each (premise, hypothesis), in this order."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """Judges whether a text answers a question: GenEval's first head.

    ``threshold`` is the judge's fitted cut for passages without references; with references the cut is 0.5. Some attributes
    are optional: ``reply_threshold`` (float), the cut for replies (items with a ``user_question``); ``languages``, those
    that it reads (ISO 639-1), without which traces in any language are judged; ``certain``
    (`CertainCuts`); ``calibration_shifts`` (by mode), from which reports tell what the judge's errors do to a figure; and
    ``reads_references`` (bool), False for a scorer that cannot, which is then asked without them. `reply_threshold_of`,
    `certain_cuts_of`, `calibration_shifts_of` and `reads_references` know their defaults.
    """

    @property
    def threshold(self) -> float:
        """Return the probability from which a text counts as covering a sub-question."""
        ...

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return (n,) P(the text contains a correct answer to the question, given the references); they may be empty."""
        ...


Mode = Literal["passage", "reply", "reference"]
"""How a text is judged: as a passage, as a reply to a user's question, or against references."""

CertainCuts = Mapping[Mode, tuple[float, float]]
"""For each mode, the probability at or below which a text surely does not cover, and the one from which it surely does."""


def is_part(question: str, user_question: str) -> bool:
    """Check whether a question is asked of a reply to another one: a part of it, not the question itself.

    >>> is_part("When?", "Who, and when?"), is_part("When?", " When? "), is_part("When?", "")
    (True, False, False)
    """
    return user_question.strip() not in ("", question.strip())


def mode_of(item: ScoringItem) -> Mode:
    """Return the mode in which an item is judged.

    >>> mode_of(ScoringItem("Who?", "Ada.")), mode_of(ScoringItem("Who?", "Ada.", user_question="Who?"))
    ('passage', 'reply')
    """
    if item.references:
        return "reference"
    return "reply" if item.user_question else "passage"


def reply_threshold_of(scorer: Scorer) -> float:
    """Return the probability from which a reply covers: the scorer's ``threshold`` unless it has one for replies."""
    return float(getattr(scorer, "reply_threshold", scorer.threshold))


def reads_references(scorer: Scorer) -> bool:
    """Return whether a scorer judges against references: yes, unless it says ``reads_references = False``."""
    return bool(getattr(scorer, "reads_references", True))


def certain_cuts_of(scorer: Scorer) -> CertainCuts:
    """Return the cuts between which a scorer's verdicts are unsure; without any, no verdict is."""
    cuts: CertainCuts = getattr(scorer, "certain", {})
    return cuts


def calibration_shifts_of(scorer: Scorer) -> Mapping[Mode, CalibrationShift]:
    """Return how far a scorer's probabilities lie off on labelled sets, by mode; nothing where that is not known."""
    shifts: Mapping[Mode, CalibrationShift] = getattr(scorer, "calibration_shifts", {})
    return shifts


def languages_of(model: Any) -> tuple[str, ...] | None:  # any model object
    """Return the languages that a model reads (ISO 639-1): its ``languages``; None for one that does not say."""
    languages = getattr(model, "languages", None)
    return None if languages is None else tuple(languages)


Abstention = Literal["no", "partly", "wholly"]
"""Whether a reply declines to answer: not at all, some of what was asked, or all of it."""


@runtime_checkable
class AbstentionDetector(Protocol):
    """Tells replies that decline to answer ("the documents do not say") from replies that answer."""

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        """Return whether each item's text declines to answer the item's question; references are not read."""
        ...


@runtime_checkable
class Locator(Protocol):
    """Finds the fragment of a text that answers a question."""

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        """Return the answering fragment of each item's text, None where there is none."""
        ...


@runtime_checkable
class Relevance(Protocol):
    """Tells which parts of a question each text is about: GenEval's second head."""

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        """Return the relevance of each text to each token of the question."""
        ...


@runtime_checkable
class Generator(Protocol):
    """Writes text."""

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # frozen
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",
    ) -> list[Generation]:
        """Return one Generation for each prompt; a prompt that failed carries its failure."""
        ...


@runtime_checkable
class Receiver(Protocol):
    """The model whose belief ΔSePer measures."""

    def sample(
        self, items: Sequence[tuple[str, tuple[Passage, ...]]], *, n: int = 10, seed: int = 0
    ) -> list[tuple[Sample, ...]]:
        """Draw n answers to each (question, passages); without passages: what the receiver believes already."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Maps texts to vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, d) vectors of unit length."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """Finds passages."""

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        """Return at most k passages, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """What one plugin offers under one scheme: lazy factories, called with the model's name and the caller's options.

    A factory imports its heavy packages when called, refuses options it does not know, and returns a thread-safe object.
    ``retriever`` is called with (corpus, index) instead: the passages, and the folder to keep the index in (None: in memory).
    """

    scheme: str
    summary: str
    entailer: Callable[..., Entailer] | None = None
    scorer: Callable[..., Scorer] | None = None
    locator: Callable[..., Locator] | None = None
    relevance: Callable[..., Relevance] | None = None
    generator: Callable[..., Generator] | None = None
    receiver: Callable[..., Receiver] | None = None
    embedder: Callable[..., Embedder] | None = None
    retriever: Callable[[Iterable[Passage], Path | None], Retriever] | None = None
    abstention: Callable[..., AbstentionDetector] | None = None

    @property
    def offers(self) -> tuple[str, ...]:
        """Name the kinds of model this backend has a factory for."""
        return tuple(kind for kind in KINDS if getattr(self, kind) is not None)


KINDS = ("entailer", "scorer", "locator", "relevance", "generator", "receiver", "embedder", "retriever", "abstention")


IN_FLOATS = ":floats"
"""Ends the fingerprint of a judge whose packed weights are multiplied in floats: what was fitted in bytes holds for it."""


def fingerprint_of(model: Any) -> str:  # any model object
    """Name a model so that another one never meets its cached verdicts.

    Models say it themselves in ``fingerprint`` (weights' sha256, or name and base URL); an object without one is known by
    its class, which is honest only within one process.
    """
    fingerprint = getattr(model, "fingerprint", None)
    return str(fingerprint) if fingerprint else f"{type(model).__module__}.{type(model).__qualname__}"


def numbers_for(fingerprint: str, numbers: Mapping[str, T]) -> T | None:
    """Return what was fitted for a judge, known by its fingerprint, whatever its arithmetic; None for another judge.

    >>> numbers_for("embedded:12:floats", {"embedded:12": 0.5}), numbers_for("embedded:13", {"embedded:12": 0.5})
    (0.5, None)
    """
    return numbers.get(fingerprint.removesuffix(IN_FLOATS))
