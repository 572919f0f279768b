"""The same run, recorded through LangChain and through LlamaIndex, has the same measures."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from rag_cover import Trace
from rag_cover.measures import TraceResult
from rag_cover.recording import Recording
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_llama_index.attachment import attach
from tests.corpus import CORPUS
from tests.langchain import recordings as chains
from tests.langchain.parts import ScriptedChatModel, WordEmbeddings
from tests.llama_index import recordings as engines
from tests.llama_index.parts import ScriptedLLM, WordEmbedding

SKY = "Why is the sky blue and not red at noon?"
ANSWER = "The sky is blue because air scatters blue light more strongly than red light."
MEASURES = ("coverage", "groundedness", "utility", "complexity")
ASKED = ["Why is the sky blue?", "Why is it not red at noon?", "What does a heat pump cost?"]
K = 3


class FirstTwo(BaseNodePostprocessor):
    """Keeps the first two."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        return nodes[:2]


def first_two(found: list[Document]) -> list[Document]:
    return found[:2]


def chain(kind: str) -> Runnable[str, str]:
    """The pipeline as a chain."""
    store, model = InMemoryVectorStore(WordEmbeddings()), ScriptedChatModel(default=ANSWER)
    store.add_documents([Document(text, id=title.split()[0].lower()) for title, text in CORPUS.items()])
    found: Runnable[str, list[Document]] = store.as_retriever(search_kwargs={"k": K})
    if kind == "failing":
        found = chains.BrokenRetriever(store=store)
    return chains.rag(found | RunnableLambda(first_two) if kind == "filtering" else found, model)


def engine(kind: str) -> RetrieverQueryEngine:
    """The pipeline as an engine."""
    nodes = [TextNode(id_=title.split()[0].lower(), text=text) for title, text in CORPUS.items()]
    found: BaseRetriever = VectorStoreIndex(nodes, embed_model=WordEmbedding()).as_retriever(similarity_top_k=K)
    if kind == "failing":
        found = engines.BrokenRetriever()
    written = get_response_synthesizer(llm=ScriptedLLM(default=ANSWER))
    return RetrieverQueryEngine(found, written, node_postprocessors=[FirstTwo()] if kind == "filtering" else [])


def asked(recording: Recording, ask: Any) -> TraceResult:
    """Ask, and return the only result; an error is the pipeline's own."""
    with recording, recording.question(references="Air molecules scatter blue light most.", sub_questions=ASKED):
        try:
            ask(SKY)
        except ValueError as error:
            assert "the database is down" in str(error)  # noqa: PT017  # of one pipeline in three
    assert recording.errors == ()
    (result,) = recording.results
    return result


def both(kind: str) -> tuple[TraceResult, TraceResult]:
    handler = RagCoverCallbackHandler(measures=MEASURES)
    through_langchain = asked(handler, lambda question: chain(kind).invoke(question, chains.config(handler)))
    return through_langchain, asked(attach(measures=MEASURES), engine(kind).query)


def told(trace: Trace) -> list[tuple[str, str, list[str]]]:
    """What happened, in words that both share."""
    return [(step.kind, step.query, [passage.text for passage in step.passages]) for step in trace.steps]


@pytest.mark.parametrize("kind", ["plain", "filtering", "failing"])
def test_a_run_is_the_same_whichever_framework_it_was_recorded_through(kind: str) -> None:
    one, other = both(kind)

    assert (one.trace.question.text, one.trace.answer) == (other.trace.question.text, other.trace.answer)
    assert told(one.trace) == told(other.trace)
    texts = [None if trace.prompt is None else [each.text for each in trace.prompt] for trace in (one.trace, other.trace)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("kind", ["plain", "filtering"])
def test_a_run_has_the_same_measures_whichever_framework_it_was_recorded_through(kind: str) -> None:
    one, other = both(kind)

    assert one.failures == other.failures == {}
    assert one.coverage is not None
    assert other.coverage is not None
    assert one.coverage.core_coverage == other.coverage.core_coverage
    assert [each.answer for each in one.coverage.sub_questions] == [each.answer for each in other.coverage.sub_questions]
    assert one.groundedness == other.groundedness is not None
    assert one.complexity == other.complexity is not None
    assert one.utility is not None
    assert other.utility is not None
    assert [step.marginal.value for step in one.utility.steps] == [step.marginal.value for step in other.utility.steps]
    assert one.utility.total.value == other.utility.total.value
    assert len(one.utility.steps) == (2 if kind == "filtering" else 1)


def test_a_run_that_failed_has_the_same_failures_and_no_measures_through_both() -> None:
    one, other = both("failing")

    assert set(one.failures) == set(other.failures)
    assert one.coverage == other.coverage
    assert one.groundedness == other.groundedness
    steps = [[step.error and step.error.split(":")[0] for step in result.trace.steps] for result in (one, other)]
    assert steps == [["ValueError"], ["ValueError"]]
