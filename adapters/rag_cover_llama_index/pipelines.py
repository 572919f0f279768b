"""One call over a dataset: an engine, an agent or a function is asked every question, recorded and measured."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Unpack

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import LLM

from rag_cover import Evaluation
from rag_cover.errors import InvalidValueError
from rag_cover.integration import (
    AttachOptions,
    PipelineRun,
    Questions,
    Watcher,
    describe_argument,
    document_attach_options,
)
from rag_cover.recording import Recording
from rag_cover_llama_index.attachment import attach
from rag_cover_llama_index.functions import has_answered, read_function_end

__all__ = ["Pipeline", "aevaluate_pipeline", "evaluate_pipeline"]

Pipeline = BaseQueryEngine | BaseChatEngine | BaseRetriever | AgentWorkflow | BaseWorkflowAgent | Callable[[str], Any]
"""An engine, a retriever or an agent; or a function that takes a question, asynchronous ones too."""


@document_attach_options
def evaluate_pipeline(
    engine: Pipeline,
    questions: Questions,
    *,
    concurrency: int = 4,
    resume: bool = False,
    progress: bool | Watcher = True,
    **options: Unpack[AttachOptions[LLM, BaseEmbedding]],
) -> Evaluation:
    """Ask a pipeline every question of a dataset, and measure what it did with each.

    Questions on which it fails are counted, logged and shown; the others go on. What others ask in this process meanwhile is
    not recorded. ::

        evaluation = evaluate_pipeline(query_engine, ["Why is the sky blue?", "What does a heat pump cost?"])
        evaluation.to_html("report.html")

    Args:
        engine: a query or chat engine, a retriever, an agent, or a function that takes a question, and whose calls are one
            trace. A chat engine is asked question by question, each without the history of the others.
        questions: texts, `Question` objects, traces (or rows of them) for what else is known, or the path of a file of them.
        concurrency: how many questions are under way at a time; 1: on the thread of the caller.
        resume: go on with the store: questions that it has an answer to are not asked again. Where it is False, a store that
            holds results is refused.
        progress: show a bar, or a function that is called with the `Progress` after every question.
        **options: the models and the options of the recording, as `ModelOptions` and `RecordingOptions` describe them, but
            for ``sampling``, ``capacity``, ``keep`` and ``measuring``.

    Returns:
        The results in the order of the questions. With a store, all that it holds.

    Raises:
        InputError: a question, or a file of them, cannot be read.
        InvalidValueError: an argument is out of range, a model cannot serve, or two questions are the same.
        UnknownOptionError: there is no such option; the message names the nearest one.
        StoreError: the store cannot be used, or holds results and ``resume`` is False.
        PipelineInterruptedError: it was interrupted (Ctrl-C); what was answered by then is in the store, and in the error.
    """
    asking = _asking_of(engine)
    run = _begin(engine, questions, concurrency, options, resume=resume, progress=progress)
    asking = asking.within(run.recording, _name_of(engine))
    if asking.ask is None:
        return run.evaluate_on_a_loop(asking.aask)
    return run.evaluate(asking.ask)


@document_attach_options
async def aevaluate_pipeline(
    engine: Pipeline,
    questions: Questions,
    *,
    concurrency: int = 4,
    resume: bool = False,
    progress: bool | Watcher = True,
    **options: Unpack[AttachOptions[LLM, BaseEmbedding]],
) -> Evaluation:
    """Ask a pipeline every question of a dataset by its asynchronous interface, on the event loop that runs.

    `evaluate_pipeline` describes the arguments. A function that is not asynchronous is called in a thread. Where the task is
    cancelled, what was answered is measured and in the store before the cancellation goes on.
    """
    asking = _asking_of(engine)
    run = _begin(engine, questions, concurrency, options, resume=resume, progress=progress)
    return await run.aevaluate(asking.within(run.recording, _name_of(engine)).aask)


def _begin(
    engine: Pipeline,
    questions: Questions,
    concurrency: int,
    options: AttachOptions[LLM, BaseEmbedding],
    *,
    resume: bool,
    progress: bool | Watcher,
) -> PipelineRun[Recording]:
    if inspect.isroutine(engine) and "pipeline" not in options:  # by one name, whatever it calls and whether it fails
        options["pipeline"] = _name_of(engine)
    return PipelineRun(
        questions,
        options,
        attach,
        name=_name_of(engine),
        concurrency=1 if isinstance(engine, BaseChatEngine) else concurrency,
        resume=resume,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """How a pipeline is asked; ``ask`` is None of one that is asynchronous alone.

    A function ``is_own`` where it is the caller's: what it calls are the parts of one trace.
    """

    ask: Callable[[str], object] | None
    aask: Callable[[str], Awaitable[object]]
    is_own: bool = False

    def within(self, recording: Recording, name: str) -> _Asking:
        """Ask in such a way that what a function of the caller's own calls for a question is one trace."""
        ask, aask = self.ask, self.aask
        if not self.is_own:
            return self

        def ask_in_trace(text: str) -> object:
            with recording.trace(text, pipeline=name):
                return _note_answer(recording, None if ask is None else ask(text))

        async def ask_in_trace_async(text: str) -> object:
            with recording.trace(text, pipeline=name):
                return _note_answer(recording, await aask(text))

        return _Asking(None if ask is None else ask_in_trace, ask_in_trace_async)


