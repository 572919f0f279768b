"""A trace without its texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rag_cover.llm_calls import LLMCall
from rag_cover.nuggets import Nugget, NuggetSource
from rag_cover.questions import Passage, ReadOnly
from rag_cover.redaction.hashing import Redaction
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

__all__ = ["passage_keys", "redact_trace"]

_LABELS = ("retriever", "query_type")
"""Metadata by which results are grouped, and whose values are names in tables."""

_TELEMETRY = "opentelemetry"
_READ = frozenset((*_LABELS, _TELEMETRY, "prompt_tokens"))
_PLACE = re.compile("[0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{2}")  # the ids of a distributed trace are drawn at random


def redact_trace(trace: Trace, by: Redaction) -> Trace:
    """Replace every text, tag and id of a trace; its numbers, times, roles and the names of models stay."""
    question = trace.question.model_copy(
        update={
            "text": by.question(trace.question),
            "id": _identifier(trace.question.id, by),
            "references": by.texts(trace.question.references),
        }
    )
    keys = passage_keys(trace, by)
    return trace.model_copy(
        update={
            "question": question,
            "id": None if trace.id is None else by.trace(trace.id),
            "steps": tuple(_step(step, by) for step in trace.steps),
            "prompt": None if trace.prompt is None else _passages(trace.prompt, by),
            "answer": _text(trace.answer, by),
            "sub_questions": None
            if trace.sub_questions is None
            else tuple(
                each.model_copy(update={"text": by.text(each.text), "references": by.texts(each.references)})
                for each in trace.sub_questions
            ),
            "nuggets": None if trace.nuggets is None else tuple(_nugget(each, keys, by) for each in trace.nuggets),
            "samples": tuple(_samples(each, keys, by) for each in trace.samples),
            "calls": None if trace.calls is None else tuple(_call(each, keys, by) for each in trace.calls),
            "tags": tuple(map(by.identifier, trace.tags)),
            "thread_id": _identifier(trace.thread_id, by),
            "user_id": _identifier(trace.user_id, by),
            "metadata": _trace_metadata(trace.metadata, by),
        }
    )


def passage_keys(trace: Trace, by: Redaction) -> Mapping[str, str]:
    """Map the `Passage.key` of each passage of a trace to the key of its redacted passage."""
    places = [*(step.passages for step in trace.steps), trace.prompt or ()]
    return {passage.key: _key(passage, by) for passages in places for passage in passages}


def _key(passage: Passage, by: Redaction) -> str:
    bare = passage.model_copy(update={"metadata": ReadOnly()})
    return _passage(bare, by).key


def _step(step: RetrievalStep, by: Redaction) -> RetrievalStep:
    return step.model_copy(
        update={
            "query": by.text(step.query),
            "passages": _passages(step.passages, by),
            "id": by.step(step.id),
            "input_ids": tuple(map(by.step, step.input_ids)),
            "parent_id": None if step.parent_id is None else by.step(step.parent_id),
            "error": _text(step.error, by),
        }
    )


def _passages(passages: Iterable[Passage], by: Redaction) -> tuple[Passage, ...]:
    return tuple(_passage(passage, by) for passage in passages)


def _passage(passage: Passage, by: Redaction) -> Passage:
    return passage.model_copy(
        update={
            "text": by.text(passage.text),
            "id": _identifier(passage.id, by),
            "title": _text(passage.title, by),
            "metadata": ReadOnly(_value(passage.metadata, by)),
        }
    )


def _nugget(nugget: Nugget, keys: Mapping[str, str], by: Redaction) -> Nugget:
    return nugget.model_copy(
        update={
            "text": by.text(nugget.text),
            "id": _identifier(nugget.id, by),
            "question": _text(nugget.question, by),
            "sources": tuple(_source(source, keys, by) for source in nugget.sources),
            "metadata": ReadOnly(_value(nugget.metadata, by)),
        }
    )


def _source(source: NuggetSource, keys: Mapping[str, str], by: Redaction) -> NuggetSource:
    name = source.id
    if name is not None:
        name = by.trace(name) if source.kind == "answer" else _passage_name(name, keys, by)
    fragments = tuple(each.model_copy(update={"text": by.text(each.text)}) for each in source.fragments)
    return source.model_copy(update={"id": name, "fragments": fragments})


def _call(call: LLMCall, keys: Mapping[str, str], by: Redaction) -> LLMCall:
    return call.model_copy(
        update={
            "id": _identifier(call.id, by),
            "engine": _identifier(call.engine, by),
            "parent_id": None if call.parent_id is None else by.step(call.parent_id),
            "passages": None if call.passages is None else tuple(_passage_name(name, keys, by) for name in call.passages),
            "input": _text(call.input, by),
            "output": _text(call.output, by),
            "error": _text(call.error, by),
            "metadata": ReadOnly(_value(call.metadata, by)),
        }
    )


def _passage_name(name: str, keys: Mapping[str, str], by: Redaction) -> str:
    """Replace what a passage is named by: its key, or its id."""
    return keys.get(name, by.identifier(name))


def _samples(samples: SampleSet, keys: Mapping[str, str], by: Redaction) -> SampleSet:
    named = samples.passage
    return samples.model_copy(
        update={
            "step": None if samples.step is None else by.step(samples.step),
            "passage": None if named is None else _passage_name(named, keys, by),
            "samples": tuple(_sample(sample, by) for sample in samples.samples),
        }
    )


def _sample(sample: Sample, by: Redaction) -> Sample:
    return sample.model_copy(update={"text": by.text(sample.text)})


def _trace_metadata(metadata: Mapping[str, Any], by: Redaction) -> ReadOnly:
    plain = {name: value for name, value in metadata.items() if name not in (*_LABELS, _TELEMETRY)}
    labels = {name: _label(metadata[name], by) for name in _LABELS if name in metadata}
    places = {_TELEMETRY: _places(metadata[_TELEMETRY], by)} if _TELEMETRY in metadata else {}
    redacted = {**_value(plain, by), **labels, **places}
    return ReadOnly({_name(name, by): redacted[_name(name, by)] for name in metadata})


def _value(value: Any, by: Redaction) -> Any:
    match value:
        case str():
            return by.text(value)
        case Mapping():
            return {_name(name, by): _value(item, by) for name, item in value.items()}
        case list() | tuple():
            return [_value(item, by) for item in value]
        case _:
            return value


def _name(name: str, by: Redaction) -> str:
    return name if name in _READ or name in by.names else by.identifier(name)


def _label(value: Any, by: Redaction) -> Any:
    """Replace the name of a group, or such names by the ids of steps."""
    match value:
        case str():
            return by.identifier(value)
        case Mapping():
            return {by.step(step): _label(item, by) for step, item in value.items()}
        case list() | tuple():
            return [_label(item, by) for item in value]
        case _:
            return value


def _places(value: Any, by: Redaction) -> Any:
    """Keep where the trace and its steps stand in a distributed trace."""
    match value:
        case str() if _PLACE.fullmatch(value):
            return value
        case Mapping():
            known = {name: item for name, item in value.items() if name in ("root", "steps")}
            return {
                **{name: _places(item, by) for name, item in known.items()},
                **{by.step(name): _places(item, by) for name, item in value.items() if name not in known},
            }
        case list() | tuple():
            return [_places(item, by) for item in value]
        case _:
            return _value(value, by)


def _text(text: str | None, by: Redaction) -> str | None:
    return None if text is None else by.text(text)


def _identifier(name: str | None, by: Redaction) -> str | None:
    return None if name is None else by.identifier(name)
