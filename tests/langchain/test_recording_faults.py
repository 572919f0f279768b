"""The recording never changes what the host does: it fails alone, says so, and holds on to nothing."""

from __future__ import annotations

import asyncio
import gc
import os
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover.errors import InvalidValueError
from rag_cover_langchain import callbacks, calls, run_recorder
from rag_cover_langchain.attachment import attach
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from tests.langchain.recordings import (
    ANSWER,
    HEAT,
    PATIENCE_S,
    SKY,
    BrokenRetriever,
    FailingModel,
    HangingRetriever,
    answering,
    config,
    ids,
    is_empty,
    only,
    prompt,
    rag,
    recorder,
    told,
)


def fail(*_: object, **__: object) -> Any:
    message = "no such attribute"
    raise AttributeError(message)


INSIDE = {
    **{f"calls.{name}": (calls, name) for name in ("record_of", "documents_in", "question_in", "answer_text")},
    **{
        f"run_recorder.{name}": (run_recorder, name)
        for name in ("read_output", "read_answer", "place", "Run", "_around", "names_of")
    },
    **{f"callbacks.{name}": (callbacks, name) for name in ("read_inputs", "records_of", "prompt_text", "read_reply")},
}
GATHERING = ("begin", "settle", "find", "knows", "above", "draft_of")


@pytest.mark.parametrize("place", INSIDE)
@pytest.mark.parametrize("is_async", [False, True])
def test_whatever_fails_inside_changes_nothing_and_is_told(
    handler: RagCoverCallbackHandler, chain: Runnable[str, str], monkeypatch: pytest.MonkeyPatch, place: str, is_async: bool
) -> None:
    monkeypatch.setattr(*INSIDE[place], fail)

    answer = asyncio.run(chain.ainvoke(SKY, config(handler))) if is_async else chain.invoke(SKY, config(handler))

    assert answer == ANSWER
    assert handler.flush(PATIENCE_S)
    assert {error.kind for error in handler.errors} >= {"AttributeError"}
    assert not handler.gathering._open


