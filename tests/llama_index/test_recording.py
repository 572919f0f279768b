"""What LlamaIndex's query engines and retrievers do with a question is recorded as it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import Document, StorageContext, VectorStoreIndex, get_response_synthesizer
from llama_index.core.base.response.schema import PydanticResponse
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import LongContextReorder, MetadataReplacementPostProcessor, SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine, RouterQueryEngine, SubQuestionQueryEngine
from llama_index.core.retrievers import AutoMergingRetriever, QueryFusionRetriever, VectorIndexRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import QueryEngineTool
from llama_index_instrumentation import get_dispatcher
from pydantic import BaseModel

from rag_cover import Models, Redaction
from rag_cover.recording import Recording
from rag_cover.redaction import redact_trace
from rag_cover.testing import KeywordScorer
from rag_cover_llama_index import RetrievalComplexitySelector
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM, WordEmbedding
from tests.llama_index.recordings import (
    ANSWER,
    HEAT,
    SKY,
    BrokenRetriever,
    TwoQuestions,
    broken_engine,
    ids,
    only,
    prompt,
    steps,
)

dispatcher = get_dispatcher(__name__)


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with attach(measures=()) as attached:
        yield attached


@pytest.mark.parametrize("is_async", [False, True])
def test_a_query_becomes_a_trace(recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, is_async: bool) -> None:
    engine = index.as_query_engine(llm=llm, similarity_top_k=2)

    response = asyncio.run(engine.aquery(SKY)) if is_async else engine.query(SKY)

    trace = only(recording)
    assert (trace.question.text, trace.answer, trace.pipeline) == (SKY, str(response), "RetrieverQueryEngine")
    assert steps(trace) == [("retrieve", "VectorIndexRetriever", ())]
    assert prompt(trace) == ids(trace) == [node.node_id for node in response.source_nodes]
    scores = [passage.score for passage in trace.steps[0].passages]
    assert scores == [node.score for node in response.source_nodes]
    assert (trace.steps[0].passages[0].title, trace.steps[0].passages[0].metadata["source"]) == (
        "Rayleigh scattering",
        "corpus",
    )
    assert trace.steps[0].started_at is not None


@pytest.mark.parametrize("is_async", [False, True])
def test_postprocessors_are_steps_after_what_they_were_given(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, is_async: bool
) -> None:
    after = [SimilarityPostprocessor(similarity_cutoff=0.3), LongContextReorder()]
    engine = index.as_query_engine(llm=llm, similarity_top_k=4, node_postprocessors=after)

    asyncio.run(engine.aquery(SKY)) if is_async else engine.query(SKY)

    trace = only(recording)
    assert [(kind, id_) for kind, id_, _ in steps(trace)][:2] == [
        ("retrieve", "VectorIndexRetriever"),
        ("filter", "SimilarityPostprocessor"),
    ]
    assert [inputs for _, _, inputs in steps(trace)] == [(), ("VectorIndexRetriever",), ("SimilarityPostprocessor",)]
    assert prompt(trace) == ids(trace)
    assert len(ids(trace, 0)) > len(ids(trace, 1))


def test_a_postprocessor_that_changes_the_order_reranks(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    engine = index.as_query_engine(llm=llm, similarity_top_k=4, node_postprocessors=[LongContextReorder()])

    engine.query(SKY)

    trace = only(recording)
    assert steps(trace)[1] == ("rerank", "LongContextReorder", ("VectorIndexRetriever",))
    assert sorted(map(str, ids(trace, 0))) == sorted(map(str, ids(trace, 1)))
    assert prompt(trace) == ids(trace, 1) != ids(trace, 0)


def test_what_is_recorded_is_what_was_there_and_not_what_was_made_of_it_later(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    response = index.as_query_engine(llm=llm, similarity_top_k=1).query(SKY)
    node = response.source_nodes[0]
    text = node.text

    node.score = 7.0
    node.node.metadata["title"] = "Changed"
    node.node.set_content("changed")

    (passage,) = only(recording).steps[0].passages
    assert (passage.text, passage.title) == (text, "Rayleigh scattering")
    assert passage.score is not None
    assert passage.score < 1


class Stated(BaseModel):
    """A structured answer."""

    claim: str


def test_a_structured_answer_is_recorded_as_its_text(recording: Recording, index: VectorStoreIndex) -> None:
    class Engine(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            nodes = index.as_retriever(similarity_top_k=1).retrieve(query_str)
            return PydanticResponse(response=Stated(claim="Air scatters."), source_nodes=nodes)

    response = Engine().query(SKY)

    trace = only(recording)
    assert (trace.answer, trace.pipeline) == (str(response), "Engine")
    assert "Air scatters." in str(trace.answer)


def test_a_bare_retrieval_is_a_trace_without_an_answer(recording: Recording, index: VectorStoreIndex) -> None:
    found = index.as_retriever(similarity_top_k=2).retrieve(SKY)

    trace = only(recording)
    assert (trace.question.text, trace.answer, trace.prompt) == (SKY, None, None)
    assert ids(trace) == [node.node_id for node in found]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_question_that_fails_raises_what_it_would_have_raised_and_is_recorded(
    recording: Recording, llm: ScriptedLLM, is_async: bool
) -> None:
    engine = broken_engine(llm)

    with pytest.raises(ValueError, match="the database is down") as raised:
        asyncio.run(engine.aquery(SKY)) if is_async else engine.query(SKY)

    trace = only(recording)
    said = f"ValueError: {raised.value}"
    assert (trace.question.text, trace.answer, trace.metadata["error"]) == (SKY, None, said)
    assert [(step.id, step.error) for step in trace.steps] == [("BrokenRetriever", said)]


@pytest.mark.parametrize("use_async", [False, True])
def test_a_fusion_joins_what_its_retrievers_found(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, use_async: bool
) -> None:
    both: list[Any] = [index.as_retriever(similarity_top_k=3), index.as_retriever(similarity_top_k=2)]
    fusion = QueryFusionRetriever(both, llm=llm, num_queries=1, similarity_top_k=2, use_async=use_async)

    found = fusion.retrieve(SKY)

    trace = only(recording)
    one, other = "VectorIndexRetriever-1", "VectorIndexRetriever-2"
    assert steps(trace) == [("retrieve", one, ()), ("retrieve", other, ()), ("fuse", "QueryFusionRetriever", (one, other))]
    assert [len(step.passages) for step in trace.steps] == [3, 2, 2]
    assert ids(trace) == [node.node_id for node in found]


def test_passages_that_are_merged_into_a_larger_one_are_replaced_by_it(recording: Recording) -> None:
    leaves = [TextNode(id_=f"leaf-{number}", text=f"The sky is blue, says sentence {number}.") for number in range(3)]
    whole = TextNode(id_="whole", text=" ".join(leaf.text for leaf in leaves))
    whole.relationships[NodeRelationship.CHILD] = [leaf.as_related_node_info() for leaf in leaves]
    for leaf in leaves:
        leaf.relationships[NodeRelationship.PARENT] = whole.as_related_node_info()
    store = SimpleDocumentStore()
    store.add_documents([whole, *leaves])
    context = StorageContext.from_defaults(docstore=store)
    index = VectorStoreIndex(leaves, storage_context=context, embed_model=WordEmbedding())
    merging = AutoMergingRetriever(VectorIndexRetriever(index, similarity_top_k=3), context)

    found = merging.retrieve(SKY)

    trace = only(recording)
    assert steps(trace) == [
        ("retrieve", "VectorIndexRetriever", ()),
        ("retrieve", "AutoMergingRetriever/own", ()),
        ("filter", "AutoMergingRetriever", ("VectorIndexRetriever", "AutoMergingRetriever/own")),
    ]
    assert [passage.id for passage in trace.contexts()[-1]] == [node.node_id for node in found] == ["whole"]


def test_a_sentence_and_the_window_that_replaces_it_are_both_kept(recording: Recording, llm: ScriptedLLM) -> None:
    parser = SentenceWindowNodeParser.from_defaults(sentence_splitter=lambda text: re.findall(r"[^.]+\.", text), window_size=1)
    nodes = parser.get_nodes_from_documents([Document(text="Look up. The sky is blue. Air scatters light. Go home.")])
    index = VectorStoreIndex(nodes, embed_model=WordEmbedding())
    replacing = MetadataReplacementPostProcessor(target_metadata_key="window")

    index.as_query_engine(llm=llm, similarity_top_k=1, node_postprocessors=[replacing]).query("The sky is what?")

    trace = only(recording)
    sentence, window = trace.steps[0].passages[0], trace.steps[-1].passages[0]
    assert sentence.text.strip() == "The sky is blue."
    assert window.text.split() == ["Look", "up.", "The", "sky", "is", "blue.", "Air", "scatters", "light."]
    assert window.id == f"{sentence.id}~"
    assert trace.prompt == (window,)


@pytest.mark.parametrize("use_async", [False, True])
def test_a_sub_engine_that_fails_and_is_left_out_stays_as_a_step_with_its_error(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, use_async: bool
) -> None:
    engines = {"a": index.as_query_engine(llm=llm, similarity_top_k=2), "b": broken_engine(llm)}
    engine = SubQuestionQueryEngine(
        question_gen=TwoQuestions(),
        response_synthesizer=get_response_synthesizer(llm=llm),
        query_engine_tools=[QueryEngineTool.from_defaults(each, name=name, description=name) for name, each in engines.items()],
        use_async=use_async,
        verbose=False,
    )

    engine.query("Sky and heat?")

    trace = only(recording)
    assert (trace.question.text, trace.pipeline, trace.answer) == ("Sky and heat?", "SubQuestionQueryEngine", ANSWER)
    assert [each.text for each in trace.sub_questions or ()] == [SKY, HEAT]
    assert {step.query: step.error for step in trace.steps} == {
        SKY: None,
        HEAT: f"ValueError: the database is down: {HEAT}",
    }
    assert "error" not in trace.metadata
    assert trace.prompt is not None
    assert [SKY in passage.text for passage in trace.prompt] == [True]


def test_a_routed_question_is_one_trace_with_the_prompt_of_the_engine_that_answered(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    choosing = ScriptedLLM(default='[{"choice": 1, "reason": "it knows"}]')
    engines = [
        QueryEngineTool.from_defaults(index.as_query_engine(llm=llm, similarity_top_k=1), name=name, description=name)
        for name in ("sky", "house")
    ]
    router = RouterQueryEngine(LLMSingleSelector.from_defaults(llm=choosing), engines, llm=llm)

    router.query(SKY)

    trace = only(recording)
    assert (trace.question.text, trace.answer, trace.pipeline) == (SKY, ANSWER, "RouterQueryEngine")
    assert steps(trace) == [("retrieve", "VectorIndexRetriever", ())]
    assert prompt(trace) == ids(trace) == ["rayleigh"]


def test_what_a_router_looks_up_to_choose_by_is_no_step_of_the_answer(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    engines = [QueryEngineTool.from_defaults(index.as_query_engine(llm=llm, similarity_top_k=2), name="plain", description="x")]
    probing = RetrievalComplexitySelector(index, {"direct": "plain", "complex": "plain"}, judge=KeywordScorer(), k=5)

    RouterQueryEngine(probing, engines, llm=llm).query(SKY)

    trace = only(recording)
    assert steps(trace) == [("retrieve", "VectorIndexRetriever", ())]
    assert prompt(trace) == ids(trace) == ["rayleigh", "ocean"]
    assert recording.counts.recorded == 1


class KeepingReranker(BaseNodePostprocessor):
    """A reranker that finds the order right as it is."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        return nodes


