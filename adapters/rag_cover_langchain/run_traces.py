"""Traces made of the runs that LangChain or LangSmith traced, and of an agent's messages.

They are read as `RagCoverCallbackHandler` reads a pipeline while it runs, so that both give the same measures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID, uuid4

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_messages
from langchain_core.outputs import ChatGeneration, Generation, LLMResult

from rag_cover import Trace
from rag_cover.integration import Replay
from rag_cover_langchain.callbacks import RunCallbacks
from rag_cover_langchain.payloads import answer_text, documents_in, question_in
from rag_cover_langchain.run_recorder import RunRecorder

__all__ = ["TracedRun", "first_line", "revive", "trace_of_messages", "trace_of_run", "unwrap"]

_DEPTH = 8  # of JSON data: a run's outputs, the state in it, its messages, their artifacts, and the documents of these
_RAISED = "Traceback (most recent call last)"


class TracedRun(Protocol):
    """A run, as LangChain's tracers and LangSmith's clients keep it; some also keep the runs inside it (``child_runs``)."""

    id: Any
    name: Any
    run_type: Any
    inputs: Any
    outputs: Any
    error: Any
    tags: Any
    start_time: Any
    end_time: Any


class _Callbacks(RunCallbacks):
    """LangChain's callbacks, called for finished runs."""

    def __init__(self) -> None:
        self.replay = Replay()
        self._recorders = (RunRecorder(self.replay, joins_threads=False),)

    @property
    def recorders(self) -> Sequence[RunRecorder]:
        return self._recorders


def trace_of_run(run: TracedRun, question: str | None = None) -> Trace | None:
    """Make a run and those inside it a trace; ``question`` is what was asked, where the run itself does not say so.

    Runs by which rag_cover itself asks a model are left out. None for a run that neither asks nor retrieves.

    Raises:
        InputError: there is no question in any of them.
    """
    callbacks = _Callbacks()
    _replay(run, None, callbacks, question)
    return callbacks.replay.trace({str(each.id): (each.start_time, each.end_time) for each in _all(run)})


def trace_of_messages(value: object, question: str, answer: str | None) -> Trace | None:
    """Make what tools brought, since a person last spoke, a trace; None where they were not asked, or these are no messages."""
    said = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(said, list | tuple):
        return None
    try:
        messages = convert_to_messages(said)
    except (NotImplementedError, ValueError, TypeError, KeyError):  # LangChain's own, for what is no message
        return None
    asked = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    latest = messages[asked[-1] if asked else 0 :]
    return _replay_tools(latest, question, answer) if any(isinstance(each, ToolMessage) for each in latest) else None


def revive(value: Any, depth: int = _DEPTH) -> Any:
    """Return JSON data with documents where they were written out, and messages as mappings of their fields."""
    match value:
        case {"page_content": str(text)}:
            known = value.get("metadata")
            name = value.get("id")
            metadata = dict(known) if isinstance(known, Mapping) else {}
            return Document(text, id=None if name is None else str(name), metadata=metadata)
        case {"lc": _, "kwargs": Mapping() as fields}:
            return revive(fields, depth)
        case Mapping() if depth:
            return {name: revive(each, depth - 1) for name, each in value.items()}
        case list() | tuple() if depth:
            return type(value)(revive(each, depth - 1) for each in value) if type(value) in (list, tuple) else value
        case _:
            return value


def unwrap(data: Any) -> Any:
    """Return the one value that tracers put into a mapping, since they keep nothing else."""
    if isinstance(data, Mapping) and len(data) == 1:
        ((name, value),) = data.items()
        return value if name in ("input", "output") else data
    return data


def first_line(error: str) -> str:
    """Return what an error says, without where it was raised."""
    return error.partition(_RAISED)[0].strip().partition("\n")[0].strip()


def _all(run: TracedRun) -> Iterator[TracedRun]:
    yield run
    for child in _inside(run):
        yield from _all(child)


