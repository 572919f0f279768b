from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import Settings, SummaryIndex, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import QueryBundle
from pydantic import PrivateAttr

from rag_cover import Question, SubQuestion
from rag_cover.augmentation import AugmentationMode
from rag_cover.backends import Failure
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.testing import ScriptedGenerator
from rag_cover_llama_index.engines import CoverageQueryEngine
from tests.llama_index.loops import Gate, GatedRetriever
from tests.llama_index.parts import ScriptedLLM
from tests.llama_index.spans import watched_spans

TWO = "Why is the sky blue and how much does a heat pump cost?"
ANSWER = "Air scatters blue light, and a heat pump costs 12,000 euros."


def two(_question: Question) -> list[SubQuestion]:
    return [SubQuestion("Why is the sky blue?"), SubQuestion("How much does a heat pump cost?")]


class RememberingLLM(ScriptedLLM):
    """Remembers its chats and the settings that it was asked to go by."""

    _chats: list[tuple[str, dict[str, Any]]] = PrivateAttr(default_factory=list)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self._chats.append(("\n".join(str(message.content) for message in messages), kwargs))
        said: ChatResponse = super().chat(messages)
        return said

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages, **kwargs)


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("definition", "A core sub-question is central to the question"),
        ("subquestions", "the sub-questions that are listed"),
        ("retrieval", "You answer a question from passages"),
        ("auto", "You answer a question from passages"),
        ("end-to-end", "by putting together answers to its sub-questions"),
    ],
)
def test_every_mode_answers_by_its_own_prompt(index: VectorStoreIndex, mode: AugmentationMode, told: str) -> None:
    llm = RememberingLLM(script={"by putting together": ANSWER, "as briefly as possible": "scattering"}, default=ANSWER)

    response = CoverageQueryEngine(index, llm, mode=mode, decomposer=two, k=4).query(TWO)

    assert isinstance(response, Response)
    assert response.response == ANSWER
    assert told in llm._chats[-1][0]
    assert "rayleigh" in [node.node_id for node in response.source_nodes]


def test_the_answer_is_written_by_the_models_own_settings(index: VectorStoreIndex) -> None:
    llm = RememberingLLM(default=ANSWER)

    CoverageQueryEngine(index, llm, mode="end-to-end", decomposer=two).query(TWO)

    *sub_answers, (_, settings) = llm._chats
    assert settings == {}
    assert [asked["temperature"] for _, asked in sub_answers] == [0.0, 0.0]


def test_the_response_says_what_was_sought_and_what_is_covered(index: VectorStoreIndex) -> None:
    asked = [SubQuestion("How much does a heat pump cost?"), SubQuestion("Who is the mayor of Lisbon?")]

    response = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), decomposer=lambda _: asked, k=3).query(TWO)

    told = response.metadata["augmentation"] if response.metadata else {}
    assert json.loads(json.dumps(told)) == told
    assert [each["covered"] for each in told["sub_questions"]] == [True, False]
    assert told["uncovered"] == ["Who is the mayor of Lisbon?"]
    assert [search["query"] for search in told["searches"]] == [TWO, *(each.text for each in asked)]
    assert told["failures"] == []
    assert response.metadata is not None
    assert response.metadata["heat"]["title"] == "Heat pump"


def test_without_a_judge_nothing_is_said_of_coverage(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), mode="subquestions", judge=None, decomposer=two)

    told = (engine.query(TWO).metadata or {})["augmentation"]

    assert all("covered" not in each and "probability" not in each for each in told["sub_questions"])


def test_a_language_model_splits_the_question_unless_its_definition_is_all_that_counts(index: VectorStoreIndex) -> None:
    split = '{"sub_questions": ["Why is the sky blue?"]}'
    typed = '{"types": [{"number": 1, "type": "core"}]}'
    script = {"Write at most": split, "Give the type": typed}
    listing, defining = RememberingLLM(script=script, default=ANSWER), RememberingLLM(script=script, default=ANSWER)

    CoverageQueryEngine(index, listing, mode="subquestions").query(TWO)
    CoverageQueryEngine(index, defining, mode="definition").query(TWO)

    assert len(listing._chats) == 3
    assert len(defining._chats) == 1


