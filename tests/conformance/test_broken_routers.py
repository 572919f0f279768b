"""Every check of the suite for routers catches something."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rag_cover.routing import Route
from rag_cover.testing.conformance import RouterTests


class Suite(RouterTests):
    """Knows two routes."""

    def names(self) -> Sequence[str]:
        return ("short", "long")


class Router:
    """Routes by a function."""

    def __init__(self, route: Callable[[str], Any]) -> None:
        self.route = route


def right(question: str, **changes: Any) -> Route:
    name = "long" if len(question) > 60 else "short"
    return replace(Route(name, 0.5, {"length": 1.0}, "It is that long."), **changes)


def but(**changes: Any) -> Router:
    return Router(lambda question: right(question, **changes))


def refusing(question: str) -> Route:
    if not question.strip():
        raise ValueError
    return right(question)


def of_words(question: str) -> Route:
    return right(question, reason=f"It begins with {question.split(maxsplit=1)[0]}.")


def counting() -> Router:
    calls = iter(range(10_000))
    return Router(lambda question: right(question, scores={"calls": next(calls)}))


def strict(question: str) -> Route:
    if len(question) > 10_000:
        message = "too long"
        raise OverflowError(message)
    return right(question)


class Remembering:
    """Keeps the question on itself."""

    question = ""

    def route(self, question: str) -> Route:
        self.question = question
        time.sleep(0.001)
        return right(self.question)


FAULTS: dict[str, tuple[Any, str, str]] = {
    "another name": (but(name="elsewhere"), "test_it_goes_to_a_route_that_there_is", "there are: short, long"),
    "percents": (but(probability=50.0), "test_it_says_what_it_decided_by", r"give one in \[0, 1\]"),
    "NaN": (but(scores={"cost": math.nan}), "test_it_says_what_it_decided_by", "leave out what is undefined"),
    "a name alone": (Router(lambda _: "short"), "test_it_says_what_it_decided_by", "returned a str; return a Route"),
    "a text": (Router(lambda _: "short"), "test_it_says_why", "returned a str; return a Route"),
    "no reason": (but(reason=" "), "test_it_says_why", "has no reason"),
    "a page": (but(reason="One.\nTwo."), "test_it_says_why", "several lines"),
    "numbers of numpy": (but(scores={"cost": np.float32(1)}), "test_a_route_is_json", "not JSON serializable"),
    "a count": (counting(), "test_the_same_question_goes_the_same_way", "keep no state"),
    "state": (Remembering(), "test_many_threads_get_what_one_gets", "not on the router"),
    "a silent refusal": (Router(refusing), "test_a_blank_question_is_refused_or_has_a_reason", "without a word"),
    "the first word": (Router(of_words), "test_a_blank_question_is_refused_or_has_a_reason", "raised IndexError"),
    "no long questions": (Router(strict), "test_odd_questions_are_routed_like_others", "raised OverflowError"),
}


@pytest.mark.parametrize(("broken", "check", "sentence"), FAULTS.values(), ids=FAULTS)
def test_what_is_broken_is_told_in_a_sentence(broken: Any, check: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        getattr(Suite(), check)(broken)


def test_every_check_is_seen_to_fail() -> None:
    assert {name for name in dir(Suite) if name.startswith("test_")} == {check for _, check, _ in FAULTS.values()}


class TestARouterThatIsRight(Suite):
    @pytest.fixture
    def router(self) -> Router:
        return Router(right)
