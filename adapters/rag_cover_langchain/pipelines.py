"""One call over a dataset: a chain, an agent, a graph or a function is asked every question, recorded and measured."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack
from uuid import uuid4

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import merge_configs

from rag_cover import Evaluation
from rag_cover.errors import InvalidValueError
from rag_cover.integration import (
    ASKED,
    AttachOptions,
    PipelineRun,
    Questions,
    Watcher,
    describe_argument,
    document_attach_options,
)
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_langchain.feedback import Feedback
from rag_cover_langchain.models import Writer
from rag_cover_langchain.pipeline_names import structure_of

__all__ = ["Pipeline", "aevaluate_pipeline", "evaluate_pipeline"]

Pipeline = Runnable[Any, Any] | Callable[..., Any]
"""A chain, an agent, a graph or a retriever; or a function that takes a question, asynchronous ones too."""
MakeInput = Callable[[str], Any]
"""Makes the input of a pipeline of a question."""


@document_attach_options
def evaluate_pipeline(
    chain: Pipeline,
    questions: Questions,
    *,
    make_input: MakeInput | None = None,
    config: RunnableConfig | None = None,
    concurrency: int = 4,
    resume: bool = False,
    progress: bool | Watcher = True,
    feedback: Feedback | None = None,
    **options: Unpack[AttachOptions[Writer, Embeddings]],
) -> Evaluation:
    """Ask a pipeline every question of a dataset, and measure what it did with each.

    Questions on which it fails are counted, logged and shown; the others go on. ::

        evaluation = evaluate_pipeline(chain, ["Why is the sky blue?", "What does a heat pump cost?"])
        evaluation.to_html("report.html")

    Args:
        chain: a chain, an agent, a graph, a retriever, or a function that takes a question.
        questions: texts, `Question` objects, traces (or rows of them) for what else is known, or the path of a file of them.
        make_input: makes the pipeline's input of a question; None: the question itself, or what the pipeline's schema asks
            for, such as ``{"messages": …}`` or ``{"question": …}``.
        config: for every run. A graph that remembers gets a thread of its own for each question, unless this names one.
        concurrency: how many questions are under way at a time; 1: on the thread of the caller.
        resume: go on with the store: questions that it has an answer to are not asked again. Where it is False, a store that
            holds results is refused.
        progress: show a bar, or a function that is called with the `Progress` after every question.
        feedback: where every score is sent, such as a ``langsmith.Client()``; see `RagCoverCallbackHandler`.
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
    asking = _Asking.of(chain, make_input, config)
    run = _begin(asking, questions, concurrency, options, feedback, resume=resume, progress=progress)
    if inspect.iscoroutinefunction(chain):
        return run.evaluate_on_a_loop(lambda question: asking.aask(run.recording, question))
    return run.evaluate(lambda question: asking.ask(run.recording, question))


@document_attach_options
async def aevaluate_pipeline(
    chain: Pipeline,
    questions: Questions,
    *,
    make_input: MakeInput | None = None,
    config: RunnableConfig | None = None,
    concurrency: int = 4,
    resume: bool = False,
    progress: bool | Watcher = True,
    feedback: Feedback | None = None,
    **options: Unpack[AttachOptions[Writer, Embeddings]],
) -> Evaluation:
    """Ask a pipeline every question of a dataset by its asynchronous interface, on the event loop that runs.

    `evaluate_pipeline` describes the arguments. Where the task is cancelled, what was answered is measured and in the store
    before the cancellation goes on.
    """
    asking = _Asking.of(chain, make_input, config)
    run = _begin(asking, questions, concurrency, options, feedback, resume=resume, progress=progress)
    return await run.aevaluate(lambda question: asking.aask(run.recording, question))


def _begin(
    asking: _Asking,
    questions: Questions,
    concurrency: int,
    options: AttachOptions[Writer, Embeddings],
    feedback: Feedback | None,
    *,
    resume: bool,
    progress: bool | Watcher,
) -> PipelineRun[RagCoverCallbackHandler]:
    return PipelineRun(
        questions,
        options,
        partial(RagCoverCallbackHandler, feedback=feedback),
        name=structure_of(asking.pipeline),
        concurrency=concurrency,
        resume=resume,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """How a pipeline is asked."""

    pipeline: Runnable[Any, Any]
    make_input: MakeInput
    config: RunnableConfig

    @classmethod
    def of(cls, pipeline: object, make_input: object, config: RunnableConfig | None) -> _Asking:
        """Check what a user gave.

        Raises:
            InvalidValueError: it can be asked nothing.
        """
        if make_input is not None and not callable(make_input):
            message = f"make_input is {describe_argument(make_input)}; give a function that takes a question"
            raise InvalidValueError(message)
        if isinstance(pipeline, Runnable):
            runnable: Runnable[Any, Any] = pipeline
        elif callable(pipeline) and not isinstance(pipeline, type):
            runnable = RunnableLambda(pipeline)
        else:
            message = f"the pipeline is {describe_argument(pipeline)}; give a Runnable, or a function that takes a question"
            raise InvalidValueError(message)
        return cls(runnable, make_input or _guess_input(runnable), config or {})

    def ask(self, handler: RagCoverCallbackHandler, question: str) -> object:
        """Ask it."""
        return self.pipeline.invoke(self.make_input(question), self._config_with(handler))

    async def aask(self, handler: RagCoverCallbackHandler, question: str) -> object:
        """Ask it asynchronously."""
        return await self.pipeline.ainvoke(self.make_input(question), self._config_with(handler))

    def _config_with(self, handler: RagCoverCallbackHandler) -> RunnableConfig:
        config = merge_configs(self.config, {"callbacks": [handler]})
        named = config.get("configurable", {})
        if getattr(self.pipeline, "checkpointer", None) and "thread_id" not in named:
            config["configurable"] = {**named, "thread_id": str(uuid4())}
        return config


def _guess_input(pipeline: Runnable[Any, Any]) -> MakeInput:
    """Return what makes the input that a pipeline's schema asks for; the question itself where that tells nothing."""
    names = _input_names(pipeline)
    name = next((each for each in ASKED if each in names), None)
    if name is None or isinstance(pipeline, RunnableLambda):
        return lambda question: question
    if name == "messages":
        return lambda question: {"messages": [("user", question)]}
    return lambda question: {name: question}


def _input_names(pipeline: Runnable[Any, Any]) -> frozenset[str]:
    schema = getattr(getattr(pipeline, "builder", None), "input_schema", None)  # a graph's, which pydantic may not read
    if schema is not None:
        return frozenset(inspect.get_annotations(schema)) | frozenset(getattr(schema, "__annotations__", {}))
    try:
        described = pipeline.get_input_jsonschema()
    except Exception:  # noqa: BLE001  # whatever a schema cannot be made of: nothing is known then
        return frozenset()
    return frozenset(described.get("properties", ())) if described.get("type") == "object" else frozenset()