def test_a_reranker_by_name_reranks_also_where_it_keeps_the_order(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    index.as_query_engine(llm=llm, similarity_top_k=2, node_postprocessors=[KeepingReranker()]).query(SKY)

    assert steps(only(recording))[1:] == [("rerank", "KeepingReranker", ("VectorIndexRetriever",))]


class Twofold(BaseNodePostprocessor):
    """A postprocessor whose asynchronous method has a span of its own and calls the other one."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        return nodes[:1]

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._postprocess_nodes(nodes, query_bundle)


def test_a_postprocessor_that_is_awaited_is_one_step(recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    asyncio.run(index.as_query_engine(llm=llm, similarity_top_k=2, node_postprocessors=[Twofold()]).aquery(SKY))

    assert steps(only(recording))[1:] == [("filter", "Twofold", ("VectorIndexRetriever",))]


class Announced(BaseNodePostprocessor):
    """A reranker that says what it does by events, as those of other packages do."""

    def postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]:
        query = query_bundle or QueryBundle(query_str or "")
        dispatcher.event(ReRankStartEvent(query=query, nodes=nodes, top_n=1, model_name="cross-encoder"))
        chosen = list(reversed(nodes))[:1]
        dispatcher.event(ReRankEndEvent(nodes=chosen))
        return chosen

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        raise NotImplementedError


def test_a_reranker_that_is_known_by_its_events_alone_is_a_step(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    index.as_query_engine(llm=llm, similarity_top_k=3, node_postprocessors=[Announced()]).query(SKY)

    trace = only(recording)
    assert steps(trace)[1:] == [("rerank", "cross-encoder", ("VectorIndexRetriever",))]
    assert ids(trace) == ids(trace, 0)[-1:] == prompt(trace)


class Loud(BaseNodePostprocessor):
    """A reranker with a span and events."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        query = query_bundle or QueryBundle("")
        dispatcher.event(ReRankStartEvent(query=query, nodes=nodes, top_n=1, model_name="cross-encoder"))
        chosen = list(reversed(nodes))
        dispatcher.event(ReRankEndEvent(nodes=chosen))
        return chosen


def test_a_reranker_that_is_known_by_its_span_and_its_events_is_one_step(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    index.as_query_engine(llm=llm, similarity_top_k=3, node_postprocessors=[Loud()]).query(SKY)

    trace = only(recording)
    assert steps(trace)[1:] == [("rerank", "Loud", ("VectorIndexRetriever",))]


class Service:
    """Somebody's own code around an engine."""

    def __init__(self, index: VectorStoreIndex, llm: ScriptedLLM) -> None:
        self._index, self._llm = index, llm

    @dispatcher.span
    def answer(self, question: str) -> str:
        """Ask within two spans of one's own."""
        return self.ask(question)

    @dispatcher.span
    def ask(self, question: str) -> str:
        """Ask within one."""
        return str(self._index.as_query_engine(llm=self._llm, similarity_top_k=1).query(question))


def test_spans_of_ones_own_around_an_engine_change_nothing(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    Service(index, llm).answer(SKY)

    trace = only(recording)
    assert (trace.question.text, trace.answer, trace.pipeline) == (SKY, ANSWER, "RetrieverQueryEngine")


def test_spans_of_ones_own_inside_an_engine_are_looked_through(recording: Recording, index: VectorStoreIndex) -> None:
    class Engine(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            return " ".join(node.text for node in self.find(query_str))

        @dispatcher.span
        def find(self, query: str) -> Sequence[NodeWithScore]:
            return index.as_retriever(similarity_top_k=1).retrieve(query)

    Engine().query(SKY)

    trace = only(recording)
    assert trace.pipeline == "Engine"
    assert steps(trace) == [("retrieve", "VectorIndexRetriever", ())]


def test_what_is_said_of_a_question_goes_into_its_trace(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    engine = index.as_query_engine(llm=llm)

    with recording.question(id="q1", references="Scattering.", sub_questions=["What scatters?"], metadata={"user": "Ada"}):
        engine.query(SKY)

    trace = only(recording)
    assert (trace.question.id, trace.question.references) == ("q1", ("Scattering.",))
    assert [each.text for each in trace.sub_questions or ()] == ["What scatters?"]
    assert trace.metadata == {"name": "RetrieverQueryEngine", "user": "Ada"}


def test_several_questions_are_several_traces(recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine = index.as_query_engine(llm=llm, similarity_top_k=1)

    for question in (SKY, HEAT):
        engine.query(question)

    assert recording.flush(20)
    assert [trace.question.text for trace in recording.traces] == [SKY, HEAT]
    assert recording.counts.begun == recording.counts.recorded == 2


def test_questions_are_measured_by_the_embedded_judge(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    with attach(measures=["coverage", "groundedness"]) as recording:
        with recording.question(sub_questions=[SKY, HEAT]):
            index.as_query_engine(llm=llm, similarity_top_k=2).query(SKY)
        assert recording.flush(60)

    (result,) = recording.results
    assert result.coverage is not None
    assert [each.answer is not None and each.answer.covered for each in result.coverage.sub_questions] == [True, False]
    assert (recording.counts.measured, recording.errors) == (1, ())


def test_nothing_is_asked_of_a_model_where_nothing_is_measured(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    with attach(measures=(), judge="nonesuch:model") as recording:
        index.as_query_engine(llm=llm).query(SKY)

        assert only(recording).answer == ANSWER
    assert Models().judge == "embedded"


def test_a_retriever_engine_of_ones_own_parts_is_recorded_as_any_other(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    engine = RetrieverQueryEngine.from_args(index.as_retriever(similarity_top_k=1), llm=llm)
    broken = RetrieverQueryEngine.from_args(BrokenRetriever(), llm=llm)

    engine.query(SKY)
    with pytest.raises(ValueError, match="down"):
        broken.query(SKY)

    assert recording.flush(20)
    assert [trace.answer for trace in recording.traces] == [ANSWER, None]


def test_redacted_results_hold_no_text(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    with attach(measures=["coverage"], judge=KeywordScorer(), redact=True) as recording:
        index.as_query_engine(llm=llm, similarity_top_k=1).query(SKY)

    assert recording.results[0].trace == redact_trace(recording.traces[0], Redaction())
