"""A server that fails, in every way in which servers fail: what passes is tried again, what does not is said at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest

from rag_cover.backends import Generation, Sampling
from rag_cover.errors import InvalidValueError
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession
from rag_cover.registry import open_generator

pytest.importorskip("openai", reason="needs openai (extra openai)")

MODEL = "openai:small"


def opened(**options: Any) -> Any:
    """Open the model, which tells more than a Generator must."""
    return open_generator(MODEL, **options)


def only(generations: Sequence[Generation]) -> Generation:
    (generation,) = generations
    return generation


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "bad request"), (401, "authentication"), (403, "permission"), (404, "not found")]
)
def test_a_refused_request_fails_at_once_in_the_servers_words(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], status: int, kind: str
) -> None:
    server.faults = [fault(status=status, message="You shall not pass.")]

    failure = only(opened(**options).generate(["A?"])).failure

    assert failure is not None
    assert (failure.kind, failure.attempts) == (kind, 1)
    assert failure.message == f"openai:small: the server answered {status}: You shall not pass."
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "error", "kind"), [(401, {}, "authentication"), (429, {"code": "insufficient_quota"}, "quota")]
)
def test_within_a_run_a_server_that_shuts_the_model_out_is_not_asked_again(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], status: int, error: dict[str, str], kind: str
) -> None:
    generator = opened(**options | {"policy": replace(options["policy"], max_concurrency=1)})
    server.fault_of = lambda _: fault(status=status, message="Go away.", error=error)

    failures = [each.failure for each in generator.for_run(LLMSession()).generate([f"{number}?" for number in range(50)])]
    server.fault_of = lambda _: None
    later = only(generator.for_run(LLMSession()).generate(["A?"]))

    assert len(server.requests) == 2
    assert {(failure.kind, failure.message) for failure in failures if failure is not None} == {
        (kind, f"openai:small: the server answered {status}: Go away.")
    }
    assert later.failure is None


def test_within_a_run_a_server_that_no_call_reaches_is_not_asked_again(
    server: Any, options: dict[str, Any], fault: Callable[..., Any]
) -> None:
    policy = replace(options["policy"], max_concurrency=1)
    generator = opened(**options | {"policy": policy}).for_run(LLMSession())
    server.fault_of = lambda _: fault("reset")

    failures = [each.failure for each in generator.generate([f"{number}?" for number in range(50)])]

    assert len(server.requests) == policy.attempts
    assert all(failure is not None and failure.kind == "connection" for failure in failures)
    assert str(failures[-1] and failures[-1].message).endswith("; no call reached the server, so it is not asked again")


def test_a_server_that_was_reached_once_is_asked_on_where_a_connection_breaks(
    server: Any, options: dict[str, Any], fault: Callable[..., Any]
) -> None:
    policy = replace(options["policy"], max_concurrency=1, attempts=1)
    generator = opened(**options | {"policy": policy}).for_run(LLMSession())

    first = generator.generate(["A?"])
    server.fault_of = lambda _: fault("reset") if len(server.requests) < 4 else None
    later = [each.failure for each in generator.generate(["B?", "C?", "D?", "E?"])]

    assert only(first).failure is None
    assert [failure is None for failure in later] == [False, False, True, True]


def test_what_is_not_implemented_is_not_asked_for_again(
    server: Any, options: dict[str, Any], fault: Callable[..., Any]
) -> None:
    server.faults = [fault(status=501, message="logprobs are not implemented")]
    generator = opened(**options)

    generation = only(generator.generate(["A?"], Sampling(logprobs=True)))

    assert generation.failure is None
    assert [body.get("logprobs") for body in server.requests] == [True, None]
    assert generator.spending.notes == ("openai:small refuses logprobs; it is no longer sent",)


@pytest.mark.parametrize(
    "base_url", ["127.0.0.1:8000/v1", "localhost/v1", "ftp://127.0.0.1/v1", "http://", "http://[::1", "http://h:x/v1", "no"]
)
def test_an_address_that_is_none_is_refused_and_not_repeated(base_url: str) -> None:
    with pytest.raises(InvalidValueError, match="base_url is no address of a server; one is http://127.0.0.1:8000/v1"):
        opened(base_url=base_url, api_key="some-key").generate(["A?"])


def test_a_spent_quota_is_not_waited_for(server: Any, options: dict[str, Any], fault: Callable[..., Any]) -> None:
    server.faults = [fault(status=429, message="You exceeded your quota.", error={"code": "insufficient_quota"})]

    failure = only(opened(**options).generate(["A?"])).failure

    assert failure is not None
    assert (failure.kind, failure.attempts) == ("quota", 1)


@pytest.mark.parametrize("kind", ["reset", "cut 500", "broken", "status 408", "status 429", "status 500", "status 503"])
def test_what_passes_is_tried_again(server: Any, options: dict[str, Any], fault: Callable[..., Any], kind: str) -> None:
    name, _, status = kind.partition(" ")
    server.faults = [fault(name, int(status or 0)), fault(name, int(status or 0))]
    generator = opened(**options)

    generation = only(generator.generate(["A?"]))

    assert generation.failure is None
    assert len(server.requests) == 3
    assert (generator.spending.usage[0].calls, generator.spending.usage[0].retries) == (1, 2)


def test_a_server_that_hangs_is_given_up_and_asked_again(
    server: Any, options: dict[str, Any], fault: Callable[..., Any]
) -> None:
    server.faults = [fault("hang")]
    policy = replace(options["policy"], timeout_s=2.0)

    generation = only(opened(**options | {"policy": policy}).generate(["A?"]))

    assert generation.failure is None
    assert len(server.requests) >= 2


@pytest.mark.parametrize(("status", "size"), [(200, "16 MB"), (500, "64 KB")])
def test_a_reply_without_end_is_not_read_on(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], status: int, size: str
) -> None:
    server.fault_of = lambda _: fault("endless", status=status)

    failure = only(opened(**options).generate(["A?"])).failure

    assert failure is not None
    assert (failure.kind, failure.attempts) == ("unacceptable reply", 1)
    assert f"the reply is longer than {size}, and is not read on" in failure.message


def test_a_redirect_to_another_host_is_not_followed(server: Any, options: dict[str, Any], fault: Callable[..., Any]) -> None:
    elsewhere = server.base_url.replace("127.0.0.1", "localhost")
    server.faults = [fault(status=307, headers={"Location": f"{elsewhere}/chat/completions"})]

    failure = only(opened(**options).generate(["A?"])).failure

    assert failure is not None
    assert (failure.kind, len(server.requests)) == ("unacceptable reply", 1)
    assert "redirects to another host (localhost)" in failure.message


def test_a_redirect_on_the_same_host_is_followed(server: Any, options: dict[str, Any], fault: Callable[..., Any]) -> None:
    server.faults = [fault(status=307, headers={"Location": f"{server.base_url}/chat/completions"})]

    generation = only(opened(**options).generate(["A?"]))

    assert (generation.failure, len(server.requests)) == (None, 2)


def test_a_server_that_trickles_is_given_up_too(server: Any, options: dict[str, Any], fault: Callable[..., Any]) -> None:
    server.fault_of = lambda _: fault("trickle")
    policy = replace(options["policy"], timeout_s=0.3, attempts=2)

    failure = only(opened(**options | {"policy": policy}).generate(["A?"])).failure

    assert failure is not None
    assert (failure.kind, failure.attempts) == ("timeout", 2)


def test_a_run_that_ends_does_not_wait_for_an_answer(server: Any, options: dict[str, Any], fault: Callable[..., Any]) -> None:
    server.fault_of = lambda _: fault("hang")
    began = time.monotonic()

    generation = only(opened(**options).for_run(LLMSession(clock=Deadline(0.5))).generate(["A?"]))

    assert generation.failure is not None
    assert time.monotonic() - began < 30  # of the 600 that the policy allows an answer


def test_the_server_is_obeyed_when_it_names_its_wait(server: Any, options: dict[str, Any], fault: Callable[..., Any]) -> None:
    server.faults = [fault(status=429, headers={"Retry-After": "0.4"})]
    generator = opened(**options)
    began = time.monotonic()

    generation = only(generator.generate(["A?"]))

    elapsed = time.monotonic() - began
    assert generation.failure is None
    assert generator.spending.usage[0].seconds <= elapsed - 0.4  # waited, and waiting is no latency


def test_a_date_that_has_passed_is_not_waited_for(server: Any, options: dict[str, Any], fault: Callable[..., Any]) -> None:
    server.faults = [fault(status=503, headers={"Retry-After": formatdate(time.time() - 60, usegmt=True)})]

    assert only(opened(**options).generate(["A?"])).failure is None


@pytest.mark.parametrize("wait", ["-5", "nan", "soon", "Fri, 99 Foo 99999 99:99:99 GMT", ""])
def test_a_wait_that_cannot_be_read_is_no_wait(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], wait: str
) -> None:
    server.faults = [fault(status=429, headers={"Retry-After": wait})]

    assert only(opened(**options).generate(["A?"])).failure is None


@pytest.mark.parametrize(
    "wait", ["86400", "inf", formatdate(time.time() + 86_400, usegmt=True)], ids=["seconds", "never", "date"]
)
def test_a_wait_beyond_the_deadline_is_not_begun(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], wait: str
) -> None:
    server.faults = [fault(status=429, headers={"Retry-After": wait})]

    failure = only(opened(**options).generate(["A?"])).failure

    assert failure is not None
    assert (failure.kind, failure.attempts) == ("rate limit", 1)


@pytest.mark.parametrize(("kind", "called"), [("no choices", "empty"), ("wrong shape", "malformed"), ("page", "no API")])
def test_an_answer_of_another_shape_is_a_failure(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], kind: str, called: str
) -> None:
    server.faults = [fault(kind)]

    generation = only(opened(**options).generate(["A?"]))

    assert generation.samples == ()
    assert generation.failure is not None
    assert generation.failure.kind == called
    assert generation.failure.raw


def test_tokens_that_the_server_does_not_tell_are_unknown(server: Any, options: dict[str, Any]) -> None:
    server.gives_usage = False
    generator = opened(**options)

    generation = only(generator.generate(["A?"]))

    assert (generation.prompt_tokens, generation.completion_tokens) == (None, None)
    assert generator.spending.usage[0].untold == 1


def test_no_more_calls_are_under_way_than_allowed(server: Any, options: dict[str, Any]) -> None:
    policy = replace(options["policy"], max_concurrency=3)

    def reply(_: dict[str, Any]) -> str:
        time.sleep(0.02)
        return "Paris"

    server.reply = reply

    generations = opened(**options | {"policy": policy}).generate([f"{n}?" for n in range(30)])

    assert len(generations) == 30
    assert server.busiest <= 3
