"""Every check of the suite for callback handlers catches something."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from rag_cover.testing.conformance import CallbackHandlerTests


class Suite(CallbackHandlerTests):
    """Knows what a handler holds."""

    most_pending = 20

    def pending(self, handler: Any) -> int:
        return len(handler.open)


class Handler:
    """Notes which runs are open, the latest ten of those that never end, and breaks where it is told to."""

    raise_error = False

    def __init__(self, broken: Callable[[str, tuple[Any, ...], dict[str, Any]], object] = lambda *_: None) -> None:
        self.broken = broken
        self.open: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("on_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.note(name, args, kwargs)

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if name.endswith("_start"):
            self.open[kwargs["run_id"]] = args
            for old in list(self.open)[:-10]:
                self.open.pop(old, None)
        elif name.endswith(("_end", "_error")):
            self.open.pop(kwargs["run_id"], None)
        self.broken(name, args, kwargs)


class Keeping(Handler):
    """Keeps something of events of one kind for ever."""

    def __init__(self, keeps: Callable[[str, Any], bool]) -> None:
        super().__init__()
        self.keeps = keeps

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.keeps(name, kwargs.get("parent_run_id")):
            self.open[(kwargs["run_id"], name)] = args


class Raising(Handler):
    """Asks for its errors to be raised."""

    raise_error = True


class Awaited(Handler):
    """Is asynchronous, and fails when it is awaited."""

    async def on_retriever_start(self, serialized: Any, query: Any, **_: Any) -> None:
        assert serialized is not None, query


class Shared:
    """Keeps on itself which run it is about."""

    raise_error = False

    def __init__(self) -> None:
        self.run_id: Any = None

    def on_retriever_start(self, *_: Any, run_id: Any, **__: Any) -> None:
        self.run_id = run_id
        time.sleep(0.001)
        assert self.run_id == run_id


def when(event: str, check: Callable[..., object]) -> Handler:
    """Return a handler that does something with what an event brings."""

    def broken(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if name == event:
            check(*args, **kwargs)

    return Handler(broken)


class Paired(Handler):
    """Finds the start of what ends, by its id."""

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if name.endswith("_start"):
            if kwargs.get("parent_run_id") is not None:
                assert self.open[kwargs["parent_run_id"]]
            self.open[kwargs["run_id"]] = args
        elif name.endswith(("_end", "_error")):
            del self.open[kwargs["run_id"]]


class Once(Handler):
    """Begins no run twice."""

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        assert not (name.endswith("_start") and kwargs["run_id"] in self.open)
        super().note(name, args, kwargs)


class Alone(Handler):
    """Knows of one root at a time."""

    root: Any = None

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs.get("parent_run_id") is None and name.startswith("on_chain"):
            assert name.endswith("_start") == (self.root is None), args
            self.root = kwargs["run_id"] if name.endswith("_start") else None


class Unbounded(Handler):
    """Keeps all runs that never end."""

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if name.endswith("_start"):
            self.open[kwargs["run_id"]] = args
        elif name.endswith(("_end", "_error")):
            self.open.pop(kwargs["run_id"], None)


def no_more(*_: Any, run_id: Any, parent_run_id: Any, tags: Any, metadata: Any, name: str) -> None: ...


FAULTS: dict[str, tuple[Any, str, str]] = {
    "raise_error": (Raising(), "test_it_leaves_errors_to_the_chain", "leaves it False"),
    "metadata of others": (
        when("on_retriever_end", lambda found, **_: [each.metadata["url"] for each in found]),
        "test_a_plain_run_raises_nothing",
        "on_retriever_end of a plain run raised KeyError",
    ),
    "an async mistake": (Awaited(), "test_a_plain_run_raises_nothing", "on_retriever_start of a plain run raised Assertion"),
    "serialized": (
        when("on_retriever_start", lambda serialized, *_, **__: serialized["name"]),
        "test_serialized_may_be_anything",
        "raised TypeError",
    ),
    "a name": (
        when("on_chain_start", lambda serialized, *_, **__: serialized and serialized["id"]),
        "test_serialized_may_be_anything",
        "raised KeyError: 'id'",
    ),
    "inputs as a mapping": (
        when("on_chain_start", lambda _, inputs, **__: inputs.get("question")),
        "test_inputs_and_outputs_may_be_anything",
        "has no attribute 'get'",
    ),
    "documents": (
        when("on_retriever_end", lambda found, **_: [each.page_content for each in found]),
        "test_documents_and_replies_may_be_odd",
        "a retriever that found None",
    ),
    "generations": (
        when("on_llm_end", lambda reply, **_: reply.generations[0][0].text),
        "test_documents_and_replies_may_be_odd",
        "a model that wrote None",
    ),
    "words": (
        when("on_retriever_start", lambda _, query, **__: query.split()[0]),
        "test_odd_texts_raise_nothing",
        "an empty text raised IndexError",
    ),
    "errors with a message": (
        when("on_llm_error", lambda error, **_: error.args[0]),
        "test_failed_runs_raise_nothing",
        "raised IndexError",
    ),
    "ends": (Paired(), "test_ends_without_starts_raise_nothing", "that never began raised KeyError"),
    "parents": (Paired(), "test_unknown_parents_raise_nothing", "whose parent is unknown raised KeyError"),
    "order": (Paired(), "test_ends_in_the_wrong_order_raise_nothing", "ends before their starts raised KeyError"),
    "once": (Once(), "test_repeated_events_raise_nothing", "events that come twice raised AssertionError"),
    "tokens": (
        when("on_llm_new_token", lambda token, **_: token + " "),
        "test_streams_raise_nothing",
        "of a stream raised Type",
    ),
    "known keywords": (when("on_chain_start", no_more), "test_unknown_keywords_raise_nothing", "unexpected keyword"),
    "all keywords": (
        when("on_chain_start", lambda *_, **told: told["name"]),
        "test_missing_keywords_raise_nothing",
        "nothing but an id raised KeyError",
    ),
    "custom events": (
        when("on_custom_event", lambda _, found, **__: found["step"]),
        "test_other_events_raise_nothing",
        "on_custom_event of other events raised TypeError",
    ),
    "sorting": (
        when("on_retriever_end", lambda found, **_: found.reverse()),
        "test_what_passes_by_stays_as_it_was",
        "copy what is kept",
    ),
    "reading": (when("on_chain_end", lambda made, **_: list(made)), "test_what_passes_by_stays_as_it_was", "read an iterator"),
    "one at a time": (Alone(), "test_interleaved_runs_raise_nothing", "interleaved runs raised AssertionError"),
    "state": (Shared(), "test_threads_raise_nothing", "many threads raised AssertionError"),
    "tools with texts": (
        when("on_tool_start", lambda _, given, **__: given.strip()),
        "test_random_runs_raise_nothing",
        "a random run raised AttributeError",
    ),
    "failed runs are kept": (
        Keeping(lambda name, _: name.endswith("_error")),
        "test_finished_runs_are_forgotten",
        "when its root ends",
    ),
    "orphans are kept": (
        Keeping(lambda name, parent: name == "on_chain_end" and parent is not None),
        "test_runs_with_unknown_parents_are_forgotten",
        "for a root",
    ),
    "ends are kept": (
        Keeping(lambda name, _: name == "on_llm_new_token"),
        "test_ends_without_starts_are_not_kept",
        "for an unknown id",
    ),
    "all are kept": (Unbounded(), "test_abandoned_runs_are_bounded", "drop the oldest"),
}


@pytest.mark.parametrize(("broken", "check", "sentence"), FAULTS.values(), ids=FAULTS)
def test_what_is_broken_is_told_in_a_sentence(broken: Any, check: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        getattr(Suite(), check)(broken)


def test_every_check_is_seen_to_fail() -> None:
    assert {name for name in dir(Suite) if name.startswith("test_")} == {check for _, check, _ in FAULTS.values()}


class TestAHandlerThatIsRight(Suite):
    @pytest.fixture
    def handler(self) -> Handler:
        return Handler()


class TestAHandlerOfFewEvents(CallbackHandlerTests):
    @pytest.fixture
    def handler(self) -> object:
        return object()
