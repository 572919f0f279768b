"""Losses that the judge is not sure of, with both texts that it read, so that a reader decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.english.words import content_words
from rag_cover.measures import TraceResult
from rag_cover.questions import Passage, Role
from rag_cover.reports.sanitise import clip
from rag_cover.texts import sentences

__all__ = ["UnclearLoss", "find_nearest_part", "list_unclear_losses"]

_SHOWN = 320  # characters of each text: a few lines of half a page's width
_READ = 20_000  # characters in which the nearest part is looked for


@dataclass(frozen=True, slots=True)
class UnclearLoss:
    """One sub-question that the answer does not cover, and the two texts that leave open where it was lost.

    ``passage`` is empty and ``passage_number`` None where no single passage was judged. ``verdict`` says both probabilities.
    """

    number: int
    text: str
    is_core: bool
    answer: str
    answer_probability: str
    passage: str
    passage_number: int | None
    passage_probability: str
    verdict: str


def list_unclear_losses(
    result: TraceResult, rows: Sequence[tuple[int, SubQuestionCoverage]], numbers: Mapping[str, int]
) -> tuple[UnclearLoss, ...]:
    """Show every loss that is not clear; ``numbers`` are those of the passages, by `Passage.key`."""
    coverage = result.coverage
    if coverage is None:
        return ()
    return tuple(
        _unclear_loss(number, row, coverage, result, numbers)
        for number, row in rows
        if row.loss is not None and not row.is_loss_clear
    )


def find_nearest_part(text: str, question: str, *, limit: int = _SHOWN) -> str:
    """Return a text that fits into ``limit`` characters, or the part around its sentence with the most words of a question.

    >>> find_nearest_part("Short.", "What is short?")
    'Short.'
    >>> find_nearest_part("It rains often. The tower is high. Nobody came here.", "How high is the tower?", limit=30)
    '… The tower is high. …'
    """
    if len(text) <= limit:
        return text
    found = sentences(text[:_READ])
    if not found:
        return clip(text, limit)
    asked = content_words(question)
    first = max(range(len(found)), key=lambda index: (len(asked & content_words(found[index].of(text))), -index))
    start, end = found[first].start, found[first].end
    for following in found[first + 1 :]:
        if following.end - start > limit:
            break
        end = following.end
    end = min(end, start + limit)
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"


def _unclear_loss(
    number: int, row: SubQuestionCoverage, coverage: CoverageResult, result: TraceResult, numbers: Mapping[str, int]
) -> UnclearLoss:
    answer = f"{row.answer.probability:.2f}" if row.answer else ""
    likely = _likeliest(row, coverage, result)
    passage, verdict = likely or (None, None)
    passage_number = numbers.get(passage.key) if passage else None
    probability = _passage_probability(row, verdict)
    where = f"passage {passage_number}" if passage_number else "the passages"
    declines = ", which declines it" if row.evidence and row.evidence.contradicted else ""
    return UnclearLoss(
        number=number,
        text=clip(row.text, 500),
        is_core=row.role == Role.CORE,
        answer=find_nearest_part(result.trace.answer or "", row.text),
        answer_probability=answer,
        passage=find_nearest_part(passage.text, row.text) if passage else "",
        passage_number=passage_number,
        passage_probability=probability,
        verdict=" · ".join([f"answer {answer}{declines}", *([f"{where} {probability}"] if probability else [])]) + ": unclear",
    )


def _likeliest(row: SubQuestionCoverage, coverage: CoverageResult, result: TraceResult) -> tuple[Passage, Verdict] | None:
    """Find the passage most likely to cover a sub-question; of a loss on the way out of the prompt, one of the prompt first."""
    chunks = {passage.key: passage for passage in result.trace.chunks}
    judged = [
        (chunks[key], verdict) for key, verdict in zip(coverage.chunk_keys, row.chunks or (), strict=False) if key in chunks
    ]
    prompt = {passage.key for passage in result.trace.effective_prompt[0] or ()}
    inside = [pair for pair in judged if pair[0].key in prompt] if row.loss is Loss.UNUSED else []
    return max(inside or judged, key=lambda pair: pair[1].probability, default=None)


def _passage_probability(row: SubQuestionCoverage, verdict: Verdict | None) -> str:
    if verdict is not None:
        return f"{verdict.probability:.2f}"
    return f"{row.evidence.prompt:.2f}" if row.evidence and row.evidence.prompt else ""
