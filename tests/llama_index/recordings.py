"""What the tests of recordings share: pipelines that fail, and traces told in few words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NoReturn

from llama_index.core import get_response_synthesizer
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import ToolMetadata

from rag_cover import Trace
from rag_cover.recording import Recording
from tests.llama_index.parts import ScriptedLLM

__all__ = [
    "ANSWER",
    "HEAT",
    "SKY",
    "BrokenRetriever",
    "TwoQuestions",
    "broken_engine",
    "ids",
    "only",
    "prompt",
    "steps",
    "wait_for_all",
]

SKY = "Why is the sky blue?"
HEAT = "What does a heat pump cost?"
ANSWER = "The sky is blue because air scatters blue light."
_PATIENCE_S = 20


class BrokenRetriever(BaseRetriever):
    """Finds nothing: its database is down."""

    def _retrieve(self, query_bundle: QueryBundle) -> NoReturn:
        message = f"the database is down: {query_bundle.query_str}"
        raise ValueError(message)  # what a SubQuestionQueryEngine leaves out, in every version

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._retrieve(query_bundle)


class TwoQuestions(BaseQuestionGenerator):
    """Takes every question apart into one for tool ``a`` and one for tool ``b``."""

    def generate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        return [SubQuestion(sub_question=SKY, tool_name="a"), SubQuestion(sub_question=HEAT, tool_name="b")]

    async def agenerate(self, tools: Sequence[ToolMetadata], query: QueryBundle) -> list[SubQuestion]:
        return self.generate(tools, query)

    def _get_prompts(self) -> dict[str, BasePromptTemplate]:
        return {}

    def _update_prompts(self, prompts: object) -> None: ...


def broken_engine(llm: ScriptedLLM) -> RetrieverQueryEngine:
    """Make an engine whose retriever fails."""
    return RetrieverQueryEngine(BrokenRetriever(), get_response_synthesizer(llm=llm))


def wait_for_all(recording: Recording) -> None:
    """Wait until no question is under way; the thread that writes a chat's history may end after its reader."""
    until = time.monotonic() + _PATIENCE_S
    while recording.counts.under_way and time.monotonic() < until:
        time.sleep(0.001)
    assert recording.flush(_PATIENCE_S)


def only(recording: Recording) -> Trace:
    """Return the only trace, of which nothing went wrong."""
    wait_for_all(recording)
    assert recording.errors == ()
    (trace,) = recording.traces
    return trace


def ids(trace: Trace, position: int = -1) -> list[str | None]:
    """Name the passages of one step."""
    return [passage.id for passage in trace.steps[position].passages]


def steps(trace: Trace) -> list[tuple[str, str, tuple[str, ...]]]:
    """Tell each step's kind, id and inputs."""
    return [(step.kind, step.id, step.input_ids) for step in trace.steps]


def prompt(trace: Trace) -> list[str | None] | None:
    """Name the passages that the answer was written from; those without an id by their title."""
    return None if trace.prompt is None else [passage.id or passage.title for passage in trace.prompt]
