"""Spans of a traced pipeline put together: one tree for each root, children before parents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

__all__ = ["CallSpan", "Key", "SpanKind", "SpanTree", "ancestors", "keys_of", "trees"]

SpanKind = Literal["retriever", "reranker", "postprocessor", "tool", "llm", "question", "synthesis", "other"]
Key = tuple[str, str]
"""What a passage is known by: its id, or its text."""

_Passage = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallSpan:
    """One call of a pipeline: what it is, where it hangs, what went in and came out.

    ``passages`` are what a retriever, reranker or tool returned, ``consumed`` what a reranker or synthesis was given, and
    ``remembered`` what a root still has from earlier questions. A span ``joins`` where it was given several lists of them.
    A ``postprocessor`` reranks or filters, as what it returned shows; a ``question`` is one that the pipeline asked on its
    way. ``prompt`` is all that a language model was shown.
    ``sub_questions`` are those that the pipeline took its question apart into, None where it did not. ``query`` and ``answer``
    are given where they are known, and need not be looked for in ``input`` and ``output``. ``call`` is what is known of a
    call of a language model, as fields of `rag_cover.llm_calls.LLMCall`; None where the span is none, or it was not recorded.
    """

    id: str
    trace_id: str
    parent_id: str | None = None
    kind: SpanKind = "other"
    name: str = ""
    input: Any = None
    output: Any = None
    query: str | None = None
    answer: str | None = None
    prompt: str | None = None
    passages: Sequence[_Passage] = ()
    consumed: Sequence[_Passage] = ()
    remembered: Sequence[_Passage] = ()
    joins: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: str | None = None
    pipeline: str | None = None
    references: Sequence[str] = ()
    sub_questions: Sequence[Mapping[str, Any]] | None = None
    call: Mapping[str, Any] | None = None
    tags: Sequence[str] = ()
    thread_id: str | None = None
    user_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpanTree:
    """A root span and all that hangs under it, children before parents."""

    id: str
    root: CallSpan
    spans: tuple[CallSpan, ...]


def trees(spans: Iterable[CallSpan]) -> Iterator[SpanTree]:
    """Put interleaved spans together, one tree for each root, in the order of the traces' first spans.

    A span whose parent is missing hangs under its trace's first root; where the root itself is missing, one stands in for it.
    Of two spans with one id, the later is kept.
    """
    traces: dict[str, dict[str, CallSpan]] = defaultdict(dict)
    for span in spans:
        traces[span.trace_id][span.id] = span
    for trace_id, members in traces.items():
        yield from _trees(trace_id, members)


def _trees(trace_id: str, members: Mapping[str, CallSpan]) -> Iterator[SpanTree]:
    children: dict[str, list[CallSpan]] = defaultdict(list)
    for span in members.values():
        if span.parent_id is not None and span.parent_id in members:
            children[span.parent_id].append(span)
    roots = sorted((span for span in members.values() if span.parent_id is None), key=_start)
    main = roots[0] if roots else CallSpan(id="", trace_id=trace_id)
    children[main.id] += [span for span in members.values() if span.parent_id is not None and span.parent_id not in members]
    _join_loops(main, roots, members, children)
    for root in roots or [main]:
        name = trace_id if len(roots) < 2 else f"{trace_id}/{root.id}"  # noqa: PLR2004 -- one root needs no telling apart
        yield SpanTree(name, root, tuple(_post_order(root, children)))


def _join_loops(
    main: CallSpan, roots: Sequence[CallSpan], members: Mapping[str, CallSpan], children: dict[str, list[CallSpan]]
) -> None:
    """Hang spans that are their own ancestors under the main root: they are reached from nowhere else."""
    reached = {span.id for root in (roots or [main]) for span in _post_order(root, children)}
    for span in sorted(members.values(), key=_start):
        if span.id not in reached:
            children[main.id].append(span)
            reached |= {found.id for found in _post_order(span, children)}


def _post_order(root: CallSpan, children: Mapping[str, Sequence[CallSpan]]) -> Iterator[CallSpan]:
    """Walk children before parents, siblings by their start; without recursion, and once where spans form a loop."""
    seen = {root.id}
    waiting: list[tuple[CallSpan, bool]] = [(root, False)]
    while waiting:
        span, done = waiting.pop()
        if done:
            yield span
            continue
        waiting.append((span, True))
        below = [child for child in children.get(span.id, ()) if child.id not in seen]
        seen |= {child.id for child in below}
        waiting.extend((child, False) for child in sorted(below, key=_start, reverse=True))


def _start(span: CallSpan) -> tuple[bool, datetime]:
    start = span.started_at
    if start is None:
        return True, datetime.max.replace(tzinfo=UTC)
    return False, start if start.tzinfo else start.replace(tzinfo=UTC)


def ancestors(span_id: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yield what a span hangs under, the nearest first; each once where spans form a loop."""
    seen = {span_id}
    above = parents.get(span_id)
    while above is not None and above not in seen:
        yield above
        seen.add(above)
        above = parents.get(above)


def keys_of(passages: Collection[_Passage]) -> set[Key]:
    """Return what passages are known by: two with one id or one text are the same."""
    ids = {("id", str(passage["id"])) for passage in passages if passage.get("id") is not None}
    return ids | {("text", str(passage["text"])) for passage in passages if passage["text"]}
