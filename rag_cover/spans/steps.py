"""The retrieval, rerank and tool steps of a tree of spans, in the order in which they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_cover.spans.model import CallSpan, Key, SpanTree, ancestors, keys_of
from rag_cover.spans.payloads import question_of

__all__ = ["duration_of", "steps_of"]

_Passage = Mapping[str, Any]


def steps_of(tree: SpanTree) -> list[dict[str, Any]]:
    """Return the steps of a tree as JSON data, children before parents."""
    return _Steps().of(tree)


class _Steps:
    """Collects the steps of one tree; knows which of them are still in the context."""

    def __init__(self) -> None:
        self._found: list[dict[str, Any]] = []
        self._live: dict[str, set[Key]] = {}
        self._seen: set[Key] = set()
        self._texts: dict[str, str] = {}

    def of(self, tree: SpanTree) -> list[dict[str, Any]]:
        """Return the steps, children before parents."""
        parents = {span.id: span.parent_id for span in tree.spans}
        for span in tree.spans:
            if span is not tree.root or span.kind != "question":
                self._add(span, [step["id"] for step in self._found if span.id in ancestors(step["id"], parents)])
        ids = {step["id"] for step in self._found}
        for step in self._found:
            step["parent_id"] = next((above for above in ancestors(step["id"], parents) if above in ids), None)
        return self._found

    def _add(self, span: CallSpan, inner: list[str]) -> None:
        passages = [self._fill(passage) for passage in span.passages]
        match span.kind:
            case "retriever" if inner and (passages or not span.error):
                self._selection(span, passages, [step for step in inner if step in self._live])
            case "retriever":
                self._step(span, "retrieve", passages, [])
            case "reranker" | "postprocessor":
                self._reranking(span)
            case "tool" if passages and not inner:
                self._step(span, "tool", passages, [])
            case "tool" | "question" if span.error and not self._is_told(inner):
                self._step(span, "tool", [], [])

    def _step(self, span: CallSpan, kind: str, passages: list[dict[str, Any]], inputs: list[str]) -> None:
        self._found.append(
            {
                "id": span.id,
                "kind": kind,
                "query": span.query or question_of(span.input) or "",
                "passages": passages,
                "input_ids": inputs,
                "started_at": span.started_at,
                "duration_s": duration_of(span),
                "error": span.error,
            }
        )
        if kind in ("filter", "fuse", "rerank"):
            self._live = {step: keys for step, keys in self._live.items() if inputs and step not in inputs}
        self._seen |= keys_of(passages)
        self._live[span.id] = keys_of(passages)
        self._texts |= {passage["id"]: passage["text"] for passage in passages if passage.get("id") and passage["text"]}

    def _is_told(self, inner: list[str]) -> bool:
        """Return whether an inner step says already what went wrong."""
        return any(step["error"] for step in self._found if step["id"] in inner)

    def _inputs(self, span: CallSpan) -> list[str]:
        """Name the steps still in the context that share a passage with what the reranker was given; none: all of them."""
        given = keys_of(span.consumed)
        return [step for step, keys in self._live.items() if keys & given]

    def _selection(self, span: CallSpan, passages: list[dict[str, Any]], inner: list[str]) -> None:
        """Take a retriever around others for a fusion of what they found, around one for a choice of it.

        What it found itself is a step of its own. One that only passes on what was found, such as in other words, is none.
        """
        joins = len(inner) > 1
        below = {key for step in inner for key in self._live[step]}
        found = [passage for step in self._found if step["id"] in inner for passage in step["passages"]]
        own = [passage for passage in passages if not below & keys_of([passage]) and not _is_part(passage, found)]
        if own:
            self._step(replace(span, id=f"{span.id}/own"), "retrieve", own, [])
            inner = [*inner, f"{span.id}/own"]
        if passages and joins:
            self._step(span, "fuse", passages, inner)
        elif span.error or not _is_same(passages, found):
            self._step(span, "rerank" if _is_reordered(passages, found) else "filter", passages, inner)

    def _reranking(self, span: CallSpan) -> None:
        """Take a reranker's passages for a choice of what it was given; what no step had brought is a step of its own."""
        unknown = [passage for passage in map(self._fill, span.consumed) if not self._seen & keys_of([passage])]
        if unknown:
            self._step(replace(span, id=f"{span.id}/given"), "retrieve", unknown, [])
        passages = [self._fill(passage) for passage in span.passages]
        inputs = self._inputs(span)
        given = keys_of(span.consumed)
        new = [passage for passage in passages if span.consumed and not given & keys_of([passage])]
        own = [passage for passage in new if not _is_part(passage, span.consumed)]
        if own:
            self._step(replace(span, id=f"{span.id}/own"), "retrieve", own, [])
            inputs = [*inputs, f"{span.id}/own"]
        if span.joins and len(inputs) > 1:
            self._step(span, "fuse", passages, inputs)
            return
        filters = span.kind == "postprocessor" and _in_order(passages, span.consumed)
        self._step(span, "filter" if filters else "rerank", passages, inputs)

    def _fill(self, passage: _Passage) -> dict[str, Any]:
        """Give a passage that was recorded by its id alone its text, and one whose text was changed on the way its own id."""
        known = self._texts.get(passage.get("id") or "", "")
        if not passage["text"] or not known or passage["text"] == known:
            return {**passage, "text": passage["text"] or known}
        return self._fill({**passage, "id": f"{passage['id']}~"})


def _key(passage: _Passage) -> tuple[str, str]:
    return str(passage.get("id")), str(passage["text"])


def _is_part(passage: _Passage, others: Sequence[_Passage]) -> bool:
    """Return whether a passage is what was taken out of another: extractors keep neither its text nor its id."""
    text = str(passage["text"]).strip()
    return bool(text) and any(text in str(each["text"]) for each in others)


def _is_same(passages: Sequence[_Passage], found: Sequence[_Passage]) -> bool:
    """Tell whether passages are what was found, as it was."""
    kept = [(each["text"], each.get("score")) for each in passages]
    return bool(passages) and kept == [(each["text"], each.get("score")) for each in found]


def _is_reordered(passages: Sequence[_Passage], found: Sequence[_Passage]) -> bool:
    """Tell whether what was found, or parts of it, stands in another order."""
    places = []
    for passage in passages:
        keys = keys_of([passage])
        alike = (place for place, each in enumerate(found) if keys & keys_of([each]) or _is_part(passage, [each]))
        places.append(next(alike, None))
    known = [place for place in places if place is not None]
    return known != sorted(known)


def _in_order(passages: Sequence[_Passage], consumed: Sequence[_Passage]) -> bool:
    """Return whether passages are some of those consumed, in the same order."""
    remaining = iter(consumed)
    return bool(consumed) and all(any(keys_of([passage]) & keys_of([each]) for each in remaining) for passage in passages)


def duration_of(span: CallSpan) -> float | None:
    """Return how long a span took, in seconds; None where that is not known."""
    if span.started_at is None or span.ended_at is None:
        return None
    if (span.started_at.tzinfo is None) != (span.ended_at.tzinfo is None):
        return None
    seconds = (span.ended_at - span.started_at).total_seconds()
    return seconds if seconds >= 0 else None
