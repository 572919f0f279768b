"""Query engines of every kind, each with what its recording says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import Settings, get_response_synthesizer
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import RelevancyEvaluator
from llama_index.core.indices.query.query_transform import HyDEQueryTransform, StepDecomposeQueryTransform
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import LongContextReorder, MetadataReplacementPostProcessor, SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.retrievers import QueryFusionRetriever, RecursiveRetriever, RouterRetriever, TransformRetriever
from llama_index.core.schema import Document, IndexNode, NodeWithScore, QueryBundle
from llama_index.core.selectors import LLMMultiSelector, LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from pydantic import BaseModel

from rag_cover.coverage import Loss
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import OLD, ScriptedLLM, WordEmbedding, needs_word_lists
from tests.llama_index.recordings import ANSWER, HEAT, SKY, BrokenRetriever
from tests.llama_index.scenarios import BOTH, LOST, SEARCH, UNKNOWN, Outcome, Parts, Scenario, Table, check

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of pydantic, by workflows
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # of what others left open, collected here
]

TABLE = Table()


def tool(engine: Any, name: str) -> QueryEngineTool:
    return QueryEngineTool.from_defaults(engine, name=name, description=f"knows {name}")


# query engines -----------------------------------------------------------------------------------


@TABLE.row(Outcome())
def a_query(parts: Parts) -> object:
    return parts.engine().query(SKY)


@TABLE.row(Outcome())
async def an_awaited_query(parts: Parts) -> object:
    return await parts.engine().aquery(SKY)


@TABLE.row(Outcome(answer=LOST, loss=Loss.UNUSED))
def a_query_whose_model_ignores_the_passage(parts: Parts) -> object:
    return parts.engine(parts.lost).query(SKY)


@TABLE.row(Outcome())
def a_streamed_query(parts: Parts) -> object:
    return "".join(parts.engine(streaming=True).query(SKY).response_gen)


@TABLE.row(Outcome())
async def an_awaited_streamed_query(parts: Parts) -> object:
    response = await parts.engine(streaming=True).aquery(SKY)
    return [token async for token in response.async_response_gen()]


@TABLE.row(Outcome(answer=None))
def a_stream_that_nobody_reads_to_its_end(parts: Parts) -> object:
    response = parts.engine(streaming=True).query(SKY)
    next(response.response_gen)
    return response.response_gen.close()


class DropFirst(BaseNodePostprocessor):
    """Drops the best node."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        return nodes[1:]


