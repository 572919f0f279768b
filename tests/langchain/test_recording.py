"""What LangChain's chains and retrievers do with a question is recorded as it is."""

from __future__ import annotations

import asyncio
import copy
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBranch, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import Evaluation, Redaction, Trace
from rag_cover.measures import TraceResult
from rag_cover.redaction import redact_trace
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover_langchain.attachment import attach
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_langchain.embeddings import RagCoverEmbeddings
from rag_cover_langchain.tags import INTERNAL, PROBE
from tests.langchain.parts import ScriptedChatModel, corpus_documents
from tests.langchain.recordings import (
    ANSWER,
    HEAT,
    PATIENCE_S,
    SKY,
    answering,
    config,
    find,
    ids,
    is_empty,
    joined,
    only,
    prompt,
    rag,
    recorder,
    steps,
    told,
)

PIPELINE = "RunnableParallel<context,question> > ChatPromptTemplate > ScriptedChatModel > StrOutputParser"


@pytest.mark.parametrize("is_async", [False, True])
def test_a_chain_becomes_a_trace(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, is_async: bool
) -> None:
    chain = rag(store.as_retriever(search_kwargs={"k": 2}), model)

    answer = asyncio.run(chain.ainvoke(SKY, config(handler))) if is_async else chain.invoke(SKY, config(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer, trace.pipeline) == (SKY, answer, PIPELINE)
    assert steps(trace) == [("retrieve", "VectorStoreRetriever", ["rayleigh", "ocean"])]
    assert prompt(trace) == ["rayleigh", "ocean"]
    first = trace.steps[0].passages[0]
    assert (first.title, first.metadata["source"]) == ("Rayleigh scattering", "corpus")
    assert (trace.steps[0].query, trace.steps[0].started_at is not None) == (SKY, True)


def test_a_chain_over_the_embedded_model_is_recorded_and_measured_by_the_embedded_judge(model: BaseChatModel) -> None:
    store = InMemoryVectorStore(RagCoverEmbeddings())
    store.add_documents(corpus_documents())
    chain = rag(store.as_retriever(search_kwargs={"k": 2}), model)

    with RagCoverCallbackHandler(measures=["coverage", "groundedness"]) as handler:
        with handler.question(sub_questions=[SKY, HEAT]):
            chain.invoke(SKY, config(handler))
        assert handler.flush(60)

    (result,) = handler.results
    assert "rayleigh" in ids(result.trace)
    assert result.coverage is not None
    assert [each.answer is not None and each.answer.covered for each in result.coverage.sub_questions] == [True, False]
    assert (handler.counts.measured, handler.errors) == (1, ())


def test_three_retrievers_at_once_are_three_steps_and_what_merges_them_fuses(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    def merged(found: dict[str, list[Document]]) -> list[Document]:
        return list({each.id: each for documents in found.values() for each in documents}.values())[::-1]

    one, two, three = (store.as_retriever(search_kwargs={"k": k}) for k in (1, 2, 3))
    together: RunnableParallel[str] = RunnableParallel(one=one, two=two, three=three)

    rag(together | merged, model).invoke(SKY, config(handler))

    trace = only(handler)
    names = [f"VectorStoreRetriever-{number}" for number in (1, 2, 3)]
    assert [step.id for step in trace.steps[:3]] == names
    assert sorted(len(step.passages) for step in trace.steps[:3]) == [1, 2, 3]
    assert (trace.steps[3].kind, set(trace.steps[3].input_ids)) == ("fuse", set(names))
    assert prompt(trace) == ids(trace) == ["sunset", "ocean", "rayleigh"]


def test_a_function_that_drops_some_filters(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    chain = rag(store.as_retriever(search_kwargs={"k": 3}) | (lambda found: found[:1]), model)

    chain.invoke(SKY, config(handler))

    trace = only(handler)
    assert [(step.kind, step.input_ids) for step in trace.steps] == [("retrieve", ()), ("filter", ("VectorStoreRetriever",))]
    assert prompt(trace) == ids(trace) == ["rayleigh"]


def test_a_function_that_drops_all_filters_for_the_same_question(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore
) -> None:
    chain = store.as_retriever() | (lambda found: found[:0]) | (lambda found: f"found {len(found)}")

    assert chain.invoke(SKY, config(handler)) == "found 0"

    trace = only(handler)
    assert (trace.steps[-1].kind, trace.steps[-1].query, trace.steps[-1].passages) == ("filter", SKY, ())
    assert trace.answer == "found 0"


def test_functions_that_search_by_themselves_are_told_by_what_they_return(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    def with_scores(question: str) -> list[tuple[Document, float]]:
        return store.similarity_search_with_score(question, k=3)

    def best(found: list[tuple[Document, float]]) -> list[Document]:
        return [document for document, _ in sorted(found, key=lambda each: each[1])][:2]

    rag(RunnableLambda(with_scores) | best, model).invoke(SKY, config(handler))

    trace = only(handler)
    assert [step.kind for step in trace.steps] == ["retrieve", "rerank"]
    assert ids(trace, 0) == ["rayleigh", "ocean", "sunset"]
    assert prompt(trace) == ids(trace) == ["sunset", "ocean"]


def test_documents_that_are_assigned_and_answered_from_are_recorded(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    search = find(store, 2)
    found = RunnablePassthrough.assign(documents=lambda asked: search(asked["question"]))
    chain = found.assign(
        answer=(lambda held: {"context": joined(held["documents"]), "question": held["question"]}) | answering(model)
    )

    output = chain.invoke({"question": SKY}, config(handler))

    trace = only(handler)
    assert (output["answer"], trace.answer, trace.question.text) == (ANSWER, ANSWER, SKY)
    assert [(step.kind, len(step.passages)) for step in trace.steps] == [("retrieve", 2)]
    assert prompt(trace) == ids(trace)


def test_documents_that_the_caller_brings_are_a_step(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    answering(model).invoke({"context": store.similarity_search(SKY, k=2), "question": SKY}, config(handler))

    trace = only(handler)
    assert steps(trace) == [
        ("retrieve", "ChatPromptTemplate > ScriptedChatModel > StrOutputParser/given", ["rayleigh", "ocean"])
    ]
    assert prompt(trace) == ["rayleigh", "ocean"]


def test_a_part_that_retrieves_and_answers_says_both(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    def both(question: str) -> dict[str, Any]:
        found = store.similarity_search(question, k=2)
        return {"documents": found, "answer": answering(model).invoke({"context": joined(found), "question": question})}

    (RunnableLambda(both) | (lambda held: {**held, "asked": SKY})).invoke(SKY, config(handler))

    trace = only(handler)
    assert (trace.answer, [step.kind for step in trace.steps]) == (ANSWER, ["retrieve"])
    assert prompt(trace) == ids(trace) == ["rayleigh", "ocean"]


def test_an_answer_that_is_touched_up_was_written_from_what_its_model_was_shown(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore
) -> None:
    checking = ScriptedChatModel(default="yes")
    writing = ScriptedChatModel(default=ANSWER)

    def answer(question: str) -> str:
        found = store.similarity_search(question, k=3)
        said = answering(writing).invoke({"context": joined(found[:2]), "question": question})
        answering(checking).invoke({"context": joined(found[2:]), "question": said})
        return f"{said} [1]"

    chain = RunnableLambda(find(store, 3)) | (lambda _: answer(SKY))

    assert chain.invoke(SKY, config(handler)) == f"{ANSWER} [1]"
    assert prompt(only(handler)) == ["rayleigh", "ocean"]


def test_an_answer_that_is_put_together_from_what_models_said_was_written_from_all_they_read(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore
) -> None:
    writing = ScriptedChatModel(script={"Notes": "Both."}, default="A note.")

    def notes(found: list[Document]) -> dict[str, str]:
        said = [answering(writing).invoke({"context": each.page_content, "question": "?"}) for each in found]
        return {"context": "Notes: " + " ".join(said), "question": SKY}

    chain = store.as_retriever(search_kwargs={"k": 2}) | notes | answering(writing)

    assert chain.invoke(SKY, config(handler)) == "Both."
    assert prompt(only(handler)) == ["rayleigh", "ocean"]


def test_a_bare_retrieval_is_a_trace_without_an_answer(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    store.as_retriever(search_kwargs={"k": 2}).invoke(SKY, config(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer, trace.prompt) == (SKY, None, None)
    assert ids(trace) == ["rayleigh", "ocean"]


def test_a_bare_tool_is_a_trace_whose_prompt_is_unknown(handler: RagCoverCallbackHandler, store: InMemoryVectorStore) -> None:
    create_retriever_tool(store.as_retriever(), "look_up", "Finds passages.").invoke({"query": SKY}, config(handler))

    trace = only(handler)
    assert (trace.question.text, trace.answer, trace.prompt) == (SKY, None, None)
    assert [step.id for step in trace.steps] == ["VectorStoreRetriever"]


def test_a_function_around_chains_and_a_branch_are_looked_through(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    chain = rag(store.as_retriever(search_kwargs={"k": 1}), model)
    branch = RunnableBranch((lambda asked: "sky" in asked, chain), answering(model))

    RunnableLambda(branch.invoke).invoke(SKY, config(handler))

    trace = only(handler)
    assert (trace.answer, prompt(trace)) == (ANSWER, ["rayleigh"])


def test_a_model_by_itself_asks_nothing(handler: RagCoverCallbackHandler, model: BaseChatModel) -> None:
    model.invoke(SKY, config(handler))

    assert told(handler) == ()
    assert handler.counts.begun == 0
    assert is_empty(handler)


def test_several_questions_are_several_traces(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    rag(store.as_retriever(), model).batch([SKY, HEAT], config(handler, max_concurrency=1))

    assert [trace.question.text for trace in told(handler)] == [SKY, HEAT]
    assert is_empty(handler)


def test_what_is_said_of_a_question_goes_into_its_trace(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    chain = rag(store.as_retriever(), model)

    with handler.question(id="q1", references="Scattering.", sub_questions=["What scatters?"], metadata={"user": "Ada"}):
        chain.invoke(SKY, config(handler))

    _check_said(only(handler))


def test_what_is_known_of_a_question_may_be_in_the_metadata_of_its_run(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    said = {"id": "q1", "references": ["Scattering."], "sub_questions": ["What scatters?"], "metadata": {"user": "Ada"}}

    rag(store.as_retriever(), model).invoke(SKY, config(handler, metadata={"rag_cover": said}))

    _check_said(only(handler))


def _check_said(trace: Trace) -> None:
    assert (trace.question.id, trace.question.references) == ("q1", ("Scattering.",))
    assert [each.text for each in trace.sub_questions or ()] == ["What scatters?"]
    assert trace.metadata == {"name": PIPELINE, "user": "Ada"}


@pytest.mark.parametrize("said", ["q1", {"ids": "q1"}, {"references": 3}, {"text": " "}, {"sub_questions": "Why?"}])
def test_what_cannot_be_meant_is_told_once_and_leaves_the_trace(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, said: object
) -> None:
    chain = rag(store.as_retriever(), model)

    assert chain.invoke(SKY, config(handler, metadata={"rag_cover": said})) == ANSWER

    assert handler.flush(PATIENCE_S)
    (error,) = handler.errors
    assert error.message.startswith("metadata['rag_cover'] of RunnableSequence: ")
    assert handler.traces[0].answer == ANSWER


def test_a_handler_that_is_attached_hears_every_thread_until_it_is_closed(
    store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    chain = rag(store.as_retriever(), model)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(len, ["there", "before"]))
        with attach(recorder()) as handler:
            list(pool.map(chain.invoke, [SKY, HEAT]))
        chain.invoke(SKY)
        list(pool.map(chain.invoke, [SKY]))

    assert sorted(trace.question.text for trace in told(handler)) == sorted([SKY, HEAT])


def test_a_handler_that_is_attached_and_passed_on_records_once(store: InMemoryVectorStore, model: BaseChatModel) -> None:
    chain = rag(store.as_retriever(search_kwargs={"k": 1}), model)

    with attach(attach(recorder())) as handler:
        chain.invoke(SKY, config(handler, metadata={"rag_cover": {"id": "q1"}}))
        trace = only(handler)

    assert (steps(trace), trace.question.id) == ([("retrieve", "VectorStoreRetriever", ["rayleigh"])], "q1")
    assert handler.counts.begun == 1


def test_of_two_handlers_each_records_by_itself(store: InMemoryVectorStore, model: BaseChatModel) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1})

    with recorder() as outer, recorder() as inner:
        chain = rag(retriever.with_config(config(inner)), model)
        chain.invoke(SKY, config(outer))

        assert (only(outer).answer, prompt(only(outer))) == (ANSWER, ["rayleigh"])
        assert (only(inner).answer, ids(only(inner))) == (None, ["rayleigh"])


def test_a_handler_that_is_passed_on_by_hand_within_a_chain_goes_on_with_its_question(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1})

    def search(question: str) -> list[Document]:
        return retriever.invoke(question, config(handler))

    rag(RunnableLambda(search), model).invoke(SKY, config(handler))

    trace = only(handler)
    assert (steps(trace), trace.answer) == ([("retrieve", "VectorStoreRetriever", ["rayleigh"])], ANSWER)


def test_copies_of_a_chain_go_on_with_their_handler(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    chain = rag(store.as_retriever(), model).with_config(config(handler))

    copied = copy.copy(chain), copy.deepcopy(handler), copy.deepcopy({"callbacks": [handler]})["callbacks"][0]
    copied[0].invoke(SKY)

    assert copied[1] is copied[2] is handler
    assert only(handler).answer == ANSWER


@pytest.mark.parametrize("tag", [PROBE, INTERNAL])
def test_what_no_answer_is_written_from_is_left_out(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, tag: str
) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1})
    chain = rag(retriever, model)

    def probing(question: str) -> str:
        chain.invoke(HEAT, {"tags": [tag]})
        retriever.invoke(HEAT, config(handler, tags=[tag]))
        return question

    (RunnableLambda(probing) | chain).invoke(SKY, config(handler))
    chain.invoke(SKY, config(handler, tags=[tag]))

    trace = only(handler)
    assert (trace.question.text, steps(trace)) == (SKY, [("retrieve", "VectorStoreRetriever", ["rayleigh"])])


@pytest.mark.parametrize("sampling", [0.0, 0.5])
def test_a_share_of_the_questions_is_recorded_and_the_rest_leaves_nothing(
    store: InMemoryVectorStore, model: BaseChatModel, sampling: float
) -> None:
    chain = rag(store.as_retriever(), model)

    with recorder(sampling=sampling, seed=1) as handler:
        for _ in range(20):
            chain.invoke(SKY, config(handler))
        recorded = told(handler)

    counts = handler.counts
    assert (counts.begun, counts.recorded + counts.unsampled, len(recorded)) == (20, 20, counts.recorded)
    assert 0 < counts.recorded < 20 if sampling else not counts.recorded
    assert not handler.gathering._open


def test_utility_is_told_against_gold_where_it_is_known_and_else_against_the_answer(
    store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    chain = rag(store.as_retriever(search_kwargs={"k": 1}), model)

    with RagCoverCallbackHandler(measures=["utility"], references={SKY: "Air scatters blue light."}) as handler:
        for question in (SKY, "Is the sky blue?"):
            chain.invoke(question, config(handler))
        assert handler.flush(60)

    assert [result.utility and result.utility.references for result in handler.results] == ["gold", "answer"]
    assert all(result.utility is not None and len(result.utility.steps) == 1 for result in handler.results)


def test_results_are_delivered_wherever_they_are_wanted(
    store: InMemoryVectorStore, model: BaseChatModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[TraceResult] = []
    chain = rag(store.as_retriever(search_kwargs={"k": 1}), model)
    kept, written = tmp_path / "results.db", tmp_path / "traces.jsonl"

    with caplog.at_level(logging.INFO, "rag_cover.recording"):
        with RagCoverCallbackHandler(
            measures=["coverage"], on_result=heard.append, keep=1, store=kept, traces=written
        ) as handler:
            chain.batch([SKY, HEAT], config(handler, max_concurrency=1))
        handler.evaluation.to_html(tmp_path / "report.html")

    assert [result.trace.question.text for result in heard] == [SKY, HEAT]
    assert handler.results == tuple(heard[1:])
    assert "coverage" in caplog.text
    assert HEAT in (tmp_path / "report.html").read_text()
    assert len(written.read_text().splitlines()) == 2


def test_redacted_results_hold_no_text(store: InMemoryVectorStore, model: BaseChatModel, tmp_path: Path) -> None:
    chain, kept = rag(store.as_retriever(search_kwargs={"k": 1}), model), tmp_path / "results.db"

    with RagCoverCallbackHandler(measures=["coverage"], judge=KeywordScorer(), store=kept, redact=True) as handler:
        chain.invoke(SKY, config(handler))

    assert handler.results[0].trace == redact_trace(handler.traces[0], Redaction())
    assert list(Evaluation.open(kept).results) == list(handler.results)


def test_more_questions_than_may_wait_are_dropped_and_counted(store: InMemoryVectorStore, model: BaseChatModel) -> None:
    chain = rag(store.as_retriever(), model)
    gate = threading.Event()

    with RagCoverCallbackHandler(measures=["coverage"], capacity=1, on_result=lambda _: gate.wait(PATIENCE_S)) as handler:
        answers = [chain.invoke(SKY, config(handler)) for _ in range(20)]
        gate.set()

    assert answers == [ANSWER] * 20
    assert handler.counts.dropped > 0
    assert handler.counts.begun == handler.counts.dropped + handler.counts.measured == 20


def test_documents_and_inputs_are_left_as_they_are(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    found = store.similarity_search(SKY, k=2)
    before = copy.deepcopy(found)

    answering(model).invoke({"context": found, "question": SKY}, config(handler))

    assert found == before
    found[0].metadata["title"] = "Changed"
    assert only(handler).steps[0].passages[0].title == "Rayleigh scattering"


@pytest.mark.slow
def test_a_handler_for_each_request_leaves_the_number_of_threads_flat(chain: Runnable[str, str]) -> None:
    judge = KeywordScorer()
    before = threading.active_count()

    for _ in range(200):
        chain.invoke(SKY, config(RagCoverCallbackHandler(measures=["coverage"], judge=judge)))

    assert threading.active_count() <= before + 1


@pytest.mark.slow
def test_a_process_of_its_own_measures_what_a_chain_answered(
    store: InMemoryVectorStore, model: BaseChatModel, tmp_path: Path
) -> None:
    results = tmp_path / "results.sqlite"
    options: Any = {"measures": ["groundedness"], "judge": KeywordScorer(), "entailer": KeywordEntailer()}

    with attach(store=results, measuring="process", **options) as handler:
        rag(store.as_retriever(search_kwargs={"k": 2}), model).invoke(SKY)
        assert handler.flush(PATIENCE_S)
        recorded = handler.traces

    (result,) = Evaluation.open(results).results
    assert (result.trace, result.failures, list(result.measured)) == (recorded[0], {}, ["groundedness"])
    assert handler.errors == ()
