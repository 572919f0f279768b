"""LangChain's runs as calls of a recording: what to read when a run begins and when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from rag_cover.recording import Call
from rag_cover_langchain.passages import record_of
from rag_cover_langchain.payloads import answer_text, contexts_in, documents_in, question_in

__all__ = [
    "Run",
    "completion_text",
    "failure_of",
    "names_of",
    "prompt_text",
    "read_answer",
    "read_inputs",
    "read_output",
    "read_state",
    "read_tool",
    "records_of",
    "tool_query",
]


@dataclass(slots=True)
class Run(Call):
    """A run as a call; ``inputs`` are kept until it ends, to recognise what is new in its output.

    ``found`` names the passages that were found for a question so far, on its outermost run. A graph keeps a state. A run
    ``has_context`` where it was given some as a text.
    """

    inputs: Any = None
    is_graph: bool = False
    has_context: bool = False
    found: set[str] = field(default_factory=set)


def records_of(value: object) -> list[dict[str, Any]]:
    """Copy what the documents in a value hold."""
    return [record_of(document) for document in documents_in(value)]


def read_inputs(run: Run, inputs: object) -> None:
    """Note what a chain was given: a question, and documents where there are some."""
    run.inputs = inputs
    run.query = question_in(inputs)
    run.consumed, context = records_of(inputs), contexts_in(inputs)
    run.has_context = bool(context)
    if run.kind == "question" and not run.consumed:  # further in, they are what was found, written out
        run.consumed = [{"text": text} for text in context]


def read_state(run: Run, graph: Run, root: Run) -> None:
    """Note what a graph's state holds from earlier questions when one of its nodes begins: what nobody found for this one.

    The state tells the question, too, where a graph goes on after it was interrupted.
    """
    graph.is_graph, root.query = True, root.query or run.query
    if not root.found:
        known = names_of(graph.consumed) | names_of(root.remembered)
        root.remembered = [*root.remembered, *(each for each in run.consumed if names_of([each]).isdisjoint(known))]


def read_output(run: Run, output: object, root: Run) -> None:
    """Note what a chain inside another returned: documents, or what it wrote from those it was given.

    Without documents where it was given some, it kept none of them. What is remembered from earlier questions and handed on as
    it is was not found; only what writes reads it.
    """
    old = names_of(root.remembered) - root.found
    held = set(map(id, documents_in(run.inputs))) if old else set()
    found = [(record_of(each), id(each) in held) for each in documents_in(output)]
    run.passages = [record for record, is_held in found if not is_held or names_of([record]).isdisjoint(old)]
    new = [each for each in run.consumed if names_of([each]).isdisjoint(old)]
    if run.passages or found:
        run.consumed = new
    elif run.consumed:
        run.answer = answer_text(output, run.inputs)
        if _is_emptied(run.inputs, output):
            run.kind, run.consumed = ("postprocessor" if new else "other"), new


def names_of(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Name passages: by their ids, else by their texts."""
    return {record.get("id") or record["text"] for record in records}


def read_answer(run: Run, output: object) -> None:
    """Note what the outermost chain returned: an answer, or the documents that a chain without one found."""
    run.answer = answer_text(output, run.inputs)
    if isinstance(output, Sequence):  # the states of graphs hold what earlier turns found, too
        run.passages = records_of(output)


def prompt_text(messages: Sequence[Sequence[BaseMessage]]) -> str:
    """Return all that a chat model was shown, as one text."""
    return "\n".join(message.text for each in messages for message in each)


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
