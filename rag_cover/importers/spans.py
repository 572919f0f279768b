"""Spans of a traced pipeline put together: one trace for each root, with its retrieval, rerank and tool steps in order."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from rag_cover.errors import InputError
from rag_cover.importers.payloads import answer_of, question_of
from rag_cover.questions import json_value
from rag_cover.stores.validation import trace_from
from rag_cover.traces import Trace

__all__ = ["Span", "SpanKind", "Tree", "trace_of", "trees"]

SpanKind = Literal["retriever", "reranker", "tool", "llm", "other"]
_Passage = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """One call of a pipeline: what it is, where it hangs, what went in and came out.

    ``passages`` are what a retriever, reranker or tool returned, ``consumed`` what a reranker was given.
    """

    id: str
    trace_id: str
    parent_id: str | None = None
    kind: SpanKind = "other"
    name: str = ""
    input: Any = None
    output: Any = None
    query: str | None = None
    passages: Sequence[_Passage] = ()
    consumed: Sequence[_Passage] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: str | None = None
    pipeline: str | None = None
    references: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tree:
    """A root span and all that hangs under it, children before parents."""

    id: str
    root: Span
    spans: tuple[Span, ...]


def trees(spans: Iterable[Span]) -> Iterator[Tree]:
    """Put interleaved spans together, one tree for each root, in the order of the traces' first spans.

    A span whose parent is missing hangs under its trace's first root; where the root itself is missing, one stands in for it.
    Of two spans with one id, the later is kept.
    """
    traces: dict[str, dict[str, Span]] = defaultdict(dict)
    for span in spans:
        traces[span.trace_id][span.id] = span
    for trace_id, members in traces.items():
        yield from _trees(trace_id, members)


def trace_of(tree: Tree) -> Trace:
    """Make a tree a trace.

    Raises:
        InputError: no question was recorded, at the root or at a retrieval.
    """
    steps = _Steps().of(tree)
    question = question_of(tree.root.input) or next((step["query"] for step in steps if step["query"].strip()), None)
    if question is None:
        problem = f"no question was recorded for the trace {tree.id!r}: its root {tree.root.name!r} has no input that holds one"
        raise InputError(problem)
    data = {
        "id": tree.id,
        "question": {"text": question, "references": tree.root.references},
        "steps": steps,
        "answer": _answer(tree),
        "pipeline": tree.root.pipeline,
        "metadata": ({"name": tree.root.name} if tree.root.name else {}) | dict(tree.root.metadata),
    }
    return trace_from(data)


def _trees(trace_id: str, members: Mapping[str, Span]) -> Iterator[Tree]:
    children: dict[str, list[Span]] = defaultdict(list)
    for span in members.values():
        if span.parent_id is not None and span.parent_id in members:
            children[span.parent_id].append(span)
    roots = sorted((span for span in members.values() if span.parent_id is None), key=_start)
    main = roots[0] if roots else Span(id="", trace_id=trace_id)
    children[main.id] += [span for span in members.values() if span.parent_id is not None and span.parent_id not in members]
    _join_loops(main, roots, members, children)
    for root in roots or [main]:
        name = trace_id if len(roots) < 2 else f"{trace_id}/{root.id}"  # noqa: PLR2004 -- one root needs no telling apart
        yield Tree(name, root, tuple(_post_order(root, children)))


def _join_loops(main: Span, roots: Sequence[Span], members: Mapping[str, Span], children: dict[str, list[Span]]) -> None:
    """Hang spans that are their own ancestors under the main root: they are reached from nowhere else."""
    reached = {span.id for root in (roots or [main]) for span in _post_order(root, children)}
    for span in sorted(members.values(), key=_start):
        if span.id not in reached:
            children[main.id].append(span)
            reached |= {found.id for found in _post_order(span, children)}


def _post_order(root: Span, children: Mapping[str, Sequence[Span]]) -> Iterator[Span]:
    """Walk children before parents, siblings by their start; without recursion, and once where spans form a loop."""
    seen = {root.id}
    waiting: list[tuple[Span, bool]] = [(root, False)]
    while waiting:
        span, done = waiting.pop()
        if done:
            yield span
            continue
        waiting.append((span, True))
        below = [child for child in children.get(span.id, ()) if child.id not in seen]
        seen |= {child.id for child in below}
        waiting.extend((child, False) for child in sorted(below, key=_start, reverse=True))


def _start(span: Span) -> tuple[bool, datetime]:
    start = span.started_at
    if start is None:
        return True, datetime.max.replace(tzinfo=UTC)
    return False, start if start.tzinfo else start.replace(tzinfo=UTC)


def _answer(tree: Tree) -> str | None:
    """Return what the root says is its answer, else the last model's output, else the root's output as it is."""
    output = tree.root.output
    if tree.root.kind in ("retriever", "reranker"):
        return None
    from_models = (answer_of(span.output) for span in reversed(tree.spans) if span.kind == "llm")
    found = answer_of(output) or next(filter(None, from_models), None)
    return found if found or not output else json.dumps(json_value(output), ensure_ascii=False)


class _Steps:
    """Collects the steps of one tree; knows which of them are still in the context."""

    def __init__(self) -> None:
        self._found: list[dict[str, Any]] = []
        self._live: dict[str, set[tuple[str, str]]] = {}
        self._texts: dict[str, str] = {}

    def of(self, tree: Tree) -> list[dict[str, Any]]:
        """Return the steps, children before parents."""
        parents = {span.id: span.parent_id for span in tree.spans}
        for span in tree.spans:
            if span.kind in ("retriever", "reranker", "tool"):
                self._add(span, [step["id"] for step in self._found if span.id in _ancestors(step["id"], parents)])
        ids = {step["id"] for step in self._found}
        for step in self._found:
            step["parent_id"] = next((above for above in _ancestors(step["id"], parents) if above in ids), None)
        return self._found

    def _add(self, span: Span, inner: list[str]) -> None:
        passages = [self._filled(passage) for passage in span.passages]
        match span.kind:
            case "retriever" if inner and self._only_from(passages, inner):
                self._step(span, "filter", passages, [step for step in inner if step in self._live])
            case "retriever":
                self._step(span, "retrieve", passages, [])
            case "reranker":
                self._step(span, "rerank", passages, self._inputs(span))
            case "tool" if passages and not inner:
                self._step(span, "tool", passages, [])

    def _step(self, span: Span, kind: str, passages: list[dict[str, Any]], inputs: list[str]) -> None:
        self._found.append(
            {
                "id": span.id,
                "kind": kind,
                "query": span.query or question_of(span.input) or "",
                "passages": passages,
                "input_ids": inputs,
                "started_at": span.started_at,
                "duration_s": _duration(span),
                "error": span.error,
            }
        )
        if kind in ("filter", "rerank"):
            self._live = {step: keys for step, keys in self._live.items() if inputs and step not in inputs}
        self._live[span.id] = {key for passage in passages for key in _keys(passage)}
        self._texts |= {passage["id"]: passage["text"] for passage in passages if passage.get("id") and passage["text"]}

    def _inputs(self, span: Span) -> list[str]:
        """Name the steps still in the context that share a passage with what the reranker was given; none: all of them."""
        given = {key for passage in span.consumed for key in _keys(passage)}
        return [step for step, keys in self._live.items() if keys & given]

    def _only_from(self, passages: Sequence[_Passage], inner: Sequence[str]) -> bool:
        """Tell whether a retriever around others returned nothing but what they found: it selects, it does not retrieve."""
        below = {key for step in inner for key in self._live.get(step, ())}
        return bool(passages) and all(below & _keys(passage) for passage in passages)

    def _filled(self, passage: _Passage) -> dict[str, Any]:
        """Give a passage that was recorded by its id alone the text that an earlier step recorded."""
        text = passage["text"] or self._texts.get(passage.get("id") or "", "")
        return {**passage, "text": text}


def _keys(passage: _Passage) -> set[tuple[str, str]]:
    found = {("id", str(passage["id"]))} if passage.get("id") is not None else set()
    return found | ({("text", str(passage["text"]))} if passage["text"] else set())


def _ancestors(span_id: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    seen = {span_id}
    above = parents.get(span_id)
    while above is not None and above not in seen:
        yield above
        seen.add(above)
        above = parents.get(above)


def _duration(span: Span) -> float | None:
    if span.started_at is None or span.ended_at is None:
        return None
    if (span.started_at.tzinfo is None) != (span.ended_at.tzinfo is None):
        return None
    seconds = (span.ended_at - span.started_at).total_seconds()
    return seconds if seconds >= 0 else None
