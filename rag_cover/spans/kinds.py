"""Infer the kind of untyped spans from their inputs and outputs, and what language models were shown.

Frameworks whose parts are plain functions say only that one began and ended: with documents in its output that were nowhere
before it retrieved, with fewer of those that it was given it filtered, and with a text it wrote.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from rag_cover.spans.model import CallSpan, Key, SpanKind, SpanTree, ancestors, keys_of
from rag_cover.spans.shown import find_shown

__all__ = ["read_spans"]

_Passages = Sequence[Mapping[str, Any]]

_CHOOSING = ("retriever", "reranker", "postprocessor")


def read_spans(tree: SpanTree) -> SpanTree:
    """Return a tree whose spans of kind ``other`` have the kind of what they did, and whose models say what they read.

    What the root was given without retrieving it, or found itself, is a retrieval of its own.
    """
    reader = _Reader(tree.root)
    spans = [*_find_given(tree.root), *(each for span in tree.spans for each in reader.read(span))]
    known = [*tree.root.consumed, *tree.root.remembered, *reader.known]
    inner = _inside_choices(spans, tree.root.answer)
    read = _Shown(spans, known, reader.told).read(inner)
    if any(one is not other for one, other in zip(read, spans, strict=True)):  # models say it better than what looks like them
        unsure = {span.id for span in read if span.id in reader.guessed and span.answer != tree.root.answer}
        read = [replace(span, kind="other") if span.id in unsure else span for span in read]
    return replace(tree, spans=tuple(read), root=next(span for span in read if span.id == tree.root.id))


def _inside_choices(spans: Sequence[CallSpan], answer: str | None) -> set[str]:
    """Name what a retriever or a reranker asks to choose by; a part that retrieves and answers asks for the answer, too."""
    parents = {span.id: span.parent_id for span in spans}
    choosing = {span.id for span in spans if span.kind in _CHOOSING}
    inner = {span.id for span in spans if choosing & set(ancestors(span.id, parents))}
    return inner - {span.id for span in spans if answer is not None and span.answer == answer}


class _Reader:
    """Walks a tree from its leaves; knows what was found below each span and is still in use, and where models were asked."""

    def __init__(self, root: CallSpan) -> None:
        self._root = root
        self.known: list[Mapping[str, Any]] = []
        self.told: list[Mapping[str, Any]] = []
        self._live: dict[str | None, list[_Passages]] = defaultdict(list)
        self._asked: set[str | None] = set()
        self.guessed: set[str] = set()

    def read(self, span: CallSpan) -> list[CallSpan]:
        """Return a span as what it is; the root with what only it tells of having found before it."""
        live = self._live.pop(span.id, [])
        read = self._infer_kind(span, live)
        outer = self._live[span.parent_id]
        if read.kind in _CHOOSING or (read.kind == "tool" and not live):  # a tool around a retriever says again what that found
            self.known += read.passages
            given = keys_of(read.consumed)
            self._live[span.parent_id] = [each for each in outer if not given & keys_of(each)] + [read.passages]
        else:
            outer += live
        if read.kind == "tool" and live:
            self.told[:0] = read.passages  # before what the engine within it answered, which is the same
        elif read.kind == "question" and live and read.answer and read.id != self._root.id:
            self.told.append({"text": read.answer, "title": read.name or None})
        if read.kind == "llm" or span.id in self._asked:
            self._asked.add(span.parent_id)
        return [*_find_retrievals(read), read] if span.id == self._root.id and not live else [read]

    def _infer_kind(self, span: CallSpan, live: Sequence[_Passages]) -> CallSpan:
        if span.kind != "other":
            return replace(span, query=span.query or self._root.query) if span.kind in _CHOOSING else span
        if not span.passages:
            return self._writing(span)
        given, below = keys_of(span.consumed), keys_of([*chain.from_iterable(live)])
        new = [passage for passage in span.passages if not keys_of([passage]) & given]
        if not new:
            did_nothing = not span.joins and _same(span.passages, span.consumed) and not _is_scored_anew(span)
            return span if live or did_nothing else self._choosing(span)
        own = [passage for passage in new if not keys_of([passage]) & below]
        kept = keys_of(span.passages)
        if own and not live and span.consumed and not all(keys_of([passage]) & kept for passage in span.consumed):
            return self._choosing(span)  # what it was given is there in other words
        if own or not all(keys_of([passage]) & kept for each in live for passage in each):
            return replace(span, kind="retriever", passages=new, query=span.query or self._root.query)
        return span

    def _writing(self, span: CallSpan) -> CallSpan:
        if not span.consumed or span.answer is None or span.id in self._asked:
            return span
        self.guessed.add(span.id)
        return replace(span, kind="synthesis")

    def _choosing(self, span: CallSpan) -> CallSpan:
        kind: SpanKind = "reranker" if "rerank" in span.name.lower() or _is_scored_anew(span) else "postprocessor"
        return replace(span, kind=kind, query=span.query or self._root.query)


def _is_scored_anew(span: CallSpan) -> bool:
    """Return whether a passage came back with another score, as from what orders passages even where their order is kept."""
    before = {key: passage.get("score") for passage in span.consumed for key in keys_of([passage])}
    scored = [passage for passage in span.passages if passage.get("score") is not None]
    return any(before[key] != passage["score"] for passage in scored for key in keys_of([passage]) & set(before))


def _find_given(root: CallSpan) -> list[CallSpan]:
    if root.kind != "question" or not root.consumed:
        return []
    return [replace(_retrieval(root, "given"), passages=root.consumed, ended_at=root.started_at)]


def _find_retrievals(root: CallSpan) -> list[CallSpan]:
    found = [passage for passage in root.passages if not keys_of([passage]) & keys_of(root.consumed)]
    return [replace(_retrieval(root, "own"), passages=found)] if root.kind == "question" and found else []


def _retrieval(root: CallSpan, name: str) -> CallSpan:
    return replace(root, id=f"{root.id}/{name}", parent_id=root.id, kind="retriever", answer=None, consumed=(), error=None)


class _Shown:
    """What models and syntheses read: the passages whose text their models were shown."""

    def __init__(self, spans: Sequence[CallSpan], known: _Passages, told: _Passages) -> None:
        self._spans, self._known, self._told = spans, known, told
        parents = {span.id: span.parent_id for span in spans}
        written = {span.id for span in spans if span.kind == "synthesis"}
        self._prompts: dict[str, list[str]] = defaultdict(list)
        self._within: set[str] = set()
        for span in spans:
            if span.kind == "llm" and span.prompt:
                around = written & set(ancestors(span.id, parents))
                self._within |= {span.id} if around else set()
                for name in around:
                    self._prompts[name].append(span.prompt)

    def read(self, choosing: Collection[str]) -> list[CallSpan]:
        """Return the spans with what they read; models that were asked to choose by stay as they are."""
        return [span if span.id in choosing else self._read(span) for span in self._spans]

    def _read(self, span: CallSpan) -> CallSpan:
        if span.id in self._prompts:
            shown = find_shown(self._prompts[span.id], span.consumed or self._known)
            blank = [passage for passage in span.consumed if not passage["text"].strip()]  # such as an image
            return replace(span, consumed=[*shown, *blank])
        if span.kind != "llm" or not span.prompt or span.id in self._within:
            return span
        shown = self._find_shown(span.prompt)
        return replace(span, kind="synthesis", consumed=shown) if shown else span

    def _find_shown(self, prompt: str) -> list[Mapping[str, Any]]:
        """Find what a prompt holds, what tools said of it besides where that says more than the passages within it."""
        shown = find_shown([prompt], self._known)
        return shown + [
            said for said in find_shown([prompt], self._told) if not any(each["text"].strip() in said["text"] for each in shown)
        ]


def _same(passages: _Passages, consumed: _Passages) -> bool:
    """Return whether passages are all that were consumed, in their order, each once."""
    given, kept = _distinct(consumed), _distinct(passages)
    return len(given) == len(kept) and all(one & other for one, other in zip(given, kept, strict=True))


def _distinct(passages: _Passages) -> list[set[Key]]:
    distinct: list[set[Key]] = []
    for keys in (keys_of([passage]) for passage in passages):
        if not any(keys & each for each in distinct):
            distinct.append(keys)
    return distinct
