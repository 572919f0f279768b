"""A tree of spans as a trace: its question, its steps, what its answer was written from, its answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from rag_cover.errors import InputError
from rag_cover.questions import json_value
from rag_cover.spans.calls import calls_of
from rag_cover.spans.field_aliases import CITED
from rag_cover.spans.model import CallSpan, SpanTree, ancestors, keys_of
from rag_cover.spans.payloads import answer_of, citations_of, question_of
from rag_cover.spans.steps import steps_of
from rag_cover.stores.validation import trace_from
from rag_cover.traces import Trace

__all__ = ["trace_of_tree"]

_Passages = Sequence[Mapping[str, Any]]

_SHORTEST_DRAFT = 12
"""Characters of a text that is an answer's draft where a later prompt holds it."""


def trace_of_tree(tree: SpanTree) -> Trace:
    """Make a tree a trace.

    Raises:
        InputError: no question was recorded, at the root or at a retrieval.
    """
    steps = steps_of(tree)
    answer = _answer(tree)
    asked = (tree.root.query, question_of(tree.root.input), *(step["query"] for step in steps))
    question = next((text for text in asked if text and text.strip()), None)
    if question is None:
        problem = f"no question was recorded for the trace {tree.id!r}: its root {tree.root.name!r} has no input that holds one"
        raise InputError(problem)
    data = {
        "id": tree.id,
        "question": {"text": question, "references": tree.root.references},
        "steps": steps,
        "prompt": _name_as_in(steps, _prompt(tree, answer)),
        "answer": answer,
        "sub_questions": next((span.sub_questions for span in tree.spans if span.sub_questions), None),
        "calls": calls_of(tree, steps, answer),
        "pipeline": tree.root.pipeline,
        "tags": tree.root.tags,
        "thread_id": _first(span.thread_id for span in (tree.root, *tree.spans)),
        "user_id": _first(span.user_id for span in (tree.root, *tree.spans)),
        "metadata": ({"name": tree.root.name} if tree.root.name else {}) | _cited(tree) | dict(tree.root.metadata),
    }
    return trace_from(data)


def _cited(tree: SpanTree) -> dict[str, Any]:
    """Keep the sources that a structured answer lists, which its text does not have."""
    found = citations_of(tree.root.output)
    return {CITED[0]: json_value(found)} if found else {}


def _first(said: Iterable[str | None]) -> str | None:
    return next(filter(None, said), None)


def _answer(tree: SpanTree) -> str | None:
    """Return what the root says is its answer, else the last model's output, else the root's output as it is."""
    output = tree.root.output
    if tree.root.answer is not None:
        return tree.root.answer
    if tree.root.kind in ("retriever", "reranker", "postprocessor"):
        return None
    from_models = (span.answer or answer_of(span.output) for span in reversed(tree.spans) if span.kind == "llm")
    found = answer_of(output) or next(filter(None, from_models), None)
    return found if found or not output else json.dumps(json_value(output), ensure_ascii=False)


def _prompt(tree: SpanTree, answer: str | None) -> _Passages | None:
    """Return what the answer was written from; None where no span says so.

    That is what the synthesis was given that no inner question stands around, or that wrote the answer; of several, the last
    that wrote it, or most of it, else the last; one whose text was not recorded may have written it, where it came after all
    others. Without one, what the tools of an agent returned, where they retrieved; else what the only synthesis was given;
    nothing, where a model was asked after a retrieval, or wrote the answer, and was shown none of it.
    """
    syntheses = [span for span in tree.spans if span.kind == "synthesis"]
    parents = {span.id: span.parent_id for span in tree.spans}
    questions = {span.id for span in tree.spans if span.kind == "question"}
    around = {span.id: next((above for above in ancestors(span.id, parents) if above in questions), None) for span in syntheses}
    own = [span for span in syntheses if around[span.id] in (None, tree.root.id)]
    wrote = [span for span in syntheses if answer is not None and span.answer == answer]
    tools = [span for span in tree.spans if span.kind == "tool" and span.error is None and span is not tree.root]
    if own or wrote:
        written = [span for span in own if span in wrote] or _find_later(own, wrote, tree) or wrote
        return _read_with_drafts(written[-1], tree) if written else _read(own, tree, answer)
    if _around_others(tools, tree, parents):
        return [passage for span in tools for passage in span.passages]
    if syntheses and _has_written_alone(tree, answer, parents, questions):
        return []
    if syntheses:
        return syntheses[0].consumed if len(syntheses) == 1 else None
    return [] if _is_left_out(tree, parents) else None


