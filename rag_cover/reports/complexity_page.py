"""How hard questions are for what was retrieved, as the page draws it: over a data set, and for one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_cover.complexity import Complexity, ComplexitySummary, DocumentEvidence, KindGroup
from rag_cover.complexity.standing import Standing, standing_of
from rag_cover.placeholder import is_identifier
from rag_cover.reports.complexity_text import STANDING_WORDS, standing_sentence, standings_sentence
from rag_cover.reports.figures import Bar, Track, draw_stacked_bar, track_of
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import SHARE, interval_text, percent

__all__ = ["ComplexityView", "DocumentView", "EvidenceView", "KindRow", "WordView", "complexity_view", "evidence_view"]

_COLOURS: Mapping[Standing, str] = {
    Standing.ANSWERABLE: "answered",
    Standing.COMPLEX: "unused",
    Standing.UNANSWERABLE: "missing",
}
_LEVELS = 4  # shades by which a word shows how much a passage is about it


@dataclass(frozen=True, slots=True)
class KindRow:
    """The questions of one kind."""

    name: str
    is_complex: str
    interval: str
    track: Track | None
    answerable: str
    n: int


@dataclass(frozen=True, slots=True)
class ComplexityView:
    """All that the page shows of a data set's complexity, but for the single questions."""

    sentence: str
    bar: Bar
    kinds: tuple[KindRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordView:
    """A word of the question; ``level``, from 0 to 3, is how much the passage is about it."""

    text: str
    level: int
    value: str


@dataclass(frozen=True, slots=True)
class DocumentView:
    """What one passage says of its question; ``number`` is the passage's in the trace."""

    number: int | None
    answers: str
    is_enough: bool
    words: tuple[WordView, ...]
    failure: str


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """Where one question stands, and the evidence of each passage."""

    standing: str
    css: str
    best: str
    sentence: str
    basis: str
    documents: tuple[DocumentView, ...]


def complexity_view(summary: ComplexitySummary) -> ComplexityView:
    """Gather what is shown of a data set's complexity."""
    noun = "question" if summary.traces == summary.questions else "trace"
    parts = [
        (_COLOURS[each], words, f"{summary.standings[each]:,}", summary.standings[each] / summary.traces)
        for each, words in STANDING_WORDS.items()
    ]
    return ComplexityView(
        sentence=standings_sentence(summary.standings, noun),
        bar=draw_stacked_bar("questions", parts),
        kinds=tuple(map(_kind, summary.by_kind)) if len(summary.by_kind) > 1 else (),
        notes=summary.notes,
    )


def evidence_view(complexity: Complexity, numbers: Mapping[str, int]) -> EvidenceView:
    """Gather what is shown of one question; ``numbers`` are its passages', by `Passage.key`."""
    standing = standing_of(complexity)
    likely = "" if complexity.probability is None else f"P(complex) = {complexity.probability:.2f}"
    judged = {"gold": "judged by the references", "draft": "judged by a draft answer", "none": "judged without references"}
    return EvidenceView(
        standing=str(standing),
        css=_COLOURS[standing],
        best="–" if complexity.max_answer_probability is None else f"{complexity.max_answer_probability:.2f}",
        sentence=standing_sentence(complexity),
        basis=" · ".join(part for part in (likely, judged[complexity.references]) if part),
        documents=tuple(_document(document, complexity, numbers) for document in complexity.documents),
    )


def _kind(group: KindGroup) -> KindRow:
    return KindRow(
        name=group.name,
        is_complex=percent(group.is_complex.estimate),
        interval=interval_text(group.is_complex, SHARE),
        track=track_of(group.is_complex, SHARE),
        answerable=percent(group.answerable.estimate),
        n=group.n,
    )


def _document(document: DocumentEvidence, complexity: Complexity, numbers: Mapping[str, int]) -> DocumentView:
    probability = document.answer_probability
    scale = max((value for each in complexity.documents for value in each.relevance), default=1.0)
    return DocumentView(
        number=numbers.get(document.passage),
        answers="–" if probability is None else f"{probability:.2f}",
        is_enough=probability is not None and probability >= complexity.t_ans,
        words=tuple(
            WordView(_word(place, token), _level(value, max(1.0, scale)), f"{value:.2f}")
            for place, (token, value) in enumerate(zip(complexity.tokens, document.relevance, strict=False), 1)
        ),
        failure=one_line(f"{document.failure.kind}: {document.failure.message}", limit=200) if document.failure else "",
    )


def _word(place: int, token: str) -> str:
    """Show a word of the question; of a redacted one, which word it is."""
    return f"word {place}" if is_identifier(token) else one_line(token, limit=60)


def _level(value: float, most: float) -> int:
    """Shade a relevance: as a probability where all are at most 1, else by its share of the greatest."""
    return min(_LEVELS - 1, int(_LEVELS * value / most))