def test_where_a_model_cannot_split_rules_do_and_that_is_told(index: VectorStoreIndex) -> None:
    response = CoverageQueryEngine(index, ScriptedLLM(default="no JSON"), k=3).query(TWO)

    told = (response.metadata or {})["augmentation"]
    assert {each["text"] for each in told["sub_questions"]} >= {"How much does a heat pump cost?"}
    assert [failure["kind"] for failure in told["failures"]] == ["malformed"]


def test_an_answer_that_is_not_asked_of_the_augmentation_is_no_failure_of_it(index: VectorStoreIndex) -> None:
    for mode in ("definition", "end-to-end"):
        response = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), mode=mode, decomposer="rules").query(TWO)

        assert (response.metadata or {})["augmentation"]["failures"] == []


def test_the_users_synthesizer_answers_from_what_is_kept(index: VectorStoreIndex) -> None:
    synthesizer = get_response_synthesizer(llm=ScriptedLLM(script={"12,000": "12,000 euros."}))
    engine = CoverageQueryEngine(index, response_synthesizer=synthesizer, k=3)

    told, later = engine.query(TWO), asyncio.run(engine.aquery(TWO))

    assert str(told) == str(later) == "12,000 euros."
    assert (told.metadata or {})["augmentation"]["mode"] == "retrieval"
    assert (later.metadata or {})["augmentation"] == (told.metadata or {})["augmentation"]


def test_an_answer_streams(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), mode="end-to-end", decomposer=two, streaming=True)

    response = engine.query(TWO)

    assert isinstance(response, StreamingResponse)
    assert (response.metadata or {})["augmentation"]["mode"] == "end-to-end"
    words = list(response.response_gen)
    assert len(words) > 3
    assert "".join(words) == ANSWER


def test_an_answer_streams_asynchronously(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), decomposer=two, streaming=True)

    async def streamed() -> str:
        response = await engine.aquery(TWO)
        assert isinstance(response, AsyncStreamingResponse)
        assert response.source_nodes
        return "".join([word async for word in response.async_response_gen()])

    assert asyncio.run(streamed()) == ANSWER


def test_where_nothing_is_found_nobody_is_asked() -> None:
    llm = RememberingLLM()
    engine = CoverageQueryEngine(SummaryIndex([]), llm, mode="definition")

    response = engine.query(TWO)

    assert str(response) == "Empty Response"
    assert llm._chats == []
    assert (response.metadata or {})["augmentation"]["notes"] == ["nothing was retrieved"]


def test_what_is_written_is_a_synthesis_from_the_kept_nodes(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), mode="subquestions", decomposer=two, k=2)

    with watched_spans() as parents:
        engine.query(TWO)
        asyncio.run(engine.aquery(TWO))

    assert parents.of("PromptSynthesizer.synthesize") == ["CoverageQueryEngine._query"]
    assert parents.of("PromptSynthesizer.asynthesize") == ["CoverageQueryEngine._aquery"]


def test_a_models_callbacks_stay_its_own(index: VectorStoreIndex) -> None:
    llm, own = ScriptedLLM(default=ANSWER), CallbackManager([])
    llm.callback_manager = own

    CoverageQueryEngine(index, llm, callback_manager=CallbackManager([]))

    assert llm.callback_manager is own


def test_one_of_rag_covers_generators_answers_too(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedGenerator({"purpose: answer": ANSWER}), mode="definition")

    assert str(engine.query(TWO)) == str(asyncio.run(engine.aquery(TWO))) == ANSWER


def test_a_generator_that_fails_on_the_answer_is_an_error(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedGenerator(default=Failure("timeout", "60 s")), mode="definition")

    with pytest.raises(ModelFailedError, match="60 s"):
        engine.query(TWO)


