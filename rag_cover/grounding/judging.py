"""Which sentences of an answer its prompt entails.

A sentence is supported when the highest P(entailment) that any window of a prompt passage gives it reaches the threshold.
Passages of up to 100 words are one window; longer ones are cut into overlapping windows of whole sentences, so nothing is
cut off. Each sentence is held against the ``max_windows`` windows that share most words with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.backends import AbstentionDetector, Entailer, ScoringItem, Span
from rag_cover.english.words import content_words
from rag_cover.errors import InvalidValueError
from rag_cover.grounding.result import GroundednessResult, SentenceSupport
from rag_cover.model_calls import abstentions, relations, threshold_in_range
from rag_cover.passage_text import prepend_title
from rag_cover.questions import Passage
from rag_cover.texts import flatten, sentences, windows
from rag_cover.traces import Trace

__all__ = ["groundedness"]

_WHOLE = 100  # words of a passage that is one window
_WINDOW = 80  # words of a window of a longer one
_FRAGMENT = 5  # words; anything shorter says nothing without its question

_MARKER = re.compile(r"^(?:[-*•–]\s+|\(?\d{1,3}[.)]\s+)+")
_HEADING = re.compile(r"\s*#{1,6}(?:\s|$)")
_NUMBER_OF_ITEM = re.compile(r"\(?\d{1,3}[.)]")
_CITATION = re.compile(r"\s?\[\^?\d+(?:\s*[,;–-]\s*\d+)*\]")
_PRONOUN = re.compile(
    r"(?:it|its|they|their|them|he|his|him|she|her|this|that|these|those|such|both|the (?:former|latter))\b", re.IGNORECASE
)
_CLAUSES = re.compile(
    r";\s+|,\s+(?:and|but|while|whereas)\s+(?=(?:the|a|an|it|they|he|she|this|these|its|their|his|her)\b|[A-Z])"
)
_SHORTEST_CLAUSE = 4  # words
_TALK = re.compile(
    r"""^(?:(?:hi|hello|hey|thanks|thank\ you|sure|certainly|of\ course|absolutely|(?:great|good)\ question|you['’]re\ welcome)
        \b[^.]{0,40}$
    |(?:i\ hope|let\ me\ know|feel\ free|please\ (?:let|feel)|if\ you\ have\ any|(?:here|below)(?:['’]s|\ is|\ are))\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_DECLINES = re.compile(
    r"""\b(?:no|not|none|nothing|nowhere|never|neither|nor|without|cannot|unable|unknown|unclear|unspecified|unavailable|unanswer\w*
    |insufficient|lack\w*|missing|absent|silent|fails?|sorry|afraid|apolog\w+|regret\w*|unfortunately|contact|consult|ask|check|visit
    |refer|see|provide|clarify|depends)\b|n['’]t\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words of which a refusal has at least one: other sentences are claims, whatever a detector makes of them."""
_NO_CLAIM_ENDS = (":", "?", "\uff1f", "\u061f")  # the last two: question marks, full-width and Arabic


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of a prompt passage, as the premise of an entailment."""

    passage: int
    premise: str
    words: frozenset[str]
    sentences: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence that says something: its words, the readings of it, and the windows it is held against.

    A sentence is supported where all statements of one reading are: the sentence as it stands; after the sentence before, where
    it begins with a pronoun; or its clauses one by one, which different passages may support.
    """

    sentence: Span
    words: str
    readings: tuple[tuple[str, ...], ...]
    windows: tuple[_Window, ...]

    def pairs(self) -> list[tuple[str, str]]:
        if _quoting(self) is not None:
            return []
        hypotheses = dict.fromkeys(hypothesis for reading in self.readings for hypothesis in reading)
        return [(window.premise, hypothesis) for hypothesis in hypotheses for window in self.windows]


def groundedness(
    traces: Sequence[Trace],
    entailer: Entailer,
    *,
    threshold: float = 0.5,
    max_windows: int = 12,
    abstention: AbstentionDetector | None = None,
) -> list[GroundednessResult]:
    """Judge every sentence of every answer against its prompt, all in one call to the entailer.

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
    if max_windows < 1:
        message = f"max_windows is {max_windows}; a sentence needs at least one window to be held against"
        raise InvalidValueError(message)
    claims = [_claims(trace, max_windows) for trace in traces]
    if abstention is not None:
        claims = _without_refusals(claims, traces, abstention)
    related = relations(entailer, (pair for each in claims for claim in each for pair in claim.pairs()))
    return [
        _result([_support(claim, related, threshold) for claim in each], trace)
        for trace, each in zip(traces, claims, strict=True)
    ]


def _claims(trace: Trace, max_windows: int) -> list[_Claim]:
    prompt, _ = trace.effective_prompt
    if trace.answer is None or prompt is None:
        return []
    premises = [window for index, passage in enumerate(prompt) for window in _windows(index, passage)]
    claims: list[_Claim] = []
    before = ""
    for span in sentences(trace.answer):
        if (words := _claim_in(span.of(trace.answer))) is not None:
            text = words if len(words.split()) >= _FRAGMENT else f"{trace.question.text} {words}"
            claims.append(_Claim(span, words, _readings(text, before), _nearest(text, premises, max_windows)))
            before = words
    return claims


def _without_refusals(
    claims: Sequence[Sequence[_Claim]], traces: Sequence[Trace], detector: AbstentionDetector
) -> list[list[_Claim]]:
    """Leave out sentences that decline to answer the trace's question; those have a word that says so."""
    items = [
        [ScoringItem(trace.question.text, claim.words, user_question=trace.question.text) for claim in each]
        for trace, each in zip(traces, claims, strict=True)
    ]
    verdicts = abstentions(detector, (item for each in items for item in each))
    return [
        [
            claim
            for claim, item in zip(each, asked, strict=True)
            if verdicts[item] != "wholly" or not _DECLINES.search(claim.words)
        ]
        for each, asked in zip(claims, items, strict=True)
    ]


def _claim_in(sentence: str) -> str | None:
    """Reduce a sentence to what it claims, None where it claims nothing."""
    if _HEADING.match(sentence):
        return None
    text = " ".join(_CITATION.sub("", _MARKER.sub("", flatten(sentence).strip())).split())
    if text.endswith(_NO_CLAIM_ENDS) or _TALK.match(text) or _NUMBER_OF_ITEM.fullmatch(text) or not any(map(str.isalnum, text)):
        return None
    return text


def _readings(text: str, before: str) -> tuple[tuple[str, ...], ...]:
    """List the ways in which a sentence may be supported.

    >>> _readings("It was sold in 1990, and the buyer closed it.", "Acme made bells.")  # doctest: +NORMALIZE_WHITESPACE
    (('It was sold in 1990, and the buyer closed it.',),
     ('Acme made bells. It was sold in 1990, and the buyer closed it.',),
     ('It was sold in 1990', 'the buyer closed it.'))
    """
    found: list[tuple[str, ...]] = [(text,)]
    if before and _PRONOUN.match(text):
        found.append((f"{before} {text}",))
    clauses = tuple(part.strip() for part in _CLAUSES.split(text))
    if len(clauses) > 1 and all(len(clause.split()) >= _SHORTEST_CLAUSE for clause in clauses):
        found.append(clauses)
    return tuple(found)


def _windows(index: int, passage: Passage) -> list[_Window]:
    text = passage.text
    if not text.strip():
        return []
    pieces = [Span(0, len(text))]
    if len(text.split()) > _WHOLE:
        pieces = windows(sentences(text), size=_WINDOW, length=lambda span: len(span.of(text).split()))
    premises = [prepend_title(passage.title, piece.of(text).strip()) for piece in pieces]
    return [_Window(index, premise, content_words(premise), _sentences_of(premise)) for premise in premises]


def _sentences_of(text: str) -> frozenset[str]:
    return frozenset(_normalise(line) for part in text.split("\n") for line in (part, *_sentence_texts(part)))


def _sentence_texts(text: str) -> Iterator[str]:
    return (span.of(text) for span in sentences(text))


def _normalise(text: str) -> str:
    """Reduce a text to its words: what is the same up to case, punctuation and markup is a quotation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _nearest(hypothesis: str, premises: Sequence[_Window], most: int) -> tuple[_Window, ...]:
    wanted = content_words(hypothesis)
    return tuple(sorted(premises, key=lambda window: -len(window.words & wanted))[:most])


def _support(claim: _Claim, related: Mapping[tuple[str, str], tuple[float, float, float]], threshold: float) -> SentenceSupport:
    """Hold a claim against its windows: the best reading speaks, of a reading the weakest statement."""
    if not claim.windows:
        return SentenceSupport(claim.sentence.start, claim.sentence.end, 0.0, supported=False, passage=None)
    if (quoted := _quoting(claim)) is not None:
        return SentenceSupport(claim.sentence.start, claim.sentence.end, 1.0, supported=True, passage=quoted.passage)
    read = [[_best(hypothesis, claim.windows, related) for hypothesis in reading] for reading in claim.readings]
    probability, window = max((min(statements) for statements in read), key=lambda found: found[0])
    return SentenceSupport(
        start=claim.sentence.start,
        end=claim.sentence.end,
        probability=probability,
        supported=probability >= threshold,
        passage=claim.windows[window].passage,
        contradiction=max(related[window.premise, claim.readings[0][0]][2] for window in claim.windows),
    )


def _quoting(claim: _Claim) -> _Window | None:
    """Return a window that has the claim word for word, as a sentence or a line of its own; None where none has."""
    words = _normalise(claim.words)
    return next((window for window in claim.windows if words and words in window.sentences), None)


def _best(
    hypothesis: str, windows: Sequence[_Window], related: Mapping[tuple[str, str], tuple[float, float, float]]
) -> tuple[float, int]:
    """Return the highest P(entailment) that a window gives, and which one does."""
    found = [related[window.premise, hypothesis][0] for window in windows]
    best = max(range(len(found)), key=found.__getitem__)
    return found[best], best


def _result(supports: Sequence[SentenceSupport], trace: Trace) -> GroundednessResult:
    share = sum(support.supported for support in supports) / len(supports) if supports else None
    return GroundednessResult(tuple(supports), share, trace.effective_prompt[1])