def _find_later(own: Sequence[CallSpan], wrote: Sequence[CallSpan], tree: SpanTree) -> list[CallSpan]:
    """Return the syntheses after those inside that wrote the answer, whose own text holds it, too, or was not recorded."""
    places = {span.id: place for place, span in enumerate(tree.spans)}
    last = max((places[span.id] for span in wrote), default=len(places))
    after = [span for span in own if places[span.id] > last]
    return [span for span in after if span.answer is None or any(str(each.answer) in span.answer for each in wrote)]


def _has_written_alone(tree: SpanTree, answer: str | None, parents: Mapping[str, str | None], questions: set[str]) -> bool:
    """Tell whether a model that no inner question stands around, and that was shown nothing, wrote the answer."""
    inner = questions - {tree.root.id}
    models = [
        span for span in tree.spans if span.kind == "llm" and span.prompt and answer is not None and span.answer == answer
    ]
    return any(not inner & set(ancestors(span.id, parents)) for span in models)


def _read_with_drafts(writer: CallSpan, tree: SpanTree) -> _Passages:
    """Return what a model read, and what was read for the drafts that it was shown, as where an answer is refined.

    A search query that a model wrote is no draft, and neither are a few words, such as a grade.
    """
    read, shown = list(writer.consumed), [writer.prompt or ""]
    queries = {span.query.strip() for span in tree.spans if span.query and span.kind in ("retriever", "tool")}
    models = [span for span in tree.spans if span.kind == "synthesis" and span.prompt and span is not writer]
    for span in reversed(models):
        draft = (span.answer or "").strip()
        is_draft = len(draft) >= _SHORTEST_DRAFT and " " in draft and draft not in queries
        if is_draft and any(draft in prompt for prompt in shown):
            read = [each for each in read if str(each["text"]).strip() != draft]  # a part that a tool told says it in its place
            read = [each for each in span.consumed if not keys_of([each]) & keys_of(read)] + read
            shown.append(span.prompt or "")
    return read


def _is_left_out(tree: SpanTree, parents: Mapping[str, str | None]) -> bool:
    """Return whether a model that stayed without passages was asked after a retrieval, other than to choose by."""
    choosing = {span.id for span in tree.spans if span.kind in ("retriever", "reranker", "postprocessor")}
    found = False
    for span in tree.spans:
        found = found or (span.kind in ("retriever", "tool") and bool(span.passages))
        if found and span.kind == "llm" and span.prompt and not choosing & set(ancestors(span.id, parents)):
            return True
    return False


def _read(syntheses: Sequence[CallSpan], tree: SpanTree, answer: str | None) -> _Passages:
    """Return what an answer was written from that none of these wrote: all they read, if a model wrote it after them."""
    if not any(span.kind == "llm" and answer is not None and span.answer == answer for span in tree.spans):
        return _nearest(syntheses, answer).consumed
    read: list[Mapping[str, Any]] = []
    for passage in chain.from_iterable(span.consumed for span in syntheses):
        if not keys_of([passage]) & keys_of(read):
            read.append(passage)
    return read


def _nearest(syntheses: Sequence[CallSpan], answer: str | None) -> CallSpan:
    """Return the last that wrote most of an answer, or from which most of it was taken; the last of all if none did."""
    return max(reversed(syntheses), key=lambda span: _count_shared(span.answer or "", answer or ""))


def _count_shared(one: str, other: str) -> int:
    """Count the characters of a text that makes up half of the other at least; 0: neither does."""
    shorter, longer = sorted((one.strip(), other.strip()), key=len)
    return len(shorter) if shorter in longer and 2 * len(shorter) >= len(longer) else 0


def _name_as_in(steps: Sequence[Mapping[str, Any]], prompt: _Passages | None) -> _Passages | None:
    """Give passages whose text was changed on the way the ids that the steps gave them."""
    found = [passage for step in steps for passage in step["passages"] if passage.get("id")]
    names = {(passage["id"].rstrip("~"), passage["text"]): passage["id"] for passage in found}
    if prompt is None:
        return None
    return [{**passage, "id": names.get((passage.get("id"), passage["text"]), passage.get("id"))} for passage in prompt]


def _around_others(tools: Sequence[CallSpan], tree: SpanTree, parents: Mapping[str, str | None]) -> bool:
    """Return whether every tool returned something, and one of them by retrieving."""
    retrieved = [span.id for span in tree.spans if span.kind in ("retriever", "reranker", "postprocessor")]
    above = {name for span_id in retrieved for name in ancestors(span_id, parents)}
    return bool(tools) and all(tool.passages for tool in tools) and any(tool.id in above for tool in tools)
