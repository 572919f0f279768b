"""The calls of language models in a tree of spans: which model was asked, with which passages before it, at what cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rag_cover.llm_calls import read_finish_reason
from rag_cover.questions import Passage, json_value
from rag_cover.spans.model import CallSpan, SpanTree, ancestors
from rag_cover.spans.payloads import answer_of
from rag_cover.spans.shown import find_shown
from rag_cover.spans.steps import duration_of

__all__ = ["call_data", "calls_of", "first_of", "whole_number"]

_MODELS = ("model_name", "model", "model_id")
_PROMPT_TOKENS = ("prompt_tokens", "input_tokens", "prompt_token_count")
_COMPLETION_TOKENS = ("completion_tokens", "output_tokens", "candidates_token_count")
_REASONS = ("finish_reason", "stop_reason", "finishReason", "done_reason")
_HIDDEN = "__REDACTED__"  # what OpenInference writes where inputs are hidden
_MOST_VALUES = 10_000

Step = Mapping[str, Any]


def call_data(output: Any, *known: Mapping[str, Any]) -> dict[str, Any]:
    """Read a call's model, tokens and finish reason; ``known`` values take precedence over those in the output."""
    told = {name: value for each in reversed(known) for name, value in each.items() if value is not None}
    read = {
        "model": _text(first_of(output, _MODELS)),
        "prompt_tokens": whole_number(first_of(output, _PROMPT_TOKENS)),
        "completion_tokens": whole_number(first_of(output, _COMPLETION_TOKENS)),
        "finish_reason": read_finish_reason(_text(first_of(output, _REASONS))),
    }
    return read | told


def calls_of(tree: SpanTree, steps: Sequence[Step], answer: str | None) -> list[dict[str, Any]] | None:
    """Return the calls of language models as JSON data, in the order in which they ended; None where none was recorded."""
    parents = {span.id: span.parent_id for span in tree.spans}
    names = {span.id: span.name for span in tree.spans}
    by_id = {span.id: span for span in tree.spans}
    kinds = {step["id"]: step["kind"] for step in steps}
    passages = [passage for step in steps for passage in step["passages"] if passage["text"].strip()]
    calls = []
    for span in (span for span in tree.spans if span.call is not None):
        step = next((above for above in ancestors(span.id, parents) if above in kinds), None)
        around = [by_id[above] for above in ancestors(span.id, parents) if above in by_id]
        call = {
            "id": span.id,
            "purpose": _purpose(span, kinds.get(step or ""), answer, around),
            "engine": _engine([each for each in around if each is not tree.root]) or names.get(span.parent_id or "") or None,
            "parent_id": step,
            "passages": [_key(each) for each in span.consumed] if span.kind == "synthesis" else _passages(span, passages),
            "started_at": span.started_at,
            "latency_s": duration_of(span),
            "error": span.error,
            **(span.call or {}),
        }
        calls.append(call)
    return calls or None


def first_of(payload: Any, names: Collection[str]) -> Any:
    """Find the value under one of some names that stands least deep in a payload, None where there is none."""
    found = (value for name, value in _values(payload) if name in names and isinstance(value, str | int | float))
    return next((value for value in found if value != ""), None)


def whole_number(value: Any) -> int | None:
    """Read a count, which exports may write as text or with a decimal point; None where it is none.

    >>> whole_number("12"), whole_number(3.0), whole_number(float("nan")), whole_number(-1)
    (12, 3, None, None)
    """
    match value:
        case bool():
            return None
        case str() if value.isdecimal() and len(value) < 16:  # noqa: PLR2004  # no count of tokens is longer
            return int(value)
        case int() if value >= 0:
            return value
        case float() if value >= 0 and value.is_integer():
            return int(value)
        case _:
            return None


def _purpose(span: CallSpan, step: str | None, answer: str | None, around: Sequence[CallSpan]) -> str | None:
    """Tell what a call was for: an answer where a synthesis asked, or where it wrote what a question was answered with."""
    if step in ("rerank", "retrieve", "tool"):
        return step
    if any(above.kind == "synthesis" for above in around):
        return "answer"
    written = (span.answer or answer_of(span.output) or "").strip()
    answers = [answer, *(above.answer for above in around if above.kind == "question")]
    return "answer" if written and written in [each.strip() for each in answers if each is not None] else None


def _engine(around: Sequence[CallSpan]) -> str | None:
    """Name the sub-engine that a call was made in, by the tool that it is where it is one; None outside of any."""
    engines = [each for each in around if each.kind in ("question", "tool")]
    if len(engines) > 1 and engines[0].kind == "question" and engines[1].kind == "tool":
        engines = engines[1:]
    return next((each.name for each in engines if each.name), None)


def _passages(span: CallSpan, passages: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Name the passages whose text was in a call's input, None where that is not known."""
    if span.prompt is not None:
        shown = span.prompt
    else:
        shown = "\n".join(value for _, value in _values(span.input) if isinstance(value, str))
    if not shown or _HIDDEN in shown:
        return None
    known = [{"text": passage["text"], "key": _key(passage)} for passage in passages]
    whole = [each for each in known if each["text"] in shown]
    found = whole if len(whole) == len(known) else find_shown([shown], known)
    return list(dict.fromkeys(each["key"] for each in found))


def _key(passage: Mapping[str, Any]) -> str:
    name = passage.get("id")
    return name or Passage.model_construct(text=passage["text"], id=None, title=passage.get("title")).key


def _values(payload: Any) -> Iterator[tuple[str, Any]]:
    """Walk a payload, what stands less deep first, each value with its name; of a huge one the beginning."""
    waiting: deque[tuple[str, Any]] = deque([("", payload)])
    seen = 0
    while waiting and seen < _MOST_VALUES:
        name, value = waiting.popleft()
        seen += 1
        match value:
            case Mapping():
                waiting.extend((str(key), item) for key, item in value.items())
            case list() | tuple():
                waiting.extend(_drop_name(value))
            case _:
                yield name, value


def _drop_name(values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return (("", value) for value in values)


def _text(value: Any) -> str | None:
    return None if value is None else str(json_value(value))
