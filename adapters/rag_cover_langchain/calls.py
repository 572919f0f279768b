"""LangChain's runs as calls of a recording: what to read when a run begins and when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import LLMResult

from rag_cover.questions import json_value
from rag_cover.recording import Call
from rag_cover_langchain.passages import record_of
from rag_cover_langchain.payloads import (
    answer_text,
    citations_in,
    contexts_in,
    count_lists,
    documents_in,
    has_answer,
    has_history,
    question_in,
)
from rag_cover_langchain.run_details import describe_model, describe_reply

__all__ = [
    "Run",
    "completion_text",
    "failure_of",
    "is_interruption",
    "names_of",
    "prompt_text",
    "read_answer",
    "read_inputs",
    "read_output",
    "read_prompt",
    "read_reply",
    "read_said",
    "read_state",
    "read_tool",
    "records_of",
    "system_text",
    "tool_query",
]


Records = Sequence[Mapping[str, Any]]


@dataclass(slots=True)
class Run(Call):
    """A run as a call; ``inputs`` are kept until it ends, to recognise what is new in its output.

    ``found`` names the passages that were found for a question so far, on its outermost run. A graph keeps a state. A run was
    ``given`` contexts as texts, ``has_history`` where it was given earlier turns of a conversation, and
    ``is_evaluation`` where it was given an answer beside its question. ``said`` is what a run inside another one would answer,
    were it asked alone. ``system`` is a chat model's system prompt. The run of a graph's node ``is_interrupted`` where the
    graph waits for somebody.
    """

    inputs: Any = None
    is_graph: bool = False
    given: tuple[str, ...] = ()
    has_history: bool = False
    is_evaluation: bool = False
    said: str | None = None
    system: str | None = None
    is_interrupted: bool = False
    found: set[str] = field(default_factory=set)


def records_of(value: object) -> list[dict[str, Any]]:
    """Copy what the documents in a value hold."""
    return [record_of(document) for document in documents_in(value)]


def read_inputs(run: Run, inputs: object) -> None:
    """Note what a chain was given: a question, and documents where there are some."""
    run.inputs = inputs
    run.query = question_in(inputs)
    run.consumed, run.given = records_of(inputs), tuple(contexts_in(inputs))
    run.joins = bool(run.consumed) and count_lists(inputs) > 1
    if run.kind == "question":
        run.has_history, run.is_evaluation = has_history(inputs), has_answer(inputs)
    if run.kind == "question" and not run.consumed:  # further in, they are what was found, written out
        run.consumed = [{"text": text} for text in run.given]


def read_state(run: Run, graph: Run, root: Run) -> None:
    """Note what a graph's state holds from earlier questions when one of its nodes begins: what nobody found for this one.

    The state tells the question, too, where a graph goes on after it was interrupted.
    """
    graph.is_graph, root.query = True, root.query or run.query
    root.has_history = root.has_history or has_history(run.inputs)
    if not root.found:
        known = names_of(graph.consumed) | names_of(root.remembered)
        root.remembered = [*root.remembered, *(each for each in run.consumed if names_of([each]).isdisjoint(known))]


def read_output(run: Run, output: object, root: Run) -> None:
    """Note what a chain inside another returned: documents, or what it wrote from those it was given.

    Without documents where it was given some, it kept none of them. What is remembered from earlier questions and handed on as
    it is was not found; only what writes reads it.
    """
    run.joins = run.joins and count_lists(output) <= 1
    old = names_of(root.remembered) - root.found
    held = set(map(id, documents_in(run.inputs))) if run.consumed else set()
    found = [(record_of(each), id(each) in held) for each in documents_in(output)]
    run.passages = [record for record, is_held in found if not old or not is_held or names_of([record]).isdisjoint(old)]
    new = [each for each in run.consumed if not old or names_of([each]).isdisjoint(old)]
    if run.passages or found:
        run.consumed = _drop_found_again(new, found)
    elif run.consumed:
        run.answer = answer_text(output, run.inputs)
        if _is_emptied(run.inputs, output):
            run.kind, run.consumed = ("postprocessor" if new else "other"), new


def read_said(run: Run, output: object) -> None:
    """Note what a run that others are inside of would answer, were it asked alone."""
    if run.query and not isinstance(output, Document):
        run.said = answer_text(output, run.inputs)


def _drop_found_again(given: Records, found: Sequence[tuple[Mapping[str, Any], bool]]) -> Records:
    """Leave out of what a run was given what it found once more, beside what is new: these are other objects."""
    known = names_of(given)
    if all(is_held or not names_of([record]).isdisjoint(known) for record, is_held in found):  # nothing is new
        return given
    again = {name for record, is_held in found if not is_held for name in names_of([record])}
    return [each for each in given if names_of([each]).isdisjoint(again)]


def names_of(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Name passages: by their ids, else by their texts."""
    return {record.get("id") or record["text"] for record in records}


