"""What the corpus has on sub-questions that were not retrieved, as the page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.coverage import CorpusPassage, Loss, SubQuestionCoverage
from rag_cover.reports.sanitise import clip, one_line
from rag_cover.reports.sub_question_state import describe_search

__all__ = ["CorpusSearchView", "NearPassage", "corpus_search_views"]

_SHOWN = 320  # characters of a passage


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage of the corpus near a sub-question: its title or id, its beginning, and where searches find it."""

    heading: str
    text: str
    place: str


@dataclass(frozen=True, slots=True)
class CorpusSearchView:
    """What the corpus has on one sub-question, in words, and the nearest passages."""

    number: int
    text: str
    said: str
    passages: tuple[NearPassage, ...]


def corpus_search_views(rows: Sequence[tuple[int, SubQuestionCoverage]]) -> tuple[CorpusSearchView, ...]:
    """Show what the corpus has on each sub-question that was looked for in it."""
    return tuple(
        CorpusSearchView(
            number,
            clip(row.text, 500),
            f"{said[:1].upper()}{said[1:]}" if (said := _say(row)) else "",
            tuple(map(_near, row.corpus.passages)),
        )
        for number, row in rows
        if row.corpus is not None
    )


def _say(row: SubQuestionCoverage) -> str:
    if row.corpus is None:
        return ""
    if row.loss is Loss.NOT_IN_CORPUS and not row.is_loss_clear:
        return f"unclear whether it is in the corpus: the likeliest passage covers it with {row.corpus.likeliest:.2f}"
    failed = f" ({one_line(row.corpus.error, limit=200)})" if row.corpus.error else ""
    return describe_search(row.corpus) + failed


def _near(passage: CorpusPassage) -> NearPassage:
    question = f"{passage.question_rank}" if passage.question_rank is not None else "not found"
    place = f"covers it with {passage.probability:.2f} · rank {passage.rank} for it, {question} for the question"
    return NearPassage(one_line(passage.title or passage.id or "", limit=120), clip(passage.text, _SHOWN), place)