class Broken(BaseNodePostprocessor):
    """Fails."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> NoReturn:
        message = "no such model"
        raise RuntimeError(message)


@TABLE.row(Outcome(steps=[SEARCH, ("filter", "DropFirst", ("ocean",))], prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
def a_filter_that_drops_the_passage(parts: Parts) -> object:
    return parts.engine(parts.lost, node_postprocessors=[DropFirst()]).query(SKY)


@TABLE.row(Outcome(steps=[SEARCH, ("filter", "DropFirst", ("ocean",))], prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
async def an_awaited_filter_that_drops_the_passage(parts: Parts) -> object:
    return await parts.engine(parts.lost, node_postprocessors=[DropFirst()]).aquery(SKY)


@TABLE.row(
    Outcome(
        steps=[
            ("retrieve", "VectorIndexRetriever", (*BOTH, "sunset")),
            ("rerank", "LongContextReorder", ("rayleigh", "sunset", "ocean")),
        ],
        prompt=["rayleigh", "sunset", "ocean"],
    )
)
def a_reranker(parts: Parts) -> object:
    return parts.engine(similarity_top_k=3, node_postprocessors=[LongContextReorder()]).query(SKY)


@TABLE.row(
    Outcome(
        steps=[SEARCH, ("filter", "SimilarityPostprocessor", ())],
        prompt=[],
        answer="Empty Response",
        loss=Loss.DROPPED,
    )
)
def a_cutoff_that_leaves_nothing(parts: Parts) -> object:
    return parts.engine(node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.99)]).query(SKY)


# response modes ----------------------------------------------------------------------------------


@TABLE.row(Outcome())
def refine(parts: Parts) -> object:
    return parts.engine(response_mode=ResponseMode.REFINE).query(SKY)


@TABLE.row(Outcome())
def tree_summarize(parts: Parts) -> object:
    return parts.engine(response_mode=ResponseMode.TREE_SUMMARIZE).query(SKY)


@TABLE.row(Outcome())
def simple_summarize(parts: Parts) -> object:
    return parts.engine(response_mode=ResponseMode.SIMPLE_SUMMARIZE).query(SKY)


ACCUMULATED = f"Response 1: {ANSWER}\n---------------------\nResponse 2: {ANSWER}"


@TABLE.row(Outcome(answer=ACCUMULATED))
def accumulate(parts: Parts) -> object:
    return parts.engine(response_mode=ResponseMode.ACCUMULATE).query(SKY)


@TABLE.row(Outcome(answer=f"Response 1: {ANSWER}"))
def compact_accumulate(parts: Parts) -> object:
    return parts.engine(response_mode=ResponseMode.COMPACT_ACCUMULATE).query(SKY)


@TABLE.row(Outcome(prompt=[], answer=LOST, loss=Loss.DROPPED))
def generation_that_shows_the_model_no_passage(parts: Parts) -> object:
    return parts.engine(parts.lost, response_mode=ResponseMode.GENERATION).query(SKY)


@TABLE.row(Outcome(prompt=None, answer="", loss=UNKNOWN))
def no_text_which_asks_no_model(parts: Parts) -> object:
    return parts.engine(response_mode=ResponseMode.NO_TEXT).query(SKY)


@TABLE.row(
    Outcome(
        answer=(
            "title: Rayleigh scattering\nsource: corpus\n\n"
            "The sky is blue because air molecules scatter blue light more strongly than red light.\n\n"
            "title: Ocean\nsource: corpus\n\n"
            "The ocean looks blue because water absorbs red light and because it reflects the sky."
        )
    )
)
def context_only_whose_answer_is_the_passages(parts: Parts) -> object:
    return parts.engine(response_mode=ResponseMode.CONTEXT_ONLY).query(SKY)


# custom engines ----------------------------------------------------------------------------------


def custom(answer: Any) -> CustomQueryEngine:
    class Engine(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return answer(query_str)

    return Engine()


@TABLE.row(Outcome(prompt=["ocean"], answer=LOST, loss=Loss.DROPPED))
def a_custom_engine_that_drops_a_node_in_plain_python(parts: Parts) -> object:
    def answer(asked: str) -> str:
        kept = parts.retriever().retrieve(asked)[1:]
        return parts.lost.complete(f"{asked} {kept[0].text}").text

    return custom(answer).query(SKY)


@TABLE.row(Outcome(prompt=None, answer=LOST, loss=UNKNOWN))
def a_custom_engine_whose_model_is_not_seen(parts: Parts) -> object:
    return custom(lambda asked: LOST if parts.retriever().retrieve(asked) else "").query(SKY)


@TABLE.row(Outcome(prompt=[], answer=LOST, loss=Loss.DROPPED))
def a_custom_engine_that_shows_its_model_no_passage(parts: Parts) -> object:
    def answer(asked: str) -> str:
        parts.retriever().retrieve(asked)
        return parts.lost.complete(asked).text

    return custom(answer).query(SKY)


@TABLE.row(Outcome())
def a_custom_engine_that_returns_a_response(parts: Parts) -> object:
    def answer(asked: str) -> Response:
        nodes = parts.retriever().retrieve(asked)
        text = parts.knows.complete("\n".join(node.text for node in nodes)).text
        return Response(text, source_nodes=nodes)

    return custom(answer).query(SKY)


@TABLE.row(Outcome(steps=[], prompt=None, answer=LOST, loss=UNKNOWN))
def a_custom_engine_that_retrieves_nothing(parts: Parts) -> object:
    return custom(lambda asked: parts.lost.complete(asked).text).query(SKY)


@TABLE.row()
def a_model_alone(parts: Parts) -> object:
    return parts.knows.complete(SKY)


# routers -----------------------------------------------------------------------------------------


def choose(*numbers: int) -> ScriptedLLM:
    chosen = ", ".join(f'{{"choice": {number}, "reason": "It knows."}}' for number in numbers)
    return ScriptedLLM(default=f"[{chosen}]")


@TABLE.row(Outcome())
def a_router_with_one_choice(parts: Parts) -> object:
    tools = [tool(parts.engine(), "sky"), tool(parts.engine(parts.lost), "other")]
    selector = LLMSingleSelector.from_defaults(llm=choose(1))
    return RouterQueryEngine(selector, tools, llm=parts.knows).query(SKY)


TWICE = [("retrieve", "VectorIndexRetriever-1", BOTH), ("retrieve", "VectorIndexRetriever-2", BOTH)]


@TABLE.row(Outcome(steps=TWICE, prompt=[ANSWER, LOST], answer="Some say so.", loss=Loss.UNUSED))
def a_router_with_two_choices_whose_summary_ignores_the_answer(parts: Parts) -> object:
    tools = [tool(parts.engine(), "sky"), tool(parts.engine(parts.lost), "other")]
    selector = LLMMultiSelector.from_defaults(llm=choose(1, 2))
    return RouterQueryEngine(selector, tools, llm=ScriptedLLM(default="Some say so.")).query(SKY)


@TABLE.row(Outcome())
def a_router_of_retrievers(parts: Parts) -> object:
    tools = [
        RetrieverTool.from_defaults(parts.retriever(), description="knows"),
        RetrieverTool.from_defaults(parts.retriever(1), description="other"),
    ]
    router = RouterRetriever.from_defaults(tools, llm=parts.knows, selector=LLMSingleSelector.from_defaults(llm=choose(1)))
    return RetrieverQueryEngine(router, get_response_synthesizer(llm=parts.knows)).query(SKY)


# sub-questions -----------------------------------------------------------------------------------


class SkyAndHeat(BaseQuestionGenerator):
    """Asks ``sky`` why it is blue, and ``heat`` what a pump costs."""

    def generate(self, tools: Sequence[Any], query: QueryBundle) -> list[SubQuestion]:
        return [SubQuestion(sub_question=SKY, tool_name="sky"), SubQuestion(sub_question=HEAT, tool_name="heat")]

    async def agenerate(self, tools: Sequence[Any], query: QueryBundle) -> list[SubQuestion]:
        return self.generate(tools, query)

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: object) -> None: ...


ASKED = f"{SKY} And {HEAT}"
COSTS = "About 12,000 euros."
HEATED = ("retrieve", "VectorIndexRetriever-2", ("heat",))


def sub_questions(parts: Parts, sky: Any, *, final: Any = None, use_async: bool = False) -> SubQuestionQueryEngine:
    heat = parts.engine(ScriptedLLM(default=COSTS), similarity_top_k=1)
    return SubQuestionQueryEngine(
        SkyAndHeat(),
        get_response_synthesizer(llm=final or parts.knows, use_async=use_async),
        [tool(sky, "sky"), tool(heat, "heat")],
        verbose=False,
        use_async=use_async,
    )


def sub_answers(sky: str) -> list[str]:
    return [f"Sub question: {SKY}\nResponse: {sky}", f"Sub question: {HEAT}\nResponse: {COSTS}"]


SUB_STEPS = [("retrieve", "VectorIndexRetriever-1", BOTH), HEATED]


@TABLE.row(Outcome(ASKED, SUB_STEPS, sub_answers(ANSWER)))
def sub_questions_answered(parts: Parts) -> object:
    return sub_questions(parts, parts.engine()).query(ASKED)


@TABLE.row(Outcome(ASKED, SUB_STEPS, sub_answers(LOST), LOST, Loss.SUB_ANSWER, "sky"))
def a_sub_engine_that_ignores_its_passage(parts: Parts) -> object:
    return sub_questions(parts, parts.engine(parts.lost), final=parts.lost).query(ASKED)


@TABLE.row(Outcome(ASKED, SUB_STEPS, sub_answers(LOST), LOST, Loss.SUB_ANSWER, "sky"))
async def an_awaited_sub_engine_that_ignores_its_passage(parts: Parts) -> object:
    return await sub_questions(parts, parts.engine(parts.lost), final=parts.lost, use_async=True).aquery(ASKED)


@TABLE.row(
    Outcome(
        ASKED,
        [SUB_STEPS[0], ("filter", "DropFirst", ("ocean",)), HEATED],
        sub_answers(LOST),
        LOST,
        Loss.DROPPED,
    )
)
def a_sub_engine_whose_filter_drops_the_passage(parts: Parts) -> object:
    inner = parts.engine(parts.lost, node_postprocessors=[DropFirst()])
    return sub_questions(parts, inner, final=parts.lost).query(ASKED)


@TABLE.row(Outcome(ASKED, SUB_STEPS, sub_answers(ANSWER), LOST, Loss.UNUSED))
def a_sub_answer_that_the_last_model_ignores(parts: Parts) -> object:
    return sub_questions(parts, parts.engine(), final=parts.lost).query(ASKED)


@TABLE.row(
    Outcome(
        ASKED,
        [("retrieve", "BrokenRetriever", ()), ("retrieve", "VectorIndexRetriever", ("heat",))],
        sub_answers(ANSWER)[1:],
        LOST,
        Loss.FAILED,
    )
)
def a_sub_engine_that_fails(parts: Parts) -> object:
    broken = RetrieverQueryEngine(BrokenRetriever(), get_response_synthesizer(llm=parts.knows))
    return sub_questions(parts, broken, final=parts.lost).query(ASKED)


@TABLE.row(
    Outcome(
        steps=TWICE,
        prompt=[f"\nQuestion: {SKY}\nAnswer: {LOST}", f"\nQuestion: {SKY}\nAnswer: {LOST}"][:1],
        answer=LOST,
        loss=Loss.SUB_ANSWER,
        lost_by="RetrieverQueryEngine",
    )
)
def several_steps_whose_answers_ignore_the_passage(parts: Parts) -> object:
    transform = StepDecomposeQueryTransform(llm=ScriptedLLM(default=SKY), verbose=False)
    last = get_response_synthesizer(llm=parts.lost)
    engine = MultiStepQueryEngine(parts.engine(parts.lost), transform, response_synthesizer=last, num_steps=2)
    return engine.query(SKY)


# fusion and transformed queries ------------------------------------------------------------------


def answered_from(parts: Parts, retriever: Any, llm: Any = None) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(retriever, get_response_synthesizer(llm=llm or parts.knows))


@TABLE.row(
    Outcome(
        steps=[
            ("retrieve", "VectorIndexRetriever-1", BOTH),
            ("retrieve", "VectorIndexRetriever-2", ("rayleigh",)),
            ("fuse", "QueryFusionRetriever", BOTH),
        ]
    )
)
def a_fusion_of_two_retrievers(parts: Parts) -> object:
    fusion = QueryFusionRetriever(
        [parts.retriever(), parts.retriever(1)], llm=parts.knows, num_queries=1, similarity_top_k=2, use_async=False
    )
    return answered_from(parts, fusion).query(SKY)


@TABLE.row(
    Outcome(
        steps=[
            ("retrieve", "VectorIndexRetriever-1", BOTH),
            ("retrieve", "VectorIndexRetriever-2", ("heat", "insulation")),
            ("fuse", "QueryFusionRetriever", ("heat", "rayleigh")),
        ],
        prompt=["heat", "rayleigh"],
        answer=LOST,
        loss=Loss.UNUSED,
    )
)
async def a_fusion_of_generated_queries(parts: Parts) -> object:
    fusion = QueryFusionRetriever([parts.retriever()], llm=ScriptedLLM(default=HEAT), num_queries=2, similarity_top_k=2)
    return await answered_from(parts, fusion, parts.lost).aquery(SKY)


@TABLE.row(
    Outcome(
        steps=[("retrieve", "VectorIndexRetriever", ("heat", "insulation"))],
        prompt=["heat", "insulation"],
        answer=LOST,
        loss=Loss.NOT_RETRIEVED,
    )
)
def a_hypothetical_document_that_leads_astray(parts: Parts) -> object:
    hyde = HyDEQueryTransform(llm=ScriptedLLM(default="A heat pump costs much in a house."), include_original=False)
    return TransformQueryEngine(parts.engine(parts.lost), hyde).query(SKY)


@TABLE.row(Outcome())
def a_retriever_of_hypothetical_documents(parts: Parts) -> object:
    hyde = HyDEQueryTransform(llm=parts.knows, include_original=True)
    return answered_from(parts, TransformRetriever(parts.retriever(), hyde)).query(SKY)


# New nodes, which say what number their source has; before 0.14 they kept the identifiers of their sources.
@TABLE.row(Outcome(prompt=["rayleigh", "ocean"] if OLD else ["Rayleigh scattering", "Ocean"]))
def citations(parts: Parts) -> object:
    return CitationQueryEngine.from_args(parts.index, llm=parts.knows, similarity_top_k=2).query(SKY)


@TABLE.row(Outcome())
def a_retry_that_is_not_needed(parts: Parts) -> object:
    return RetryQueryEngine(parts.engine(), RelevancyEvaluator(llm=ScriptedLLM(default="YES"))).query(SKY)


@TABLE.row(
    Outcome(
        steps=[
            ("retrieve", "VectorIndexRetriever-1", ("All about the sky, which is blue.",)),
            ("retrieve", "VectorIndexRetriever-2", ("rayleigh",)),
            ("fuse", "RecursiveRetriever", ("rayleigh",)),
        ],
        prompt=["rayleigh"],
    )
)
def a_node_that_refers_to_an_engine(parts: Parts) -> object:
    top = IndexNode(text="All about the sky, which is blue.", index_id="sky")
    from llama_index.core import VectorStoreIndex

    index = VectorStoreIndex([top], embed_model=WordEmbedding())
    recursive = RecursiveRetriever(
        "top", retriever_dict={"top": index.as_retriever(similarity_top_k=1), "sky": parts.retriever(1)}, verbose=False
    )
    return answered_from(parts, recursive).query(SKY)


WINDOW = "The sky is blue because air molecules scatter blue light.  Sunsets are red."


@TABLE.row(
    Outcome(
        steps=[
            ("retrieve", "VectorIndexRetriever", ("The sky is blue because air molecules scatter blue light. ",)),
            ("retrieve", "MetadataReplacementPostProcessor/own", (WINDOW,)),  # the other sentence was found by no search
            ("rerank", "MetadataReplacementPostProcessor", (WINDOW,)),
        ],
        prompt=[WINDOW],
    )
)
def a_sentence_with_its_window(parts: Parts) -> object:
    from llama_index.core import VectorStoreIndex

    nodes = SentenceWindowNodeParser.from_defaults(window_size=1).get_nodes_from_documents(
        [Document(text="The sky is blue because air molecules scatter blue light. Sunsets are red.")]
    )
    index = VectorStoreIndex(nodes, embed_model=WordEmbedding())
    after = [MetadataReplacementPostProcessor(target_metadata_key="window")]
    return index.as_query_engine(llm=parts.knows, similarity_top_k=1, node_postprocessors=after).query(SKY)


class Claim(BaseModel):
    """A structured answer."""

    claim: str


@TABLE.row(Outcome(answer=f'{{"claim":"{ANSWER}"}}'))
def a_structured_answer(parts: Parts) -> object:
    llm = ScriptedLLM(default=f'{{"claim": "{ANSWER}"}}').as_structured_llm(Claim)
    return parts.engine(llm).query(SKY)


# what fails --------------------------------------------------------------------------------------


@TABLE.row(Outcome(steps=[("retrieve", "BrokenRetriever", ())], prompt=None, answer=None))
def a_retriever_that_fails(parts: Parts) -> object:
    engine = answered_from(parts, BrokenRetriever())
    with pytest.raises(ValueError, match="the database is down"):
        engine.query(SKY)
    return None


class BrokenLLM(ScriptedLLM):
    """Fails at once, or in the middle of its stream."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        message = "no quota"
        raise RuntimeError(message)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        def parts() -> CompletionResponseGen:
            yield CompletionResponse(text="The", delta="The")
            message = "no quota"
            raise RuntimeError(message)

        return parts()