@pytest.mark.parametrize("method", GATHERING)
def test_a_gathering_that_fails_changes_nothing_and_is_told(
    handler: RagCoverCallbackHandler,
    chain: Runnable[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    method: str,
) -> None:
    monkeypatch.setattr(handler.gathering, method, fail)

    assert "".join(chain.stream(SKY, config(handler))) == chain.invoke(SKY, config(handler)) == ANSWER

    assert {error.kind for error in handler.errors} == {"AttributeError"}
    assert {record.name for record in caplog.records} == {"rag_cover.recording"}  # LangChain itself heard of nothing


@pytest.mark.parametrize("is_heard", [False, True])
def test_what_the_host_raises_is_the_very_same_with_and_without_a_handler(
    handler: RagCoverCallbackHandler, model: BaseChatModel, is_heard: bool
) -> None:
    raised = ValueError("mine")

    def search(_: str) -> list[Document]:
        raise raised

    with pytest.raises(ValueError, match="mine") as caught:
        rag(RunnableLambda(search), model).invoke(SKY, config(handler) if is_heard else None)

    assert caught.value is raised
    assert raised.__cause__ is None


@pytest.mark.parametrize("is_async", [False, True])
def test_a_retriever_that_fails_is_told(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, is_async: bool
) -> None:
    chain = rag(BrokenRetriever(store=store), model)

    with pytest.raises(ValueError, match="the database is down"):
        asyncio.run(chain.ainvoke(SKY, config(handler))) if is_async else chain.invoke(SKY, config(handler))

    trace = only(handler)
    said = "ValueError: the database is down"
    assert (trace.question.text, trace.answer, trace.metadata["error"]) == (SKY, None, said)
    assert [(step.id, step.error) for step in trace.steps] == [("BrokenRetriever", said)]


def test_a_retriever_that_is_tried_again_is_a_step_each_time(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    flaky = BrokenRetriever(store=store, often=1).with_retry(wait_exponential_jitter=False)

    assert rag(flaky, model).invoke(SKY, config(handler)) == ANSWER

    trace = only(handler)
    assert [(step.kind, step.error, len(step.passages)) for step in trace.steps] == [
        ("retrieve", "ValueError: the database is down", 0),
        ("retrieve", None, 2),
    ]
    assert prompt(trace) == ids(trace)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("is_whole", [False, True])
def test_what_steps_in_for_what_failed_is_part_of_the_same_question(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel, is_whole: bool, is_async: bool
) -> None:
    broken, sound = BrokenRetriever(store=store), store.as_retriever(search_kwargs={"k": 1})
    fallen: Runnable[str, str] = (
        rag(broken, model).with_fallbacks([rag(sound, model)]) if is_whole else rag(broken.with_fallbacks([sound]), model)
    )

    asyncio.run(fallen.ainvoke(SKY, config(handler))) if is_async else fallen.invoke(SKY, config(handler))

    trace = only(handler)
    assert [(step.id, step.error is None) for step in trace.steps] == [
        ("BrokenRetriever", False),
        ("VectorStoreRetriever", True),
    ]
    assert (trace.answer, prompt(trace), "error" in trace.metadata) == (ANSWER, ["rayleigh"], False)


def test_a_model_that_fails_and_one_that_steps_in_are_told(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1})

    with pytest.raises(ConnectionError, match="the model is down"):
        rag(retriever, FailingModel()).invoke(SKY, config(handler))
    rag(retriever, FailingModel().with_fallbacks([model])).invoke(SKY, config(handler))

    failed, mended = told(handler)
    assert (failed.answer, failed.metadata["error"]) == (None, "ConnectionError: the model is down")
    assert (mended.answer, prompt(mended), "error" in mended.metadata) == (ANSWER, ["rayleigh"], False)


def test_a_parser_that_fails_leaves_what_the_model_wrote(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    chain = rag(store.as_retriever(), model) | int

    with pytest.raises(ValueError, match="invalid literal"):
        chain.invoke(SKY, config(handler))

    trace = only(handler)
    assert (trace.answer, trace.metadata["unfinished_answer"]) == (None, ANSWER)


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_question_that_is_cancelled_says_so_and_leaves_nothing(
    handler: RagCoverCallbackHandler, model: BaseChatModel, is_stream: bool
) -> None:
    chain = rag(HangingRetriever(), model)

    async def read() -> None:
        async for _ in chain.astream(SKY, config(handler)):
            pass

    async def ask() -> None:
        await asyncio.wait_for(read() if is_stream else chain.ainvoke(SKY, config(handler)), 0.02)

    with pytest.raises(TimeoutError):
        asyncio.run(ask())

    trace = only(handler)
    assert (trace.answer, trace.metadata["error"]) == (None, "CancelledError")
    assert [step.error for step in trace.steps] == ["it was not over when its question was"]


def test_a_part_that_is_given_up_costs_the_question_nothing(
    handler: RagCoverCallbackHandler, store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    class Hanging(type(model)):  # type: ignore[misc]  # whatever the model is
        async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.Event().wait()

    async def hedged(question: str) -> str:
        retriever = store.as_retriever(search_kwargs={"k": 1})
        asked = {"question": question, "context": (await retriever.ainvoke(question))[0].page_content}
        try:
            return await asyncio.wait_for(answering(Hanging()).ainvoke(asked), 0.02)
        except TimeoutError:
            return await answering(model).ainvoke(asked)

    async def read() -> str:
        chain: Runnable[str, str] = RunnableLambda(hedged) | (lambda said: said)
        return await chain.ainvoke(SKY, config(handler)) + "".join([each async for each in chain.astream(SKY, config(handler))])

    assert asyncio.run(read()) == ANSWER * 2
    assert [(trace.answer, prompt(trace)) for trace in told(handler)] == [(ANSWER, ["rayleigh"])] * 2
    assert is_empty(handler)


class Odd:
    """A value that cannot be looked at."""

    def __eq__(self, other: object) -> bool:
        return bool(fail())

    def __iter__(self) -> Iterator[object]:
        return iter(fail())

    def __bool__(self) -> bool:
        return bool(fail())

    def __getattr__(self, name: str) -> object:
        return fail()

    __hash__ = None  # type: ignore[assignment]  # not hashable either


def circle() -> dict[str, Any]:
    """A mapping that holds itself."""
    made: dict[str, Any] = {"question": SKY, "list": []}
    made["list"] += [made, made, made, made["list"], made["list"]]
    made["input"] = made["answer"] = made["output"] = made
    return made


def numbers() -> dict[str, Any]:
    """Arrays and tables, which compare cell by cell."""
    numpy = pytest.importorskip("numpy", reason="needs numpy")
    return {"question": SKY, "output": numpy.zeros(5), "scores": numpy.ones((3, 3)), "text": "Air.", "other": "x"}


def frames() -> dict[str, Any]:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame({"question": [SKY]})
    return {"question": SKY, "output": frame, "answer": "Air.", "response": frame}


def deep() -> Any:
    made: Any = SKY
    for _ in range(500):
        made = {"input": made, "output": [made]}
    return made


ODD: Mapping[str, Callable[[], Any]] = {
    "none": lambda: None,
    "odd": Odd,
    "named odd": lambda: {"question": Odd(), "answer": Odd(), "documents": [Odd()]},
    "circle": circle,
    "numpy": numbers,
    "pandas": frames,
    "deep": deep,
    "numbers": lambda: list(range(100_000)),
    "bytes": lambda: b"x" * 1000,
    "messages": lambda: [HumanMessage([{"type": "text", "text": SKY}]), AIMessage([{"type": "image"}])],
    "pairs": lambda: [("user", SKY), ("ai", None)],
    "blank": lambda: "  ",
    "type": lambda: Odd,
    "generator": lambda: (each for each in "ab"),
}


@pytest.mark.parametrize("name", ODD)
def test_any_value_goes_through_as_it_is(handler: RagCoverCallbackHandler, store: InMemoryVectorStore, name: str) -> None:
    value = ODD[name]()
    retriever = store.as_retriever(search_kwargs={"k": 1})
    seen: list[object] = []

    def search(given: object) -> object:
        seen.append(given)
        retriever.invoke(SKY)
        return given

    chain = RunnableLambda(search) | (lambda held: held)

    assert chain.invoke(value, config(handler)) is value is seen[0]
    assert handler.flush(PATIENCE_S)
    assert not handler.gathering._open
    assert handler.counts.recorded == 1


@pytest.mark.parametrize("serialized", [None, {}, {"name": 3}, {"name": "x"}, "text", Odd])
def test_what_langchain_tells_may_be_of_any_form(handler: RagCoverCallbackHandler, serialized: Any) -> None:
    ids_ = [uuid.uuid4() for _ in range(4)]

    handler.on_chain_start(serialized, {"question": SKY}, run_id=ids_[0], tags=None, metadata=None, name=None)
    handler.on_tool_start(serialized, "{}", run_id=ids_[1], parent_run_id=ids_[0], inputs=None)
    handler.on_tool_end(Odd(), run_id=ids_[1])
    handler.on_llm_start(serialized, [SKY], run_id=ids_[2], parent_run_id=ids_[0])
    handler.on_llm_end(LLMResult(generations=[]), run_id=ids_[2])
    handler.on_retriever_start(serialized, SKY, run_id=ids_[3], parent_run_id=ids_[0])
    handler.on_retriever_end([], run_id=ids_[3])
    handler.on_chain_end(ANSWER, run_id=ids_[0])
    handler.on_chain_end(ANSWER, run_id=ids_[0])

    assert handler.flush(PATIENCE_S)
    assert [trace.answer for trace in handler.traces] == [ANSWER]
    assert not handler.gathering._open


class Fresh(BaseRetriever):
    """Finds a document of its own each time, and remembers only weakly which."""

    given: list[Any] = []

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        document = Document("Air scatters blue light.", metadata={"page": 3})
        self.given.append(weakref.ref(document))
        return [document]


def test_nothing_of_the_hosts_is_held_once_a_question_is_answered(
    handler: RagCoverCallbackHandler, model: BaseChatModel
) -> None:
    retriever = Fresh(given=[])

    for _ in range(3):
        rag(retriever, model).invoke(SKY, config(handler))
    assert len(told(handler)) == 3
    gc.collect()

    assert [document() for document in retriever.given] == [None] * 3
    assert not handler.gathering._open


def test_a_question_that_is_under_way_when_the_handler_is_closed_is_answered_and_counted(
    store: InMemoryVectorStore, model: BaseChatModel
) -> None:
    handler = attach(recorder())

    def closing(question: str) -> list[Document]:
        handler.close()
        return store.as_retriever().invoke(question)

    assert rag(RunnableLambda(closing), model).invoke(SKY) == ANSWER
    assert handler.traces == ()
    assert (handler.counts.begun, handler.counts.dropped, handler.counts.under_way) == (1, 1, 0)
    assert not handler.gathering._open


def test_a_handler_that_was_closed_is_deaf(chain: Runnable[str, str]) -> None:
    handler = recorder()
    handler.close()

    assert chain.invoke(SKY, config(handler)) == ANSWER
    assert (handler.counts.begun, handler.errors) == (0, ())


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # that is what happens here
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_that_was_forked_goes_on_recording(handler: RagCoverCallbackHandler, chain: Runnable[str, str]) -> None:
    chain.invoke(SKY, config(handler))
    assert len(told(handler)) == 1

    child = os.fork()
    if not child:
        try:
            chain.invoke(HEAT, config(handler))
            os._exit(0 if handler.flush(PATIENCE_S) and len(handler.traces) == 1 else 1)
        finally:
            os._exit(2)

    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


STARTS = ("chain", "retriever", "tool", "llm", "chat_model")


@st.composite
def events(draw: st.DrawFn) -> list[tuple[str, str, int, int | None]]:
    """Beginnings and ends of runs in any order: ends that are missing, doubled or of nothing, parents that were never told."""
    size = draw(st.integers(1, 10))
    kinds = draw(st.lists(st.sampled_from(STARTS), min_size=size, max_size=size))
    parents = [draw(st.one_of(st.none(), st.integers(0, size + 1))) for _ in range(size)]
    begins = [("start", kinds[number], number, parents[number]) for number in range(size)]
    ends = [(draw(st.sampled_from(["end", "error"])), kinds[number], number, None) for number in range(size)]
    kept = draw(st.lists(st.sampled_from([*ends, *begins]), max_size=3 * size))
    return draw(st.permutations(begins + kept))


@given(events())
def test_callbacks_in_any_order_raise_nothing_and_lose_no_question(told_: list[tuple[str, str, int, int | None]]) -> None:
    handler = recorder()
    run_ids = [uuid.UUID(int=number + 1) for number in range(12)]

    for what, kind, number, parent in told_:
        _tell(handler, what, kind, run_ids[number], None if parent is None else run_ids[parent])

    assert handler.flush(PATIENCE_S)
    counts = handler.counts
    assert handler.errors == () or counts.unreadable
    assert counts.begun == counts.recorded + counts.unreadable + counts.under_way
    open_ = {call_id for draft in handler.gathering.under_way for call_id in (call.id for call in draft.calls)}
    assert all(draft is None or call is not None for draft, call in handler.gathering._open.values())
    assert {key for key, (draft, _) in handler.gathering._open.items() if draft is not None} <= open_
    handler.close()
    assert not handler.gathering._open


def _tell(handler: RagCoverCallbackHandler, what: str, kind: str, run_id: uuid.UUID, parent: uuid.UUID | None) -> None:
    documents = [Document("Blue light scatters.", id="a")]
    written = LLMResult(generations=[[ChatGeneration(message=AIMessage(ANSWER))]])
    given_: dict[str, Any] = {
        "chain": {"question": SKY, "documents": documents},
        "chat_model": [[HumanMessage(SKY)]],
        "llm": [SKY],
    }
    if what == "start":
        getattr(handler, f"on_{kind}_start")(None, given_.get(kind, SKY), run_id=run_id, parent_run_id=parent, name=kind)
        return
    ending = kind.removesuffix("_model").replace("chat", "llm")
    returned = {"chain": {"answer": ANSWER}, "retriever": documents, "tool": "A text.", "llm": written}[ending]
    getattr(handler, f"on_{ending}_{what}")(returned if what == "end" else ValueError("down"), run_id=run_id)


def test_a_handler_has_its_options_already() -> None:
    with RagCoverCallbackHandler(measures=()) as handler:
        with pytest.raises(InvalidValueError, match="give sampling, keep to RagCoverCallbackHandler, or leave the handler out"):
            attach(handler, sampling=0.5, keep=3)

        assert attach(handler) is handler


def test_what_is_no_handler_is_not_attached() -> None:
    with pytest.raises(InvalidValueError, match="'str' records nothing; give a RagCoverCallbackHandler"):
        attach("handler")  # type: ignore[arg-type]

    with RagCoverCallbackHandler(measures=()) as closed:
        pass
    with pytest.raises(InvalidValueError, match="this recording is closed"):
        attach(closed)