def _note_answer(recording: Recording, answer: object) -> object:
    """Note what a function answered on the trace that it is called in; return the answer as it is."""
    draft = recording.gathering.draft_of(None)
    if draft is not None:
        read_function_end(draft.root, answer, draft)
        if draft.root.answer is None and answer is not None and not has_answered(draft):
            draft.root.answer = str(answer)
    return answer


def _name_of(engine: object) -> str:
    if inspect.ismethod(engine):  # such as an engine's own query()
        return type(engine.__self__).__name__
    name = str(getattr(engine, "__name__", type(engine).__name__))
    return "function" if name == "<lambda>" else name


def _asking_of(engine: object) -> _Asking:
    """Tell how a pipeline is asked.

    Raises:
        InvalidValueError: it can be asked nothing.
    """
    match engine:
        case BaseQueryEngine():
            return _read(engine.query, engine.aquery)
        case BaseChatEngine():
            return _read(lambda text: engine.chat(text, chat_history=[]), lambda text: engine.achat(text, chat_history=[]))
        case BaseRetriever():
            return _read(engine.retrieve, engine.aretrieve)
        case AgentWorkflow() | BaseWorkflowAgent():

            async def run_agent(text: str) -> object:
                return await engine.run(user_msg=text)

            return _Asking(None, run_agent)
        case _ if inspect.iscoroutinefunction(engine):
            return _Asking(None, _read(engine, engine).aask, is_own=True)
        case _ if callable(engine) and not isinstance(engine, type):
            return replace(_read(engine, None), is_own=True)
        case _:
            message = (
                f"the pipeline is {describe_argument(engine)}; give a query or chat engine, a retriever, an agent, or a "
                "function that takes a question, such as an async one that runs your workflow"
            )
            raise InvalidValueError(message)


def _read(ask: Callable[[str], object], aask: Callable[[str], Awaitable[object]] | None) -> _Asking:
    """Ask, and read answers that are streamed to their end."""

    def ask_and_read(text: str) -> object:
        return _read_stream(ask(text))

    async def ask_and_read_async(text: str) -> object:
        if aask is None:
            return await asyncio.to_thread(ask_and_read, text)
        return await _aread_stream(await aask(text))

    return _Asking(ask_and_read, ask_and_read_async)


def _read_stream(answer: object) -> object:
    match answer:
        case StreamingResponse():
            return answer.get_response()
        case Iterator():
            return "".join(map(str, answer))
        case _:
            return answer


async def _aread_stream(answer: object) -> object:
    match answer:
        case AsyncStreamingResponse():
            return await answer.get_response()
        case AsyncIterator():
            return "".join([str(each) async for each in answer])
        case _:
            return _read_stream(answer)
