"""What LangChain's runs say of a question's way, when they begin and when they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from rag_cover.recording import Call
from rag_cover_langchain.answers import answer_text, documents_in, question_in
from rag_cover_langchain.passages import record_of

__all__ = [
    "Run",
    "read_answer",
    "read_inputs",
    "read_output",
    "read_tool",
    "records_of",
    "shown_in",
    "tool_query",
    "written_in",
]


@dataclass(slots=True)
class Run(Call):
    """A run as a call; ``inputs`` are kept until it ends, when what is new in its output is told by them."""

    inputs: Any = None


def records_of(value: object) -> list[dict[str, Any]]:
    """Copy what the documents in a value hold."""
    return [record_of(document) for document in documents_in(value)]


def read_inputs(run: Run, inputs: object) -> None:
    """Note what a chain was given: a question, and documents where there are some."""
    run.inputs = inputs
    run.query = question_in(inputs)
    run.consumed = records_of(inputs)


def read_output(run: Run, output: object) -> None:
    """Note what a chain inside another returned: documents, or what it wrote from those it was given.

    Without documents where it was given some, it kept none of them.
    """
    run.passages = records_of(output)
    if run.consumed and not run.passages:
        run.answer = answer_text(output, run.inputs)
        if _is_emptied(run.inputs, output):
            run.kind = "postprocessor"


def read_answer(run: Run, output: object) -> None:
    """Note what the outermost chain returned: an answer, or the documents that a chain without one found."""
    run.answer = answer_text(output, run.inputs)
    if isinstance(output, Sequence):  # the states of graphs hold what earlier turns found, too
        run.passages = records_of(output)


def shown_in(messages: Sequence[Sequence[BaseMessage]]) -> str:
    """Return all that a chat model was shown, as one text."""
    return "\n".join(message.text for each in messages for message in each)


def written_in(response: LLMResult) -> str | None:
    """Return what a language model wrote first; None where it wrote nothing, as where it only calls tools."""
    generations = response.generations
    return (generations[0][0].text or None) if generations and generations[0] else None


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
    """Tell whether a list of documents was given and an empty one came back in its place."""
    if isinstance(output, Mapping) and isinstance(given, Mapping):
        return any(value == [] and documents_in(given.get(name)) for name, value in output.items())
    return output == []
