"""The statements of an answer with what each cites, and the sources that the answer as a whole lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_cover.backends import Span
from rag_cover.citations.markers import Citation, Marker, Numbering, find_markers, split_bibliography, strip_markers
from rag_cover.english.claims import sentences_with_headings
from rag_cover.grounding.statements import Statement, statements_of
from rag_cover.spans.field_aliases import CITED
from rag_cover.spans.payloads import answer_of, citations_of, decode_value
from rag_cover.traces import Trace

__all__ = ["CitedStatement", "read_cited_statements"]


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement of an answer, and what it cites, in order; ``listed`` where that is a list for the answer as a whole."""

    statement: Statement
    citations: tuple[Citation, ...]
    listed: bool = False


def read_cited_statements(trace: Trace, *, first_number: int = 1) -> list[CitedStatement]:
    """Read what each statement of an answer cites of its prompt.

    A citation belongs to the sentence that it stands in, one before the first word of a sentence to the sentence before it. An
    answer whose sentences cite nothing may list its sources: at its end, in a structured answer (JSON text) or in the trace's
    metadata by a name of `CITED`; each statement then cites all of these. Places in a structured answer are those in its text.
    """
    answer, listed = _answer_and_list(trace)
    body, bibliography = split_bibliography(answer)
    numbering = Numbering.of(trace.effective_prompt[0] or (), first=first_number)
    found = _markers_by_statement(body, statements_of(body, trace.question.text, strip=strip_markers))
    if any(marker.numbers or marker.target for _, markers in found for marker in markers):
        numbering = _begin_at(numbering, [number for _, markers in found for each in markers for number in each.numbers])
        cited = [(statement, [each for marker in markers for each in numbering.read(marker)]) for statement, markers in found]
        if any(citations for _, citations in cited):
            return [CitedStatement(statement, tuple(citations)) for statement, citations in cited]
    whole = _listed_citations(numbering, find_markers(bibliography), listed)
    return [CitedStatement(statement, whole, listed=bool(whole)) for statement, _ in found]


def _answer_and_list(trace: Trace) -> tuple[str, Sequence[Any]]:
    """Return the text of an answer, out of a structured one too, and the sources that it lists beside it."""
    structured = decode_value(trace.answer)
    if isinstance(structured, Mapping) and (text := answer_of(structured)):
        return text, citations_of(structured) or _list_in(trace.metadata)
    return trace.answer or "", _list_in(trace.metadata)


def _list_in(metadata: Mapping[str, Any]) -> Sequence[Any]:
    return citations_of({name: metadata[name] for name in CITED if name in metadata})


def _listed_citations(numbering: Numbering, markers: Sequence[Marker], listed: Sequence[Any]) -> tuple[Citation, ...]:
    if markers:
        numbering = _begin_at(numbering, [number for marker in markers for number in marker.numbers])
        return tuple(dict.fromkeys(citation for marker in markers for citation in numbering.read(marker)))
    return tuple(dict.fromkeys(_begin_at(numbering, listed).read_list(listed)))


def _begin_at(numbering: Numbering, cited: Sequence[Any]) -> Numbering:
    """Let numbers begin at 0 where 0 is cited, and no source has this number."""
    numbers = [each.get("source_id", each.get("id")) if isinstance(each, Mapping) else each for each in cited]
    zero = any(not isinstance(number, bool) and number in (0, "0") for number in numbers)
    return numbering.from_zero() if zero and 0 not in numbering.numbers and 1 in numbering.numbers else numbering


def _markers_by_statement(text: str, statements: Sequence[Statement]) -> list[tuple[Statement, list[Marker]]]:
    """Give each statement the markers of its sentence, and those that stand alone or first in what follows it."""
    found: list[tuple[Statement, list[Marker]]] = [(statement, []) for statement in statements]
    places = {statement.sentence: place for place, statement in enumerate(statements)}
    last = -1  # the statement before
    markers, end = find_markers(text), 0
    for span in sentences_with_headings(text):
        inside = [marker for marker in markers if span.start <= marker.start < span.end]
        leading = _leading(text, span, inside) if "\n" not in text[end : span.start] else []
        if not strip_markers(span.of(text)).strip(" .,;:()[]-*"):
            leading = inside
        if last >= 0:
            found[last][1].extend(leading)
        place = places.get(span)
        if place is not None:
            found[place][1].extend(marker for marker in inside if marker not in leading or last < 0)
            last = place
        end = span.end
    return found


def _leading(text: str, span: Span, markers: Sequence[Marker]) -> list[Marker]:
    """List the markers before the first word of a sentence; one that a small letter follows is its subject, and stays."""
    found: list[Marker] = []
    start = span.start
    for marker in markers:
        if marker.target or any(map(str.isalnum, text[start : marker.start])):
            break
        found.append(marker)
        start = marker.end
    follows = next((char for char in text[start : span.end] if char.isalnum()), "")
    return [] if follows.islower() else found