@TABLE.row(Outcome(answer=None))
def a_model_that_fails(parts: Parts) -> object:
    with pytest.raises(RuntimeError, match="no quota"):
        parts.engine(BrokenLLM()).query(SKY)
    return None


@TABLE.row(Outcome(answer=None))
def a_model_that_fails_in_the_middle_of_its_stream(parts: Parts) -> object:
    with pytest.raises(RuntimeError, match="no quota"):
        list(parts.engine(BrokenLLM(), streaming=True).query(SKY).response_gen)
    return None


@TABLE.row(Outcome(steps=[SEARCH, ("filter", "Broken", ())], prompt=None, answer=None))
def a_postprocessor_that_fails(parts: Parts) -> object:
    with pytest.raises(RuntimeError, match="no such model"):
        parts.engine(node_postprocessors=[Broken()]).query(SKY)
    return None


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """An event loop that is closed afterwards: LlamaIndex opens one where there is none, and leaves it open."""
    opened = asyncio.new_event_loop()
    asyncio.set_event_loop(opened)
    yield
    asyncio.set_event_loop(None)
    opened.close()


@pytest.mark.parametrize("scenario", TABLE, ids=lambda scenario: scenario.name)
def test_a_query_engine_is_recorded_as_it_was(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", ScriptedLLM())
    with attach(measures=()) as recording, needs_word_lists():
        check(scenario, recording)
