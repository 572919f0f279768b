"""The recording never changes what the host does: it comes and goes alone, fails alone, and holds on to nothing."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex, get_response_synthesizer
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from pydantic import PrivateAttr

from rag_cover.errors import InvalidValueError, StoreError
from rag_cover.recording import Recording
from rag_cover_llama_index import calls, run_recorder
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM
from tests.llama_index.recordings import ANSWER, SKY, broken_engine, only

PATIENCE_S = 20


class Ears(BaseEventHandler):
    """Somebody else's handler: counts events."""

    _heard: list[str] = PrivateAttr(default_factory=list)

    def handle(self, event: BaseEvent, **_: object) -> None:
        self._heard.append(event.class_name())


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with attach(measures=()) as attached:
        yield attached


def handlers() -> tuple[list[object], list[object]]:
    root = get_dispatcher()
    return list(root.span_handlers), list(root.event_handlers)


def test_closing_removes_both_handlers_and_no_other() -> None:
    root, ears = get_dispatcher(), Ears()
    before = handlers()
    root.add_event_handler(ears)
    try:
        recording = attach(measures=())
        assert [len(each) for each in handlers()] == [len(before[0]) + 1, len(before[1]) + 2]
        recording.close()

        assert handlers() == (before[0], [*before[1], ears])
    finally:
        root.event_handlers = [each for each in root.event_handlers if each is not ears]


def test_of_two_recordings_each_leaves_the_other_attached(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    before = handlers()
    engine = index.as_query_engine(llm=llm)
    with attach(measures=()) as first:
        with attach(measures=(), keep=100) as second:
            engine.query(SKY)
            first.detach()
            engine.query(SKY)
        engine.query(SKY)

    assert [[trace.answer for trace in each.traces] for each in (first, second)] == [[ANSWER], [ANSWER] * 2]
    assert handlers() == before


def test_a_recording_that_is_detached_measures_what_is_over_and_hears_no_more(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    engine = index.as_query_engine(llm=llm)
    engine.query(SKY)

    recording.detach()
    recording.detach()
    engine.query(SKY)

    assert only(recording).answer == ANSWER


def test_handlers_may_be_added_to_a_dispatcher_of_ones_own(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    before = handlers()
    elsewhere = get_dispatcher("somebody.elses.package")

    with attach(measures=(), dispatcher=elsewhere) as recording:
        index.as_query_engine(llm=llm).query(SKY)
        assert handlers() == before
        assert recording.flush(PATIENCE_S)

    assert recording.traces == ()
    assert recording.counts.begun == 0


def test_nothing_is_attached_where_an_argument_is_refused() -> None:
    before = handlers()

    with pytest.raises(InvalidValueError):
        attach(sampling=2)
    with pytest.raises(StoreError):
        attach(traces="/nowhere/at/all/traces.jsonl")

    assert handlers() == before


@pytest.mark.parametrize("is_async", [False, True])
def test_a_handler_that_fails_changes_nothing_for_the_host_and_says_so(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    def broken(_: object) -> dict[str, object]:
        message = "no such attribute"
        raise AttributeError(message)

    monkeypatch.setattr(calls, "record_of", broken)
    engine = index.as_query_engine(llm=llm)

    response = asyncio.run(engine.aquery(SKY)) if is_async else engine.query(SKY)

    assert (str(response), len(response.source_nodes)) == (ANSWER, 2)
    assert recording.flush(PATIENCE_S)
    assert {error.kind for error in recording.errors} == {"AttributeError"}
    assert all(error.message.endswith("no such attribute") for error in recording.errors)
    assert not recording.gathering._open
    assert recording.counts.begun == recording.counts.recorded + recording.counts.unreadable


def test_a_stream_is_read_to_its_end_whatever_the_recording_does(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        message = "no answer"
        raise KeyError(message)

    engine = RetrieverQueryEngine(index.as_retriever(), get_response_synthesizer(llm=llm, streaming=True))
    response = engine.query(SKY)
    assert isinstance(response, StreamingResponse)
    monkeypatch.setattr(recording.gathering, "set_answer", broken)

    assert "".join(response.response_gen) == ANSWER
    assert [error.message for error in recording.errors] == ["noting a streamed answer: 'no answer'"]


def test_a_reading_that_cannot_be_made_is_said_and_leaves_what_events_tell(
    recording: Recording, index: VectorStoreIndex, llm: ScriptedLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        message = "unknown class"
        raise TypeError(message)

    monkeypatch.setattr(run_recorder, "call_reader_for", broken)

    assert str(index.as_query_engine(llm=llm).query(SKY)) == ANSWER
    assert recording.flush(PATIENCE_S)
    assert [(trace.question.text, trace.answer, len(trace.steps)) for trace in recording.traces] == [(SKY, None, 1)]
    assert {error.kind for error in recording.errors} == {"TypeError"}
    assert not recording.gathering._open


@pytest.mark.parametrize("attached", [False, True])
def test_what_the_host_raises_is_the_very_same_with_and_without_a_recording(llm: ScriptedLLM, attached: bool) -> None:
    raised = ValueError("mine")

    class Raising(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            raise raised

    engine = RetrieverQueryEngine(Raising(), get_response_synthesizer(llm=llm))
    recording = attach(measures=()) if attached else None

    with pytest.raises(ValueError, match="mine") as caught:
        engine.query(SKY)

    assert caught.value is raised
    assert raised.__cause__ is None
    if recording is not None:
        recording.close()


class Fresh(BaseRetriever):
    """Finds a node of its own each time, and remembers only weakly which."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[weakref.ref[TextNode]] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        node = TextNode(text="Air scatters blue light.", metadata={"page": 3})
        self.given.append(weakref.ref(node))
        return [NodeWithScore(node=node, score=0.5)]


def test_nothing_of_the_hosts_is_held_once_a_question_is_answered(recording: Recording, llm: ScriptedLLM) -> None:
    retriever = Fresh()
    engine = RetrieverQueryEngine(retriever, get_response_synthesizer(llm=llm))

    for _ in range(3):
        engine.query(SKY)
    gc.collect()

    assert [node() for node in retriever.given] == [None, None, None]
    assert not recording.gathering._open
    assert recording.flush(PATIENCE_S)
    assert len(recording.traces) == 3


def test_questions_that_fail_leave_nothing_open(recording: Recording, llm: ScriptedLLM) -> None:
    for _ in range(5):
        with pytest.raises(ValueError, match="the database is down"):
            broken_engine(llm).query(SKY)

    assert recording.flush(PATIENCE_S)
    assert not recording.gathering._open
    assert (recording.counts.under_way, recording.counts.recorded) == (0, 5)


def test_unsampled_questions_leave_nothing_open(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    with attach(measures=(), sampling=0.0) as recording:
        index.as_query_engine(llm=llm).query(SKY)
        with pytest.raises(ValueError, match="the database is down"):
            broken_engine(llm).query(SKY)

        assert not recording.gathering._open
        assert (recording.counts.begun, recording.counts.unsampled) == (2, 2)


def test_a_question_that_is_under_way_when_the_recording_is_closed_is_answered_and_counted(
    index: VectorStoreIndex, llm: ScriptedLLM
) -> None:
    recording = attach(measures=())

    class Closing(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            recording.close()
            return index.as_retriever().retrieve(query_bundle)

    answer = RetrieverQueryEngine(Closing(), get_response_synthesizer(llm=llm)).query(SKY)

    assert str(answer) == ANSWER
    assert recording.traces == ()
    assert (recording.counts.begun, recording.counts.dropped, recording.counts.under_way) == (1, 1, 0)