class BrokenLLM(ScriptedLLM):
    """Is not there."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        message = "connection refused"
        raise ConnectionError(message)


def test_a_language_model_that_is_not_there_is_its_own_error(index: VectorStoreIndex) -> None:
    with pytest.raises(ConnectionError, match="connection refused"):
        CoverageQueryEngine(index, BrokenLLM()).query(TWO)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "nobody is there to write the answer"),
        ({"llm": ScriptedGenerator(), "streaming": True}, "only a LlamaIndex LLM streams"),
        ({"llm": ScriptedLLM(), "mode": "retreival"}, "no augmentation is called 'retreival'. Did you mean 'retrieval'"),
        ({"llm": ScriptedLLM(), "k": 0}, "k is 0"),
        ({"llm": ScriptedLLM(), "judge": None}, "judges coverage: give it a scorer"),
        ({"llm": 3}, "'int' cannot serve as generator"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(index: VectorStoreIndex, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        CoverageQueryEngine(index, **settings)


def test_a_synthesizer_is_refused_where_it_would_not_be_used(index: VectorStoreIndex) -> None:
    synthesizer = get_response_synthesizer(llm=ScriptedLLM())

    with pytest.raises(InvalidValueError, match="'definition' has a prompt of its own"):
        CoverageQueryEngine(index, response_synthesizer=synthesizer, mode="definition")
    with pytest.raises(InvalidValueError, match="streams where it is told to"):
        CoverageQueryEngine(index, response_synthesizer=synthesizer, streaming=True)


def test_a_blank_question_is_refused(index: VectorStoreIndex) -> None:
    with pytest.raises(InvalidValueError, match="the question is blank"):
        CoverageQueryEngine(index, ScriptedLLM()).query(" ")


def test_the_kept_nodes_can_be_had_without_an_answer(index: VectorStoreIndex) -> None:
    llm = RememberingLLM()
    engine = CoverageQueryEngine(index, llm, decomposer=two, k=3)

    nodes = engine.retrieve(QueryBundle(TWO))

    assert {"rayleigh", "heat"} <= {node.node_id for node in nodes}
    assert llm._chats == []
    assert isinstance(engine.retriever, BaseRetriever)


def test_end_to_end_names_all_that_sub_answers_were_read_from(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), mode="end-to-end", decomposer=two, k=1)

    response = engine.query(TWO)

    assert [node.node_id for node in response.source_nodes] == ["rayleigh", "heat"]


def test_a_query_does_not_block_the_loop(index: VectorStoreIndex) -> None:
    gate = Gate()
    engine = CoverageQueryEngine(GatedRetriever(gate, index.as_retriever()), ScriptedLLM(default=ANSWER), decomposer=two)

    response = gate.run(engine.aquery(TWO))

    assert str(response) == ANSWER


def test_one_engine_serves_16_threads_at_once(index: VectorStoreIndex) -> None:
    llm = ScriptedLLM(script={"heat pump": "12,000 euros.", "Jaws": "In 1946."})
    engine, together = CoverageQueryEngine(index, llm, decomposer="rules", k=1), threading.Barrier(16)

    def ask(question: str) -> str:
        together.wait()
        return str(engine.query(question))

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, ["How much does a heat pump cost?", "When was Jaws made?"] * 8))

    assert answers == ["12,000 euros.", "In 1946."] * 8


def test_the_users_callbacks_see_the_query(index: VectorStoreIndex) -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    engine = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), decomposer=two, callback_manager=CallbackManager([debug]))

    engine.query(TWO)

    assert len(debug.get_event_pairs(CBEventType.QUERY)) == 1


def test_every_search_is_a_span_under_the_query_that_made_it(index: VectorStoreIndex) -> None:
    engine = CoverageQueryEngine(index, ScriptedLLM(default=ANSWER), decomposer=two)

    with watched_spans() as sync:
        engine.query(TWO)
    with watched_spans() as later:
        asyncio.run(engine.aquery(TWO))

    assert sync.of("VectorIndexRetriever.retrieve") == ["CoverageQueryEngine._query"] * 3
    assert later.of("VectorIndexRetriever.retrieve") == ["CoverageQueryEngine._aquery"] * 3


def test_the_frameworks_default_models_are_never_asked_for(monkeypatch: pytest.MonkeyPatch, index: VectorStoreIndex) -> None:
    monkeypatch.setattr(Settings, "_llm", None)
    monkeypatch.setattr(Settings, "_embed_model", None)

    CoverageQueryEngine(index, ScriptedLLM(default=ANSWER)).query(TWO)
    CoverageQueryEngine(index, ScriptedGenerator(default=ANSWER)).query(TWO)

    assert (Settings._llm, Settings._embed_model) == (None, None)


def test_its_prompts_are_those_of_its_synthesizer(index: VectorStoreIndex) -> None:
    synthesizer = get_response_synthesizer(llm=ScriptedLLM())

    assert "response_synthesizer:text_qa_template" in CoverageQueryEngine(index, response_synthesizer=synthesizer).get_prompts()
    assert CoverageQueryEngine(index, ScriptedLLM()).get_prompts() == {}
