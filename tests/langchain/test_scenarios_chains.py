"""Chains of LCEL in the shapes of LangChain's documentation: each recording tells what truly happened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
    chain,
)
from pydantic import BaseModel

from rag_cover.coverage import Loss
from tests.langchain.parts import ScriptedChatModel
from tests.langchain.recordings import HEAT, SKY, BrokenRetriever, FailingModel, answering, joined, rag
from tests.langchain.scenarios import BAD, GOOD, HOT, Parts, Row, Seen, differences, invoke_or_pass, scenario

ROWS: list[Row] = []
row = partial(scenario, ROWS)

BOTH = "retrieve VectorStoreRetriever: rayleigh ocean"
COSTS = "retrieve VectorStoreRetriever: heat insulation"
PLAIN = Seen((BOTH,), "rayleigh ocean")
SECOND = Seen((COSTS,), "heat insulation", HOT, question=HEAT)
REWRITE = ChatPromptTemplate.from_template("Rewrite for a search engine: {question}")


@row(PLAIN)
def the_chain_of_the_first_tutorial(parts: Parts) -> object:
    return rag(parts.retriever(), parts.model).invoke(SKY, parts.config())


@row(PLAIN)
def the_same_awaited(parts: Parts) -> object:
    return asyncio.run(rag(parts.retriever(), parts.model).ainvoke(SKY, parts.config()))


@row(PLAIN)
def the_same_streamed(parts: Parts) -> object:
    return list(rag(parts.retriever(), parts.model).stream(SKY, parts.config()))


@row(PLAIN)
def the_same_streamed_to_a_coroutine(parts: Parts) -> object:
    async def read() -> list[str]:
        return [each async for each in rag(parts.retriever(), parts.model).astream(SKY, parts.config())]

    return asyncio.run(read())


@row(PLAIN, SECOND)
def a_batch(parts: Parts) -> object:
    return rag(parts.retriever(), parts.model).batch([SKY, HEAT], parts.config(max_concurrency=1))


@row(PLAIN, SECOND)
def a_batch_that_is_awaited(parts: Parts) -> object:
    return asyncio.run(rag(parts.retriever(), parts.model).abatch([SKY, HEAT], parts.config(max_concurrency=1)))


@row(PLAIN, SECOND)
def a_chain_mapped_over_questions(parts: Parts) -> object:
    return rag(parts.retriever(), parts.model).map().invoke([SKY, HEAT], parts.config(max_concurrency=1))


@row(PLAIN, SECOND)
def several_questions_in_one_function(parts: Parts) -> object:
    one = rag(parts.retriever(), parts.model)
    ask: Runnable[Any, Any] = RunnableLambda(lambda asked: [one.invoke(each) for each in asked])
    return ask.invoke([SKY, HEAT], parts.config())


@row(PLAIN, SECOND)
def a_nightly_job_of_fixed_questions(parts: Parts) -> object:
    one = rag(parts.retriever(), parts.model)
    job: Runnable[Any, Any] = RunnableLambda(lambda _: {each: one.invoke(each) for each in (SKY, HEAT)})
    return job.invoke("nightly", parts.config())


@row(PLAIN)
def an_answer_with_its_sources(parts: Parts) -> object:
    found = RunnableParallel(context=parts.retriever(), question=RunnablePassthrough())
    answer: Runnable[Any, Any] = RunnableLambda(lambda given: {**given, "context": joined(given["context"])}) | answering(
        parts.model
    )
    return found.assign(answer=answer).invoke(SKY, parts.config())


@row(Seen((BOTH, "filter drop_first: ocean"), "ocean", BAD, Loss.DROPPED))
def a_function_that_drops_the_passage(parts: Parts) -> object:
    def drop_first(documents: list[Document]) -> list[Document]:
        return documents[1:]

    return rag(parts.retriever() | drop_first, parts.model).invoke(SKY, parts.config())


@row(Seen((BOTH,), "ocean", BAD, Loss.DROPPED))
def a_function_that_writes_only_the_last(parts: Parts) -> object:
    asked = {"context": parts.retriever() | (lambda found: found[-1].page_content), "question": RunnablePassthrough()}
    return (asked | answering(parts.model)).invoke(SKY, parts.config())


@row(Seen((BOTH,), "rayleigh ocean", BAD, Loss.UNUSED))
def a_model_that_ignores_the_passage(parts: Parts) -> object:
    return rag(parts.retriever(), ScriptedChatModel(default=BAD)).invoke(SKY, parts.config())


@row(Seen(("retrieve VectorStoreRetriever: ocean sunset",), "ocean sunset", BAD, Loss.NOT_RETRIEVED))
def a_corpus_without_the_passage(parts: Parts) -> object:
    store = parts.without("rayleigh")
    return rag(store.as_retriever(search_kwargs={"k": 2}), parts.model).invoke(SKY, parts.config())


@row(Seen(("retrieve BrokenRetriever",), None, None, errors=1))
def a_retriever_that_fails(parts: Parts) -> object:
    invoke_or_pass(rag(BrokenRetriever(store=parts.store), parts.model), SKY, parts.config())
    return None


@row(Seen(("retrieve BrokenRetriever-1", "retrieve BrokenRetriever-2: rayleigh ocean"), "rayleigh ocean", errors=1))
def a_retriever_that_is_tried_again(parts: Parts) -> object:
    flaky = BrokenRetriever(store=parts.store, often=1).with_retry(wait_exponential_jitter=False)
    return rag(flaky, parts.model).invoke(SKY, parts.config())


@row(Seen(("retrieve backup: ocean",), "ocean", BAD, Loss.NOT_RETRIEVED))
def a_chain_that_steps_in_for_one_whose_model_failed(parts: Parts) -> object:
    backup = parts.without("rayleigh").as_retriever(search_kwargs={"k": 1}).with_config(run_name="backup")
    whole = rag(parts.retriever(), FailingModel()).with_fallbacks([rag(backup, parts.model)])
    return whole.invoke(SKY, parts.config())


@row(PLAIN)
def a_model_that_steps_in_for_another(parts: Parts) -> object:
    return rag(parts.retriever(), FailingModel().with_fallbacks([parts.model])).invoke(SKY, parts.config())


@row(Seen((COSTS,), "heat insulation", HOT, question=HEAT))
def a_branch(parts: Parts) -> object:
    costs, sky = rag(parts.retriever(), parts.model), rag(parts.without("rayleigh").as_retriever(), parts.model)
    return RunnableBranch((lambda asked: "cost" in asked, costs), sky).invoke(HEAT, parts.config())


@row(PLAIN)
def a_router_that_returns_a_chain(parts: Parts) -> object:
    sky, other = rag(parts.retriever(), parts.model), rag(parts.retriever(1), parts.model)
    classify = REWRITE | ScriptedChatModel(default="sky") | StrOutputParser()
    asked = RunnableParallel(topic={"question": RunnablePassthrough()} | classify, question=RunnablePassthrough())
    route = RunnableLambda(lambda given: itemgetter("question") | (sky if given["topic"] == "sky" else other))
    return (asked | route).invoke(SKY, parts.config())


@row(PLAIN)
def a_question_rewritten_for_the_search(parts: Parts) -> object:
    rewrite = REWRITE | ScriptedChatModel(default="sky blue why") | StrOutputParser()
    return rag({"question": RunnablePassthrough()} | rewrite | parts.retriever(), parts.model).invoke(SKY, parts.config())


@row(PLAIN)
def a_search_by_an_imagined_answer(parts: Parts) -> object:
    write = ChatPromptTemplate.from_template("Write a passage: {question}")
    imagine = write | ScriptedChatModel(default="The sky is blue because of air and light.") | StrOutputParser()
    return rag({"question": RunnablePassthrough()} | imagine | parts.retriever(), parts.model).invoke(SKY, parts.config())


@row(
    Seen(
        ("retrieve VectorStoreRetriever-1: rayleigh", "retrieve VectorStoreRetriever-2: heat"),
        "rayleigh heat",
        question="Sky and pumps?",
    )
)
def a_search_for_each_part_of_a_question(parts: Parts) -> object:
    split: Runnable[Any, Any] = RunnableLambda(lambda _: ["Why is the sky blue?", "A heat pump?"])
    flat: Runnable[Any, Any] = RunnableLambda(lambda lists: joined([each for found in lists for each in found]))
    context = split | parts.retriever(1).map().with_config(max_concurrency=1) | flat
    model = ScriptedChatModel(script={"scatter blue": GOOD})
    return ({"context": context, "question": RunnablePassthrough()} | answering(model)).invoke("Sky and pumps?", parts.config())


@row(
    Seen(
        (
            "retrieve words: rayleigh ocean",
            "retrieve vectors: sunset rayleigh",
            "fuse fuse: rayleigh ocean sunset",
        ),
        "rayleigh ocean sunset",
    )
)
def two_retrievers_whose_lists_a_function_joins(parts: Parts) -> object:
    def fuse(found: dict[str, list[Document]]) -> list[Document]:
        return list({each.id: each for listed in found.values() for each in listed}.values())

    def other(_: str) -> list[Document]:
        return [each for name in ("sunset", "rayleigh") for each in parts.store.get_by_ids([name])]

    both = RunnableParallel(
        words=parts.retriever().with_config(run_name="words"), vectors=RunnableLambda(other, name="vectors")
    )
    return rag(both | fuse, parts.model).invoke(SKY, parts.config(max_concurrency=1))


def _translate(parts: Parts) -> Runnable[Any, Any]:
    return ChatPromptTemplate.from_template("Translate to German: {text}") | parts.model | StrOutputParser()


@row(only_retrieval=True)
def a_translation(parts: Parts) -> object:
    return _translate(parts).invoke({"text": SKY}, parts.config())


@row(only_retrieval=True)
def thanks(parts: Parts) -> object:
    return (ChatPromptTemplate.from_messages([("user", "{text}")]) | parts.model).invoke({"text": "Thanks!"}, parts.config())


@row(only_retrieval=True)
def a_bare_function(parts: Parts) -> object:
    return RunnableLambda(lambda text: text.upper()).invoke("shout", parts.config())


class Cited(BaseModel):
    """An answer and what it rests on."""

    answer: str
    citations: list[str]


@row(PLAIN)
def an_answer_that_is_a_model_of_pydantic(parts: Parts) -> object:
    model = ScriptedChatModel(default=json.dumps({"answer": GOOD, "citations": ["rayleigh"]}))
    asked = {"context": parts.retriever() | joined, "question": RunnablePassthrough()}
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    return (asked | prompt | model | PydanticOutputParser(pydantic_object=Cited)).invoke(SKY, parts.config())


@row(PLAIN)
def an_answer_that_is_json(parts: Parts) -> object:
    model = ScriptedChatModel(default=json.dumps({"answer": GOOD, "sources": ["rayleigh"]}))
    asked = {"context": parts.retriever() | joined, "question": RunnablePassthrough()}
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    return (asked | prompt | model | JsonOutputParser()).invoke(SKY, parts.config())


@row(PLAIN)
def a_question_in_a_mapping_with_other_settings(parts: Parts) -> object:
    asked = {
        "context": itemgetter("question") | parts.retriever() | joined,
        "question": itemgetter("question"),
        "language": itemgetter("language"),
    }
    prompt = ChatPromptTemplate.from_template("Answer in {language}.\n{context}\n{question}")
    return (asked | prompt | parts.model | StrOutputParser()).invoke({"question": SKY, "language": "English"}, parts.config())


@row(PLAIN)
def summaries_of_each_passage_joined_by_a_model(parts: Parts) -> object:
    sum_up = ChatPromptTemplate.from_template("Sum up: {text}") | ScriptedChatModel(
        script={"scatter": "Air scatters blue light, it says.", "ocean": "Water absorbs red light, it says."}
    )
    each: Runnable[Any, Any] = RunnableLambda(lambda document: {"text": document.page_content}) | sum_up | StrOutputParser()
    context = parts.retriever() | each.map() | "\n".join
    model = ScriptedChatModel(script={"scatters": GOOD})
    return ({"context": context, "question": RunnablePassthrough()} | answering(model)).invoke(SKY, parts.config())


@row(PLAIN)
def an_answer_refined_with_each_passage(parts: Parts) -> object:
    draft = "Something about light and air, so far."
    model = ScriptedChatModel(script={"so far": GOOD}, default=draft)
    refine = ChatPromptTemplate.from_template("Answer {question}. Before: {before}\nNow: {text}") | model | StrOutputParser()

    @chain
    def refined(question: str) -> str:
        said = ""
        for document in parts.retriever().invoke(question):
            said = refine.invoke({"question": question, "before": said, "text": document.page_content})
        return said

    return refined.invoke(SKY, parts.config())


def _condensing(parts: Parts) -> Runnable[Any, Any]:
    history = MessagesPlaceholder("chat_history")
    condense = ChatPromptTemplate.from_messages([("system", "Stand alone."), history, ("user", "{question}")])
    condensed = condense | ScriptedChatModel(default=SKY) | StrOutputParser()
    question = RunnableBranch((lambda given: bool(given.get("chat_history")), condensed), itemgetter("question"))
    prompt = ChatPromptTemplate.from_messages([("system", "Use {context}"), history, ("user", "{question}")])
    return RunnablePassthrough.assign(context=question | parts.retriever() | joined) | prompt | parts.model | StrOutputParser()


@row(Seen((BOTH,), "rayleigh ocean", asked="And why is that?"))
def a_later_turn_of_a_conversation(parts: Parts) -> object:
    history: Sequence[Any] = [("user", "What colour is the sky?"), ("ai", "Blue.")]
    return _condensing(parts).invoke({"question": "And why is that?", "chat_history": history}, parts.config())


@row(PLAIN)
def the_first_turn_of_a_conversation(parts: Parts) -> object:
    return _condensing(parts).invoke({"question": SKY, "chat_history": []}, parts.config())


@row(Seen((BOTH,), "rayleigh ocean", pipeline="docs"))
def a_chain_with_a_name(parts: Parts) -> object:
    return rag(parts.retriever(), parts.model).with_config(run_name="docs").invoke(SKY, parts.config())


@row(
    Seen((BOTH,), "rayleigh ocean", pipeline="detailed"),
    Seen(("retrieve VectorStoreRetriever: rayleigh",), "rayleigh", pipeline="short"),
)
def two_chains_asked_the_same(parts: Parts) -> object:
    detailed = rag(parts.retriever(), parts.model).with_config(run_name="detailed")
    short = rag(parts.retriever(1), parts.model).with_config(run_name="short")
    return RunnableParallel(detailed=detailed, short=short).invoke(SKY, parts.config(max_concurrency=1))


@pytest.mark.parametrize("row", ROWS, ids=lambda each: each.run.__name__)
def test_what_happened_is_told(row: Row) -> None:
    found = differences(row)

    assert not found, "\n".join(found)