def read_answer(run: Run, output: object) -> None:
    """Note what the outermost chain returned: an answer, or the documents that a chain without one found."""
    run.answer, run.citations = answer_text(output, run.inputs), json_value(citations_in(output))
    if isinstance(output, Sequence):  # the states of graphs hold what earlier turns found, too
        run.passages = records_of(output)


def system_text(messages: Sequence[Sequence[BaseMessage]]) -> str | None:
    """Return a chat model's system prompt; None where it has none."""
    return "\n".join(message.text for each in messages for message in each if isinstance(message, SystemMessage)) or None


def is_interruption(error: BaseException) -> bool:
    """Return whether a graph's node did not fail, but waits for somebody."""
    return any(each.__name__ == "GraphInterrupt" for each in type(error).__mro__)


def prompt_text(messages: Sequence[Sequence[BaseMessage]]) -> str:
    """Return all that a chat model was shown, as one text."""
    return "\n".join(message.text for each in messages for message in each)


def read_prompt(run: Run, prompt: str, further: Mapping[str, Any], system: str | None = None) -> None:
    """Note what a language model is shown, and which it is."""
    run.prompt, run.system = prompt, system
    describe_model(run, further)


def read_reply(run: Run, response: LLMResult) -> None:
    """Note what a language model wrote, and what its reply tells of itself."""
    run.answer = completion_text(response)
    run.llm, run.llm_readers = run.llm or {}, (partial(describe_reply, response),)


def completion_text(response: LLMResult) -> str | None:
    """Return what a language model wrote first; None where it wrote nothing, as where it only calls tools."""
    generations = response.generations
    first = generations[0][0] if generations and generations[0] else None
    called = getattr(getattr(first, "message", None), "tool_calls", None)
    return None if first is None or called else first.text or None


def failure_of(error: BaseException) -> str | None:
    """Describe why a run failed; None for a stream that was abandoned and a graph that was interrupted or handed over."""
    if isinstance(error, GeneratorExit) or any(each.__name__ == "GraphBubbleUp" for each in type(error).__mro__):
        return None
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def tool_query(input_str: str, inputs: Mapping[str, Any] | None) -> str | None:
    """Return what a tool was asked."""
    return question_in(inputs) or question_in(input_str)


def read_tool(run: Run, output: object) -> None:
    """Note what a tool brought: its documents, else its text; that of a tool that failed says why."""
    message = _message_in(output)
    run.passages = records_of(output)
    text = message.text if message is not None else output if isinstance(output, str) else ""
    if message is not None and message.status == "error":
        run.error, run.passages = text or "the tool failed", ()
    elif not run.passages and text.strip():
        run.passages = [{"text": text, "title": run.name}]


def _message_in(output: object) -> ToolMessage | None:
    """Find a tool's message, which those that change the state of a graph return inside a command."""
    if isinstance(output, ToolMessage):
        return output
    update = getattr(output, "update", None)
    messages = update.get("messages", ()) if isinstance(update, Mapping) else ()
    return next((each for each in messages if isinstance(each, ToolMessage)), None)


def _is_emptied(given: object, output: object) -> bool:
    """Return whether a list of documents was given and an empty one came back in its place."""
    if isinstance(output, Mapping) and isinstance(given, Mapping):
        return any(_is_empty(value) and documents_in(given.get(name)) for name, value in output.items())
    return _is_empty(output)


def _is_empty(value: object) -> bool:
    return isinstance(value, list | tuple) and not value