def _inside(run: TracedRun) -> Sequence[TracedRun]:
    return getattr(run, "child_runs", None) or ()


def _replay(run: TracedRun, parent: UUID | None, to: RunCallbacks, question: str | None = None) -> None:
    """Call back for a run and those inside it, as LangChain did when they ran."""
    inputs, outputs = (unwrap(revive(each)) for each in (run.inputs, run.outputs))
    if question is not None and question_in(inputs) is None:
        inputs = {"question": question, **(inputs if isinstance(inputs, Mapping) else {})}
    kind = str(run.run_type).lower()
    told = {"parent_run_id": parent, "tags": run.tags, "metadata": _metadata(run), "name": run.name}
    match kind:
        case "retriever":
            to.on_retriever_start(None, question_in(inputs) or "", run_id=run.id, **told)
        case "tool":
            asked = inputs if isinstance(inputs, Mapping) else {"input": inputs}
            to.on_tool_start(None, "", run_id=run.id, inputs=asked, **told)
        case "llm":
            to.on_llm_start(None, [*_texts(inputs)], run_id=run.id, **told)
        case _:
            to.on_chain_start(None, inputs, run_id=run.id, **told)
    for child in _inside(run):
        _replay(child, run.id, to)
    if run.error:
        to.on_chain_error(_make_error(run.error), run_id=run.id)
    else:
        _end(kind, run.id, outputs, to)


def _end(kind: str, run_id: UUID, outputs: Any, to: RunCallbacks) -> None:
    match kind:
        case "retriever":
            to.on_retriever_end(documents_in(outputs), run_id=run_id)
        case "tool":
            to.on_tool_end(outputs, run_id=run_id)
        case "llm":
            to.on_llm_end(LLMResult(generations=[[_generation(outputs)]]), run_id=run_id)
        case _:
            to.on_chain_end(outputs, run_id=run_id)


def _make_error(error: str) -> Exception:
    """Return an error like the one that tracers wrote out."""
    written = re.fullmatch(r"(\w+)\((.*)\)", first_line(error))
    name, text = written.groups() if written else ("Exception", first_line(error))
    kind: type[Exception] = type(name, (Exception,), {})
    return kind(text.strip("'\""))


def _metadata(run: TracedRun) -> Any:
    """Return what a run's metadata hold; LangChain's own tracers keep them among what is extra."""
    extra = getattr(run, "extra", None) or {}
    return getattr(run, "metadata", None) or (extra.get("metadata") if isinstance(extra, Mapping) else None)


def _generation(outputs: Any) -> Generation:
    match outputs:
        case {"generations": [[{"message": {"tool_calls": [_, *_] as calls}}, *_], *_]}:
            return ChatGeneration(message=AIMessage("", tool_calls=calls))
        case {"generations": [[{"text": str(text)}, *_], *_]}:
            return Generation(text=text)
        case _:
            return Generation(text=answer_text(outputs) or "")


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case BaseMessage():
            yield value.text
        case Mapping():
            for each in value.values():
                yield from _texts(each)
        case list() | tuple():
            for each in value:
                yield from _texts(each)


def _replay_tools(messages: Sequence[BaseMessage], question: str, answer: str | None) -> Trace | None:
    """Call back for the tools of an agent, as they told what they brought."""
    calls = {call["id"]: call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls}
    callbacks, root = _Callbacks(), uuid4()
    callbacks.on_chain_start(None, question, run_id=root)
    for message in messages:
        if isinstance(message, ToolMessage):
            call, run_id = calls.get(message.tool_call_id), uuid4()
            name = message.name or (call["name"] if call else None) or "tool"
            asked = dict(call["args"]) if call else None
            callbacks.on_tool_start(None, "", run_id=run_id, parent_run_id=root, inputs=asked, name=name)
            callbacks.on_tool_end(message, run_id=run_id)
    callbacks.on_chain_end(answer, run_id=root)
    return callbacks.replay.trace({})
