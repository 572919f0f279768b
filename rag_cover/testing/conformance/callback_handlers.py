"""What a callback handler owes the chain that it watches: LangChain's ``BaseCallbackHandler`` interface.

The host goes on when a handler raises, with a line in its log that nobody reads and without the data: so nothing may raise.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from rag_cover.testing.conformance.attempts import THREADS, at_once, check_call, make_skip
from rag_cover.testing.conformance.oddities import ODD_TEXTS, ODD_VALUES
from rag_cover.testing.conformance.runs import KINDS, Event, FrameworkRun, Kind, events_of, interleave, random_run, send

__all__ = ["CallbackHandlerTests"]

_QUESTION = "Why is the sky blue?"
_PASSAGE = "Air scatters blue light more than red light."
_ANSWER = "Because air scatters blue light."
_MANY = 50
_ADVICE = "catch it, count it and go on: the host drops what a handler raises"


class CallbackHandlerTests:
    """Tests of a callback handler: subclass them under a name that begins with ``Test``, and give the fixture ``handler``.

        class TestMyHandler(CallbackHandlerTests):
            @pytest.fixture
            def handler(self) -> MyHandler:
                return MyHandler()

    With LangChain installed, let `make_document`, `make_message` and `make_reply` return its own.

    Attributes:
        most_pending: how many runs that never end it may keep; None: it is not looked at.
    """

    most_pending: int | None = None

    def make_document(self, text: str) -> Any:
        """Return a document."""
        return SimpleNamespace(page_content=text, id=None, metadata={"source": "corpus"})

    def make_message(self, text: str) -> Any:
        """Return what a person said to a chat model."""
        return SimpleNamespace(content=text, text=text, type="human", additional_kwargs={})

    def make_reply(self, text: str) -> Any:
        """Return what a model's end is reported with, as LangChain's LLMResult."""
        generation = SimpleNamespace(text=text, message=self.make_message(text), generation_info=None)
        return SimpleNamespace(generations=[[generation]], llm_output=None, run=None)

    def settle(self, handler: Any) -> None:
        """Wait until the handler has done what it does in the background."""
        if callable(flush := getattr(handler, "flush", None)):
            flush()

    def pending(self, handler: Any) -> int | None:  # noqa: ARG002  # of those who keep something
        """Return how many runs the handler still holds something of; None: it is not looked at."""
        return None

    def rag_run(self, question: str = _QUESTION, answer: str = _ANSWER) -> FrameworkRun:
        """Return a chain that retrieves, asks a chat model and answers."""
        documents = [self.make_document(_PASSAGE), self.make_document("Bread needs yeast.")]
        retrieved = FrameworkRun("retriever", question, documents)
        written = FrameworkRun(
            "chat_model", [[self.make_message(question)]], self.make_reply(answer), tokens=tuple(answer.split())
        )
        return FrameworkRun("chain", {"question": question}, answer, (retrieved, written))

    def test_it_leaves_errors_to_the_chain(self, handler: Any) -> None:
        """With ``raise_error`` the handler's mistakes end the user's answer."""
        assert not getattr(handler, "raise_error", False), "raise_error is set; a handler that watches leaves it False"

    def test_a_plain_run_raises_nothing(self, handler: Any) -> None:
        """Chain, retriever and chat model, streamed, without ``serialized`` as LangChain reports them."""
        self._tell(handler, events_of(self.rag_run()), "a plain run")

    def test_serialized_may_be_anything(self, handler: Any) -> None:
        """It is None for retrievers and runnables, and a mapping without a name for others."""
        for serialized in (None, {}, {"id": ["langchain", "x"]}, {"name": None}, {"kwargs": {"model": 1}}):
            for kind in KINDS:
                run = FrameworkRun(kind, self._make_input(kind), self._make_output(kind), serialized=serialized)
                self._tell(handler, events_of(run), f"a {kind} with serialized={serialized!r}")

    def test_inputs_and_outputs_may_be_anything(self, handler: Any) -> None:
        """A runnable takes and returns texts, mappings, lists, messages, nothing."""
        for value in (*ODD_VALUES, self.make_message("hello"), [self.make_document(_PASSAGE)], self.make_reply("hello")):
            run = FrameworkRun("chain", value, value, (FrameworkRun("tool", value, value), FrameworkRun("chain", value, value)))
            self._tell(handler, events_of(run), f"a chain and a tool with {value!r}")

    def test_documents_and_replies_may_be_odd(self, handler: Any) -> None:
        """Retrievers of others return no documents, and models no generations."""
        found: tuple[Any, ...] = (None, (), [None], "text", [{"page_content": "x"}], [(self.make_document(_PASSAGE), 0.5)])
        for documents in found:
            run = FrameworkRun("chain", "?", "!", (FrameworkRun("retriever", "?", documents),))
            self._tell(handler, events_of(run), f"a retriever that found {documents!r}")
        written: tuple[Any, ...] = (None, "text", SimpleNamespace(generations=[]), SimpleNamespace(generations=[[]]))
        for reply in written:
            run = FrameworkRun("chain", "?", "!", (FrameworkRun("llm", ["?"], reply),))
            self._tell(handler, events_of(run), f"a model that wrote {reply!r}")

    def test_odd_texts_raise_nothing(self, handler: Any) -> None:
        """As question, passage and answer."""
        for name, text in ODD_TEXTS.items():
            self._tell(handler, events_of(self.rag_run(text, text)), name)

    def test_failed_runs_raise_nothing(self, handler: Any) -> None:
        """Runs fail by exceptions, and by what is none: interrupts and cancelled tasks."""
        for error in (ValueError("broken"), TimeoutError(), KeyboardInterrupt(), GeneratorExit()):
            failed = tuple(FrameworkRun(kind, self._make_input(kind), error) for kind in KINDS)
            self._tell(
                handler,
                events_of(FrameworkRun("chain", {"question": _QUESTION}, error, failed)),
                f"runs that fail by {error!r}",
            )

    def test_ends_without_starts_raise_nothing(self, handler: Any) -> None:
        """A handler that is added to a running chain sees them."""
        for kind in KINDS:
            for made in (self._make_output(kind), ValueError("broken")):
                events = events_of(FrameworkRun(kind, self._make_input(kind), made, tokens=("word",)))
                self._tell(handler, events[1:], f"the end of a {kind} that never began")

    def test_unknown_parents_raise_nothing(self, handler: Any) -> None:
        """Runs whose parents were not reported: hidden ones, and those of another process."""
        self._tell(handler, events_of(self.rag_run(), parent=uuid4()), "a run whose parent is unknown")

    def test_ends_in_the_wrong_order_raise_nothing(self, handler: Any) -> None:
        """Where streams are cut off, a root run ends before those inside."""
        events = events_of(self.rag_run())

        self._tell(handler, [events[0], *events[1:-1][::-1]], "ends before their starts")
        self._tell(handler, [*events[:2], events[-1], *events[2:-1]], "a root that ends before what runs inside")

    def test_repeated_events_raise_nothing(self, handler: Any) -> None:
        """A handler that is installed twice, or a run that is tried again, repeats ids."""
        events = events_of(self.rag_run())

        self._tell(handler, [event for event in events for _ in range(2)], "events that come twice")
        self._tell(handler, events, "a run that comes again under its ids")

    def test_streams_raise_nothing(self, handler: Any) -> None:
        """While a chain streams its input is not known yet: it is reported as empty, and tokens come in many forms."""
        tokens: tuple[Any, ...] = ("", "word", " ", [], [{"type": "text", "text": "word"}], None)
        written = FrameworkRun("chat_model", [[self.make_message(_QUESTION)]], self.make_reply(_ANSWER), tokens=tokens)
        for ends in (True, False):
            run = FrameworkRun("chain", {"input": ""}, _ANSWER, (FrameworkRun("retriever", "", []), written), ends=ends)
            self._tell(handler, events_of(run), "a stream")

    def test_unknown_keywords_raise_nothing(self, handler: Any) -> None:
        """New versions report more."""
        events = [event.with_more(reported_from_tomorrow_on=object()) for event in events_of(self.rag_run())]

        self._tell(handler, events, "an unknown keyword")

    def test_missing_keywords_raise_nothing(self, handler: Any) -> None:
        """Only a run's id is always there: no name, tags, metadata or parent."""
        events = [Event(event.name, event.args, {"run_id": event.run_id}) for event in events_of(self.rag_run())]

        self._tell(handler, events, "events with nothing but an id")

    def test_other_events_raise_nothing(self, handler: Any) -> None:
        """Those that say nothing about retrieval, with and without a run that is known."""
        run_id = uuid4()
        events = [
            Event("on_custom_event", ("progress", data), {"run_id": run_id, "tags": None, "metadata": None})
            for data in (None, {}, "half", object())
        ]
        texts = [Event("on_text", ("words",), {"run_id": run_id, "parent_run_id": None})]
        retries = [Event("on_retry", (SimpleNamespace(attempt_number=2),), {"run_id": run_id, "parent_run_id": None})]

        self._tell(handler, [*events, *texts, *retries], "other events")

    def test_what_passes_by_stays_as_it_was(self, handler: Any) -> None:
        """Inputs, documents and outputs are the chain's; a stream that the handler reads is lost to the user."""
        run = self.rag_run()
        before = copy.deepcopy(run)
        stream = iter(["one", "two"])

        self._tell(handler, events_of(run), "a plain run")
        self._tell(handler, events_of(FrameworkRun("chain", _QUESTION, stream)), "a chain that returns an iterator")

        assert run == before, "inputs, documents or outputs were changed; copy what is kept"
        assert list(stream) == ["one", "two"], "the handler read an iterator that the chain returned; leave it to the user"

    def test_interleaved_runs_raise_nothing(self, handler: Any) -> None:
        """Batches and servers run many chains at once."""
        random = Random(7)
        runs = [events_of(self.rag_run(f"{_QUESTION} {number}")) for number in range(_MANY)]

        self._tell(handler, interleave(random, runs), "interleaved runs")

    def test_threads_raise_nothing(self, handler: Any) -> None:
        """Runs in parallel are reported from many threads, those of one chain too."""
        shared = events_of(FrameworkRun("chain", _QUESTION, _ANSWER, tuple(self.rag_run() for _ in range(THREADS))))
        share = len(shared[1:-1]) // THREADS
        self._tell(handler, shared[:1], "a chain that begins")

        def tell(turn: int) -> None:
            part = shared[1 + turn * share : 1 + (turn + 1) * share]
            self._tell(handler, [*part, *events_of(self.rag_run())], "many threads")

        at_once([partial(tell, turn) for turn in range(THREADS)])
        self._tell(handler, shared[-1:], "a chain that ends")

    def test_random_runs_raise_nothing(self, handler: Any) -> None:
        """Of any shape, with any values, some failed, some without an end."""
        for run in self._random_runs(ending=7 / 8):
            self._tell(handler, events_of(run), "a random run")

    def test_finished_runs_are_forgotten(self, handler: Any) -> None:
        """A server never stops: what is kept of a run goes when its root ends, whatever failed inside."""
        before = self._pending(handler)

        failed = FrameworkRun("chain", _QUESTION, ValueError("broken"), (FrameworkRun("retriever", _QUESTION, TimeoutError()),))
        for run in (*self._random_runs(ending=1.0), failed, *(self.rag_run() for _ in range(_MANY))):
            self._tell(handler, events_of(run), "a run")

        left = self._pending(handler) - before
        assert left <= 0, f"something is still held of {left} runs that ended; forget all of a run when its root ends"

    def test_runs_with_unknown_parents_are_forgotten(self, handler: Any) -> None:
        """Their root never ends, as it never began."""
        before = self._pending(handler)

        for _ in range(_MANY):
            self._tell(handler, events_of(self.rag_run(), parent=uuid4()), "a run whose parent is unknown")

        left = self._pending(handler) - before
        assert left <= 0, f"something is still held of {left} runs that ended; take one whose parent is unknown for a root"

    def test_ends_without_starts_are_not_kept(self, handler: Any) -> None:
        """Nothing will come after them."""
        before = self._pending(handler)

        for _ in range(_MANY):
            ends = [event for event in events_of(self.rag_run()) if not event.name.endswith("_start")]
            self._tell(handler, ends, "ends without starts")

        left = self._pending(handler) - before
        assert left <= 0, f"something is held of {left} runs that never began; keep nothing for an unknown id"

    def test_abandoned_runs_are_bounded(self, handler: Any) -> None:
        """Some runs never end: those of cancelled streams and killed threads."""
        if self.most_pending is None:
            reason = "how many abandoned runs may be kept is not said (most_pending)"
            raise make_skip(reason)
        for _ in range(self.most_pending + _MANY):
            self._tell(handler, events_of(self.rag_run())[:2], "a run that never ends")

        assert self._pending(handler) <= self.most_pending, "runs that never end are all kept; drop the oldest and count them"

    def _tell(self, handler: Any, events: Sequence[Event], about: str) -> None:
        for event in events:
            check_call(partial(send, handler, event), f"{event.name} of {about}", _ADVICE)

    def _pending(self, handler: Any) -> int:
        self.settle(handler)
        held = self.pending(handler)
        if held is None:
            reason = "how much the handler holds is not said (pending)"
            raise make_skip(reason)
        return held

    def _random_runs(self, ending: float) -> Iterator[FrameworkRun]:
        random = Random(11)
        odd = [lambda _, value=value: value for value in ODD_VALUES]
        for _ in range(_MANY):
            yield random_run(random, [self._make_input, self._make_output, *odd], ending=ending)

    def _make_input(self, kind: Kind) -> Any:
        match kind:
            case "chain":
                return {"question": _QUESTION}
            case "chat_model":
                return [[self.make_message(_QUESTION)]]
            case "llm":
                return [_QUESTION]
            case _:
                return _QUESTION

    def _make_output(self, kind: Kind) -> Any:
        match kind:
            case "retriever":
                return [self.make_document(_PASSAGE)]
            case "chat_model" | "llm":
                return self.make_reply(_ANSWER)
            case _:
                return _ANSWER
