"""Parts that are called by hand belong to the one trace that is opened around them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from rag_cover import Trace
from rag_cover.errors import InvalidValueError
from rag_cover.recording import Call, CallKind, Recording

QUESTION = "Why is the sky blue?"
PASSAGE = {"id": "air", "text": "Air scatters blue light."}


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording that only records."""
    with Recording(measures=()) as opened:
        yield opened


def note(recording: Recording, id_: str, kind: CallKind, *, answer: str | None = None, parent: str | None = None) -> None:
    """Do what a handler of a framework does around one call that stands alone."""
    call = Call(id_, kind, id_.title(), query=QUESTION)
    recording.gathering.begin(id_, parent, call, recording.asked)
    call.passages, call.answer = ([PASSAGE], None) if kind == "retriever" else ([], answer)
    call.consumed = [] if kind == "retriever" else [PASSAGE]
    recording.gathering.settle(id_)


def traces(recording: Recording) -> list[Trace]:
    assert recording.flush(20)
    assert recording.errors == ()
    return list(recording.traces)


def test_what_is_called_within_is_one_trace_with_the_answer_that_is_given(recording: Recording) -> None:
    with recording.trace(QUESTION, pipeline="by hand") as trace:
        note(recording, "search", "retriever")
        note(recording, "writer", "synthesis", answer="It scatters.")
        trace.answer("Because air scatters blue light.")
    note(recording, "later", "retriever")

    one, other = traces(recording)
    assert (one.question.text, one.answer, one.pipeline) == (QUESTION, "Because air scatters blue light.", "by hand")
    assert [(step.kind, step.id) for step in one.steps] == [("retrieve", "Search")]
    assert other.pipeline == "Later"


def test_without_an_answer_given_the_last_synthesis_answers(recording: Recording) -> None:
    with recording.trace(QUESTION):
        note(recording, "search", "retriever")
        note(recording, "writer", "synthesis", answer="It scatters.")

    (trace,) = traces(recording)
    assert trace.answer == "It scatters."
    assert trace.prompt is None  # no model was seen to write it


def test_a_trace_that_only_retrieves_has_no_answer(recording: Recording) -> None:
    with recording.trace(QUESTION):
        note(recording, "search", "retriever")

    (trace,) = traces(recording)
    assert trace.answer is None


def test_what_fails_is_raised_and_noted(recording: Recording) -> None:
    def fail() -> None:
        with recording.trace(QUESTION):
            note(recording, "search", "retriever")
            raise LookupError(QUESTION)

    with pytest.raises(LookupError):
        fail()

    (trace,) = traces(recording)
    assert trace.metadata["error"] == f"LookupError: {QUESTION}"


def test_traces_of_tasks_and_threads_are_kept_apart(recording: Recording) -> None:
    async def ask(number: int) -> None:
        with recording.question(id=str(number), thread_id="talk", tags=["night"]), recording.trace(f"{QUESTION} {number}"):
            await asyncio.sleep(0)
            note(recording, f"search{number}", "retriever")
            await asyncio.to_thread(note, recording, f"writer{number}", "synthesis", answer=f"Answer {number}.")

    async def ask_all() -> None:
        await asyncio.gather(*map(ask, range(20)))

    asyncio.run(ask_all())

    made = traces(recording)
    assert sorted((trace.question.id, trace.answer) for trace in made) == sorted(
        (str(number), f"Answer {number}.") for number in range(20)
    )
    assert {(trace.thread_id, trace.tags) for trace in made} == {("talk", ("night",))}


def test_a_thread_that_knows_nothing_of_the_block_is_not_in_it(recording: Recording) -> None:
    with ThreadPoolExecutor(1) as pool, recording.trace(QUESTION):
        pool.submit(note, recording, "elsewhere", "retriever").result()
        pool.submit(copy_context().run, note, recording, "here", "retriever").result()

    assert sorted(len(trace.steps) for trace in traces(recording)) == [1, 1]


def test_a_block_within_a_block_is_part_of_it(recording: Recording) -> None:
    with recording.trace(QUESTION) as outer:
        with recording.trace("Is air blue?") as inner:
            note(recording, "search", "retriever")
            inner.answer("No.")
        outer.answer("It scatters.")

    (trace,) = traces(recording)
    assert (trace.question.text, trace.answer, len(trace.steps)) == (QUESTION, "It scatters.", 1)


def test_a_blank_question_and_an_answer_that_is_no_text_are_refused(recording: Recording) -> None:
    with pytest.raises(InvalidValueError, match="blank"), recording.trace("  "):
        pass
    with pytest.raises(InvalidValueError, match=r"str\(response\)"), recording.trace(QUESTION) as trace:
        trace.answer(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("kept", [False, True])
def test_who_asked_is_kept_only_where_that_is_wanted(*, kept: bool) -> None:
    with Recording(measures=(), user_ids=kept) as recording:
        with recording.question(user_id="lovelace-7"), recording.trace(QUESTION):
            note(recording, "search", "retriever")

        (trace,) = traces(recording)
    assert trace.user_id == ("lovelace-7" if kept else None)
    assert ("lovelace-7" in trace.to_json()) is kept


@pytest.mark.parametrize("said", [{"tags": "one"}, {"thread_id": " "}, {"user_id": 7}])
def test_what_cannot_be_meant_of_a_conversation_is_refused(recording: Recording, said: dict[str, object]) -> None:
    with pytest.raises(InvalidValueError), recording.question(**said):  # type: ignore[arg-type]
        pass
