"""What a person can label: each verdict of an evaluation, with the fragment of the text that the judge relied upon."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rag_cover.backends import Span
from rag_cover.coverage import CoverageResult, SubQuestionCoverage, Verdict
from rag_cover.english.words import content_words
from rag_cover.errors import InvalidValueError
from rag_cover.measures import TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.question_keys import question_key
from rag_cover.questions import Passage, Question, Role, plain_query, prepend_title
from rag_cover.stats.logistic import recentre
from rag_cover.texts import sentences

__all__ = ["LabelItem", "find_fragment", "label_key", "list_items"]

_READ = 20_000  # characters of a text that are looked through for a fragment


@dataclass(frozen=True, slots=True)
class LabelItem:
    """One verdict: does an answer, or a passage, cover a sub-question (or state a nugget)?

    ``facet`` is the sub-question or nugget as it was judged. ``probability`` is the judge's, as if its cut were a half.
    ``fragment`` are code points of ``text``, None where the judge named none. ``disputed`` tells that another judge said
    otherwise.
    """

    key: str
    question: Question
    trace_id: str | None
    facet: str
    role: Role | None
    is_nugget: bool
    kind: Literal["answer", "passage"]
    text: str
    probability: float
    covered: bool
    certain: bool
    fragment: Span | None = None
    title: str | None = None
    passage_id: str | None = None
    disputed: bool = False

    @property
    def cluster(self) -> str:
        """Return the question that the verdict is resampled with."""
        return question_key(self.question)

    @property
    def counts_in_headline(self) -> bool:
        """Return whether the verdict is behind the share of core sub-questions that the answers cover."""
        return self.kind == "answer" and self.role == Role.CORE

    @property
    def judged_text(self) -> str:
        """Return the text as the judge read it: a passage with its title."""
        return prepend_title(self.title, self.text)


def label_key(facet: str, text: str) -> str:
    """Name a verdict by what was asked and the text, up to case and white space: labels are matched by the two.

    >>> label_key("Why blue?", "Air.") == label_key("why  BLUE", "air")
    True
    """
    place = f"{plain_query(facet)}\n{plain_query(text)}"
    return hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def list_items(results: Iterable[TraceResult], *, others: Iterable[TraceResult] = ()) -> list[LabelItem]:
    """List the verdicts of an evaluation, each once; those on blank texts, which nobody can label, are left out.

    Args:
        results: of the evaluation.
        others: results of the same traces by another judge.

    Raises:
        InvalidValueError: the texts were redacted.
    """
    found: dict[str, LabelItem] = {}
    for item in _items(results):
        found.setdefault(item.key, item)
    other = {item.key: item.covered for item in _items(others)}
    return [replace(item, disputed=other.get(item.key, item.covered) != item.covered) for item in found.values()]


def find_fragment(item: LabelItem) -> Span | None:
    """Return the fragment that the judge relied upon; where it named none, the sentence with most words of what was asked."""
    if item.fragment is not None and item.fragment.start < min(item.fragment.end, len(item.text)):
        return Span(item.fragment.start, min(item.fragment.end, len(item.text)))
    found = sentences(item.text[:_READ])
    if not found:
        return None
    asked = content_words(item.facet)
    return max(found, key=lambda span: (len(asked & content_words(span.of(item.text))), -span.start))


def _items(results: Iterable[TraceResult]) -> Iterator[LabelItem]:
    for result in results:
        if result.coverage is None:
            continue
        if Placeholder.read(result.trace.question.text):
            message = (
                "the texts of this evaluation were redacted, and nobody can label them; evaluate the traces without --redact"
            )
            raise InvalidValueError(message)
        chunks = {passage.key: passage for passage in result.trace.chunks}
        for each in result.coverage.sub_questions:
            yield from _of_answer(result, result.coverage, each)
            yield from _of_passages(result, result.coverage, each, chunks)


def _of_answer(result: TraceResult, coverage: CoverageResult, each: SubQuestionCoverage) -> Iterator[LabelItem]:
    text = result.trace.answer or ""
    if each.answer is None or not text.strip():
        return
    cut = coverage.threshold if coverage.reply_threshold is None else coverage.reply_threshold
    probability = each.evidence.answer if each.evidence else recentre(each.answer.probability, cut=cut)
    yield _item(result, coverage, each, each.answer, probability, Passage(text), "answer")


def _of_passages(
    result: TraceResult, coverage: CoverageResult, each: SubQuestionCoverage, chunks: Mapping[str, Passage]
) -> Iterator[LabelItem]:
    for key, verdict in zip(coverage.chunk_keys, each.chunks or (), strict=False):
        passage = chunks.get(key)
        if passage is not None and passage.text.strip():
            probability = recentre(verdict.probability, cut=coverage.threshold)
            yield _item(result, coverage, each, verdict, probability, passage, "passage")


def _item(  # one value of many parts
    result: TraceResult,
    coverage: CoverageResult,
    each: SubQuestionCoverage,
    verdict: Verdict,
    probability: float,
    passage: Passage,
    kind: Literal["answer", "passage"],
) -> LabelItem:
    text = prepend_title(passage.title, passage.text)
    return LabelItem(
        key=label_key(each.text, text),
        question=result.trace.question,
        trace_id=result.trace.id,
        facet=each.text,
        role=each.role,
        is_nugget=coverage.on_nuggets,
        kind=kind,
        text=passage.text,
        probability=probability,
        covered=verdict.covered,
        certain=verdict.certain,
        fragment=verdict.fragment,
        title=passage.title,
        passage_id=passage.id,
    )
