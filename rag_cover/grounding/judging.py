"""Which sentences of an answer its prompt entails.

A sentence is supported when the P(entailment) that some window of a prompt passage gives it reaches the threshold.
Passages of up to 150 words are one window; longer ones are cut into overlapping windows of whole sentences, so nothing is
cut off. Each sentence is held against the ``max_windows`` windows that share most words with it, the nearest first, in rounds
of 1, 1, 2, 4, … windows, until one supports it: the verdict is that of all of them, and most supported sentences need one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import AbstentionDetector, Entailer, Span
from rag_cover.english.words import content_words
from rag_cover.grounding.result import GroundednessResult, SentenceSupport
from rag_cover.grounding.statements import Statement, leave_out_refusals, normalise, normalise_sentences, statements_of
from rag_cover.model_calls import ask_relations, threshold_in_range
from rag_cover.questions import Passage, prepend_title
from rag_cover.texts import sentences, windows
from rag_cover.traces import Trace

__all__ = ["groundedness"]

_WHOLE = 150  # words of a passage that is one window
_WINDOW = 130  # words of a window of a longer one


_Related = Mapping[tuple[str, str], tuple[float, float, float]]
"""P(entailment), P(neutral) and P(contradiction) of (premise, hypothesis)."""


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of a prompt passage, as the premise of an entailment."""

    passage: int
    premise: str
    words: frozenset[str]
    sentences: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A statement, and the windows it is held against; different ones may support the clauses of it."""

    statement: Statement
    windows: tuple[_Window, ...]

    def pairs(self, start: int, stop: int) -> list[tuple[str, str]]:
        """List what an entailer is asked about some of the windows."""
        premises = [window.premise for window in self.windows[start:stop]]
        return [(premise, hypothesis) for hypothesis in self.statement.hypotheses for premise in premises]

    def best_reading(self, related: _Related) -> tuple[float, int]:
        """Return P(entailment) of the best reading, of a reading that of its weakest part, and which window gives it."""
        readings = ([_best(part, self.windows, related) for part in reading] for reading in self.statement.readings)
        return max((min(parts) for parts in readings), key=lambda found: found[0])


def groundedness(
    traces: Sequence[Trace],
    entailer: Entailer,
    *,
    threshold: float = 0.5,
    max_windows: int = 12,
    abstention: AbstentionDetector | None = None,
) -> list[GroundednessResult]:
    """Judge every sentence of every answer against its prompt; each call to the entailer asks about all the traces.

    A sentence that a passage has word for word is supported without asking. Headings, table rules, list numbers, questions,
    greetings and refusals are no claims and are left out; list markers and citations are stripped, and an answer of a few words
    is read after its question. A trace without an answer, or of whose prompt nothing is known, has no sentences and share None;
    with an empty prompt nothing is supported.

    Args:
        traces: what to judge.
        entailer: tells what follows from a passage.
        threshold: the probability from which a sentence is supported.
        max_windows: how many windows of passages a sentence is held against.
        abstention: tells sentences that decline to answer; without one they count as claims.

    Raises:
        InvalidValueError: a threshold outside [0, 1], or no windows allowed.
        ModelFailedError: the entailer returned something that is no probability.
    """
    threshold = threshold_in_range(threshold)
    refuse_below(1, max_windows=max_windows)
    statements = [_statements(trace) for trace in traces]
    if abstention is not None:
        statements = leave_out_refusals(statements, [trace.question.text for trace in traces], abstention)
    claims = [_claims(trace, found, max_windows) for trace, found in zip(traces, statements, strict=True)]
    supports = iter(_supports([claim for each in claims for claim in each], entailer, threshold))
    return [_result([next(supports) for _ in each], trace) for trace, each in zip(traces, claims, strict=True)]


def _statements(trace: Trace) -> list[Statement]:
    prompt, _ = trace.effective_prompt
    return [] if trace.answer is None or prompt is None else statements_of(trace.answer, trace.question.text)


def _claims(trace: Trace, statements: Sequence[Statement], max_windows: int) -> list[_Claim]:
    prompt, _ = trace.effective_prompt
    premises = [window for index, passage in enumerate(prompt or ()) for window in _windows(index, passage)]
    return [_Claim(each, _nearest(each.readings[0][0], premises, max_windows)) for each in statements]


def _windows(index: int, passage: Passage) -> list[_Window]:
    text = passage.text
    if not text.strip():
        return []
    pieces = [Span(0, len(text))]
    if len(text.split()) > _WHOLE:
        pieces = windows(sentences(text), size=_WINDOW, length=lambda span: len(span.of(text).split()))
    premises = [prepend_title(passage.title, piece.of(text).strip()) for piece in pieces]
    return [_Window(index, premise, content_words(premise), normalise_sentences(premise)) for premise in premises]


def _nearest(hypothesis: str, premises: Sequence[_Window], most: int) -> tuple[_Window, ...]:
    wanted = content_words(hypothesis)
    return tuple(sorted(premises, key=lambda window: -len(window.words & wanted))[:most])


def _supports(claims: Sequence[_Claim], entailer: Entailer, threshold: float) -> list[SentenceSupport]:
    """Hold claims against their windows, the nearest first, in rounds, until they are supported."""
    related: dict[tuple[str, str], tuple[float, float, float]] = {}
    asked = dict.fromkeys((row for row, claim in enumerate(claims) if claim.windows and _quoting(claim) is None), 0)
    waiting, start, stop = list(asked), 0, 1
    while waiting:
        pairs = (pair for row in waiting for pair in claims[row].pairs(start, stop))
        related |= ask_relations(entailer, (pair for pair in pairs if pair not in related))
        asked |= dict.fromkeys(waiting, stop)
        waiting = [
            row
            for row in waiting
            if len(claims[row].windows) > stop and not _is_supported(claims[row], stop, related, threshold)
        ]
        start, stop = stop, 2 * stop
    return [
        _support(replace(claim, windows=claim.windows[: asked.get(row)]), related, threshold)
        for row, claim in enumerate(claims)
    ]


def _is_supported(claim: _Claim, windows: int, related: _Related, threshold: float) -> bool:
    """Return whether the first windows of a claim support it."""
    return replace(claim, windows=claim.windows[:windows]).best_reading(related)[0] >= threshold


def _support(claim: _Claim, related: _Related, threshold: float) -> SentenceSupport:
    """Read what the windows say that a claim was held against."""
    span = claim.statement.sentence or Span(0, 0)
    if not claim.windows:
        return SentenceSupport(span.start, span.end, 0.0, supported=False, passage=None)
    if (quoted := _quoting(claim)) is not None:
        return SentenceSupport(span.start, span.end, 1.0, supported=True, passage=quoted.passage)
    probability, window = claim.best_reading(related)
    whole = claim.statement.readings[0][0]
    return SentenceSupport(
        start=span.start,
        end=span.end,
        probability=probability,
        supported=probability >= threshold,
        passage=claim.windows[window].passage,
        contradiction=max(related[window.premise, whole][2] for window in claim.windows),
    )


def _quoting(claim: _Claim) -> _Window | None:
    """Return a window that has the claim word for word, as a sentence or a line of its own; None where none has."""
    words = normalise(claim.statement.words)
    return next((window for window in claim.windows if words and words in window.sentences), None)


def _best(hypothesis: str, windows: Sequence[_Window], related: _Related) -> tuple[float, int]:
    """Return the highest P(entailment) that a window gives, and which one does."""
    found = [related[window.premise, hypothesis][0] for window in windows]
    best = max(range(len(found)), key=found.__getitem__)
    return found[best], best


def _result(supports: Sequence[SentenceSupport], trace: Trace) -> GroundednessResult:
    share = sum(support.supported for support in supports) / len(supports) if supports else None
    return GroundednessResult(tuple(supports), share, trace.effective_prompt[1])
