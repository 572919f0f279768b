# ruff: noqa: ARG002  # methods that run pipelines are for subclasses, which use their arguments
"""What an adapter of a framework owes its users: a recording that tells what truly happened in their pipelines."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from rag_cover.testing.conformance.attempts import make_skip
from rag_cover.traces import Trace

__all__ = ["AdapterTests"]

_PATIENCE_S = 30.0
_SKY, _HEAT = "Why is the sky blue?", "What does a heat pump cost?"
_AIR = "The sky is blue because air scatters blue light more strongly than red light."
_OCEAN = "The ocean looks blue because water absorbs red light."
_PUMP = "A heat pump costs about 12,000 euros."
_BLUE, _COSTS = "Air scatters blue light.", "About 12,000 euros."


class AdapterTests:
    """Tests of an adapter: subclass them under a name that begins with ``Test``, and give the fixture ``recording``.

    The fixture is a recording that is attached to the framework and measures nothing (``measures=()``), made with whatever
    leaves out what retrieves nothing. Each method that runs a pipeline builds it of the framework's own parts: retrievers that
    find the given texts, and models that write the given replies. One that the framework has nothing for stays as it is, and
    its tests are skipped.

        class TestMyAdapter(AdapterTests):
            @pytest.fixture
            def recording(self) -> Iterator[Recording]:
                with attach(measures=()) as recording:
                    yield recording

            def ask(self, question, found, shown, answer, **said): ...
    """

    def ask(self, question: str, found: Sequence[str], shown: Sequence[str], answer: str, **said: str) -> None:
        """Search for a question, drop in plain code what is not shown, and let a model answer from the rest.

        ``said`` may hold ``thread_id`` and ``user_id``, as the framework's users say them.
        """
        self._skip("a plain pipeline")

    def ask_follow_up(self, said: str, standalone: str, found: Sequence[str], answer: str) -> None:
        """Answer a later turn of a conversation, whose standalone question a model writes, and which is searched for."""
        self._skip("a conversation")

    def ask_two_retrievers(self, question: str, one: Sequence[str], other: Sequence[str], answer: str) -> None:
        """Fuse what two retrievers find, and let a model answer from it."""
        self._skip("a fusion")

    def ask_refining(self, question: str, found: Sequence[str], drafts: Sequence[str]) -> None:
        """Let a model write a draft from the first passage, and improve it with each of the others."""
        self._skip("refined answers")

    def ask_with_fallback(self, question: str, failed: Sequence[str], found: Sequence[str], answer: str) -> None:
        """Run a pipeline that finds passages and whose model then fails, and another one that steps in for it."""
        self._skip("fallbacks")

    def ask_several(self, asked: Sequence[tuple[str, Sequence[str], str]]) -> None:
        """Ask several questions, each with what is found and what is answered, by one call of the framework's."""
        self._skip("several questions in one call")

    def interrupt_and_resume(self, question: str, found: Sequence[str], answer: str, thread_id: str) -> None:
        """Search, wait for somebody, and answer in a second run of the same thread."""
        self._skip("interrupts")

    def write(self, text: str) -> None:
        """Let a model write something that needs no passages, such as a translation, by a pipeline of the framework's."""
        self._skip("pipelines that retrieve nothing")

    def judge(self, question: str, passages: Sequence[str], answer: str) -> None:
        """Let an evaluator of the framework's judge an answer."""
        self._skip("evaluators")

    def attach_again(self, recording: Any) -> Any:
        """Attach once more as the fixture did, and return the recording."""
        self._skip("attaching twice")

    def test_a_question_is_a_trace(self, recording: Any) -> None:
        """With what was found, what the model was shown, and what it answered."""
        self.ask(_SKY, [_AIR, _OCEAN], [_AIR, _OCEAN], _BLUE)

        trace = self._only(recording)
        assert (trace.question.text, trace.answer) == (_SKY, _BLUE)
        assert [step.kind for step in trace.steps] == ["retrieve"], "there was one retrieval, and nothing else"
        assert _texts(trace.steps[0].passages) == [_AIR, _OCEAN]
        assert _texts(trace.prompt) == [_AIR, _OCEAN], "the model was shown both passages"

    def test_a_process_that_is_forked_off_records_what_it_asks(self, recording: Any) -> None:
        """Servers fork workers after the application is loaded: none may hang, or record its parent's questions."""
        if not hasattr(os, "fork"):
            self._skip("forks")
        self.ask(_SKY, [_AIR], [_AIR], _BLUE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # there are threads: that is what happens here
            child = os.fork()
        if not child:
            code = 2
            try:
                self.ask(_HEAT, [_PUMP], [_PUMP], _COSTS)
                recording.close()
                code = int([trace.question.text for trace in recording.traces] != [_HEAT])
            finally:
                os._exit(code)

        assert _exit_code_of(child) == 0, "the child hung, failed, or recorded something else than its one question"
        assert self._only(recording).question.text == _SKY

    def test_what_plain_code_drops_was_not_in_the_prompt(self, recording: Any) -> None:
        """Else a loss is said to be the model's, which never saw the passage."""
        self.ask(_SKY, [_AIR, _OCEAN], [_OCEAN], "It is a nice colour.")

        assert _texts(self._only(recording).prompt) == [_OCEAN], "the prompt is what the model was shown, not what was found"

    def test_calls_of_models_are_told(self, recording: Any) -> None:
        """With their latency, and the passages that they were shown; what the model does not tell is unknown."""
        self.ask(_SKY, [_AIR], [_AIR], _BLUE)

        trace = self._only(recording)
        assert trace.calls, "the model's call is no part of the trace"
        call = trace.calls[-1]
        assert call.latency_s is not None
        assert 0 not in (call.prompt_tokens, call.completion_tokens), "what is not known is None, not 0"
        (shown,) = trace.steps[0].passages
        assert call.passages in ((shown.key,), (shown.id,)), "the call names the passages that it was shown"

    def test_a_conversation_is_named_and_who_asked_is_not(self, recording: Any) -> None:
        """Who asked is kept only where that is asked for."""
        self.ask(_SKY, [_AIR], [_AIR], _BLUE, thread_id="thread-7", user_id="user-7")

        trace = self._only(recording)
        assert trace.thread_id == "thread-7"
        assert "user-7" not in trace.to_json()

    def test_a_follow_up_is_its_standalone_question(self, recording: Any) -> None:
        """The raw words answer nothing; they stay in the metadata, under ``asked``."""
        self.ask_follow_up("And the price?", _HEAT, [_PUMP], _COSTS)

        trace = self._only(recording)
        assert (trace.question.text, trace.metadata.get("asked")) == (_HEAT, "And the price?")

    def test_a_fusion_is_called_one(self, recording: Any) -> None:
        """Not a filter: nothing is dropped."""
        self.ask_two_retrievers(_SKY, [_AIR], [_OCEAN], _BLUE)

        trace = self._only(recording)
        assert [step.kind for step in trace.steps] == ["retrieve", "retrieve", "fuse"]
        assert sorted(_texts(trace.prompt)) == sorted([_AIR, _OCEAN])

    def test_a_refined_answer_was_written_from_all_passages(self, recording: Any) -> None:
        """Its last prompt holds one of them, and the draft that was written from the others."""
        self.ask_refining(_SKY, [_AIR, _OCEAN], ["A draft about air and light.", _BLUE])

        trace = self._only(recording)
        assert trace.answer == _BLUE
        assert sorted(_texts(trace.prompt)) == sorted([_AIR, _OCEAN])

    def test_what_failed_and_was_stepped_in_for_found_nothing(self, recording: Any) -> None:
        """No answer is written from it."""
        self.ask_with_fallback(_SKY, [_AIR], [_OCEAN], "It is a nice colour.")

        trace = self._only(recording)
        assert _texts(trace.chunks) == [_OCEAN]
        assert _texts(trace.prompt) == [_OCEAN]

    def test_several_questions_are_a_trace_each(self, recording: Any) -> None:
        """Together they are a question that nobody asked, with a loss that never was."""
        self.ask_several([(_SKY, [_AIR], _BLUE), (_HEAT, [_PUMP], _COSTS)])

        traces = self._traces(recording)
        assert sorted(trace.question.text for trace in traces) == sorted([_SKY, _HEAT])
        for trace in traces:
            expected = ([_AIR], _BLUE) if trace.question.text == _SKY else ([_PUMP], _COSTS)
            assert (_texts(trace.prompt), trace.answer) == expected

    def test_an_interrupted_question_is_one(self, recording: Any) -> None:
        """What was found before and what was answered after belong to one question."""
        self.interrupt_and_resume(_SKY, [_AIR], _BLUE, "thread-7")

        trace = self._only(recording)
        assert (trace.question.text, trace.answer, trace.thread_id) == (_SKY, _BLUE, "thread-7")
        assert (_texts(trace.chunks), _texts(trace.prompt)) == ([_AIR], [_AIR])

    def test_what_retrieves_nothing_is_no_question(self, recording: Any) -> None:
        """A translation has no passages to be measured by."""
        self.write("Translate: good morning")

        assert self._traces(recording) == [], "only what retrieved, or was given a context, is a question"

    def test_an_evaluator_asks_no_question(self, recording: Any) -> None:
        """It asks about a question that was answered already."""
        self.judge(_SKY, [_AIR], _BLUE)

        assert self._traces(recording) == [], "what an evaluator asks a model is no user's question"

    def test_attaching_twice_is_one_recording(self, recording: Any) -> None:
        """As where a cell of a notebook is run again."""
        again = self.attach_again(recording)

        assert again is recording, "attach() with the same options returns the recording that is open"

    def _only(self, recording: Any) -> Trace:
        traces = self._traces(recording)
        assert len(traces) == 1, f"one question was asked, and there are {len(traces)} traces"
        return traces[0]

    def _traces(self, recording: Any) -> list[Trace]:
        assert recording.flush(30), "what is over is recorded within half a minute"
        assert recording.errors == ()
        return list(recording.traces)

    def _skip(self, what: str) -> NoReturn:
        reason = f"the framework has nothing for {what}"
        raise make_skip(reason)


def _texts(passages: Any) -> list[str]:
    return [passage.text for passage in passages or ()]


def _exit_code_of(child: int) -> int:
    """Wait for a process, and end one that hangs."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
