"""Which sentences of an answer its prompt entails.

A sentence is supported when the highest P(entailment) that any window of a prompt passage gives it reaches the threshold.
Passages of up to 100 words are one window; longer ones are cut into overlapping windows of whole sentences, so nothing is
cut off. Each sentence is held against the ``max_windows`` windows that share most words with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.backends import Entailer, Span
from rag_cover.coverage.passages import titled
from rag_cover.coverage.words import content_words
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.results import GroundednessResult, SentenceSupport
from rag_cover.texts import sentences, windows
from rag_cover.traces import Trace
from rag_cover.verdicts import entailments, threshold_in_range

__all__ = ["groundedness"]

_WHOLE = 100  # words of a passage that is one window
_WINDOW = 80  # words of a window of a longer one
_FRAGMENT = 5  # words; anything shorter says nothing without its question

_MARKER = re.compile(r"^(?:[-*•–]\s+|\(?\d{1,3}[.)]\s+)+")
_CITATION = re.compile(r"\s?\[\^?\d+(?:\s*[,;–-]\s*\d+)*\]")
_EMPHASIS = re.compile(r"\*\*|__|`")
_TALK = re.compile(
    r"""^(?:(?:hi|hello|hey|thanks|thank\ you|sure|certainly|of\ course|absolutely|(?:great|good)\ question|you['’]re\ welcome)
        \b[^.]{0,40}$
    |(?:i\ hope|let\ me\ know|feel\ free|please\ (?:let|feel)|if\ you\ have\ any|(?:here|below)(?:['’]s|\ is|\ are))\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_CLAIM_ENDS = (":", "?", "\uff1f", "\u061f")  # the last two: question marks, full-width and Arabic


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of a prompt passage, as the premise of an entailment."""

    passage: int
    premise: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence that says something, as a hypothesis, and the windows it is held against."""

    sentence: Span
    hypothesis: str
    windows: tuple[_Window, ...]

    def pairs(self) -> list[tuple[str, str]]:
        return [(window.premise, self.hypothesis) for window in self.windows]


def groundedness(
    traces: Sequence[Trace], entailer: Entailer, *, threshold: float = 0.5, max_windows: int = 12
) -> list[GroundednessResult]:
    """Judge every sentence of every answer against its prompt, all in one call to the entailer.

    Headings, questions, greetings and the like are no claims and are left out; list markers and citations are stripped, and
    an answer of a few words is read after its question. A trace without an answer, or of whose prompt nothing is known, has
    no sentences and share None; with an empty prompt nothing is supported.

    Raises:
        InvalidValueError: a threshold outside [0, 1], or no windows allowed.
        ModelFailedError: the entailer returned something that is no probability.
    """
    threshold = threshold_in_range(threshold)
    if max_windows < 1:
        message = f"max_windows is {max_windows}; a sentence needs at least one window to be held against"
        raise InvalidValueError(message)
    claims = [_claims(trace, max_windows) for trace in traces]
    entailed = entailments(entailer, (pair for each in claims for claim in each for pair in claim.pairs()))
    return [
        _result([_support(claim, [entailed[pair] for pair in claim.pairs()], threshold) for claim in each], trace)
        for trace, each in zip(traces, claims, strict=True)
    ]


def _claims(trace: Trace, max_windows: int) -> list[_Claim]:
    prompt, _ = trace.prompt_or_assumed
    if trace.answer is None or prompt is None:
        return []
    premises = [window for index, passage in enumerate(prompt) for window in _windows(index, passage)]
    claimed = [(span, _claimed(span.of(trace.answer), trace.question.text)) for span in sentences(trace.answer)]
    return [_Claim(span, text, _nearest(text, premises, max_windows)) for span, text in claimed if text is not None]


def _claimed(sentence: str, question: str) -> str | None:
    """Reduce a sentence to what it claims, None where it claims nothing."""
    text = _CITATION.sub("", _EMPHASIS.sub("", _MARKER.sub("", sentence))).strip()
    if text.startswith("#") or text.endswith(_NO_CLAIM_ENDS) or _TALK.match(text) or not any(map(str.isalnum, text)):
        return None
    return text if len(text.split()) >= _FRAGMENT else f"{question} {text}"


def _windows(index: int, passage: Passage) -> list[_Window]:
    text = passage.text
    if not text.strip():
        return []
    pieces = [Span(0, len(text))]
    if len(text.split()) > _WHOLE:
        pieces = windows(sentences(text), size=_WINDOW, length=lambda span: len(span.of(text).split()))
    premises = [titled(passage.title, piece.of(text).strip()) for piece in pieces]
    return [_Window(index, premise, content_words(premise)) for premise in premises]


def _nearest(hypothesis: str, premises: Sequence[_Window], most: int) -> tuple[_Window, ...]:
    wanted = content_words(hypothesis)
    return tuple(sorted(premises, key=lambda window: -len(window.words & wanted))[:most])


def _support(claim: _Claim, probabilities: Sequence[float], threshold: float) -> SentenceSupport:
    best = max(range(len(probabilities)), key=probabilities.__getitem__, default=None)
    probability = 0.0 if best is None else probabilities[best]
    return SentenceSupport(
        start=claim.sentence.start,
        end=claim.sentence.end,
        probability=probability,
        supported=best is not None and probability >= threshold,
        passage=None if best is None else claim.windows[best].passage,
    )


def _result(supports: Sequence[SentenceSupport], trace: Trace) -> GroundednessResult:
    share = sum(support.supported for support in supports) / len(supports) if supports else None
    return GroundednessResult(tuple(supports), share, trace.prompt_or_assumed[1])
