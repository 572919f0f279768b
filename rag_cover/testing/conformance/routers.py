"""What a router owes those who follow it: an object with ``route(question) -> Route`` (`rag_cover.routing.Route`)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from rag_cover.routing import Route
from rag_cover.testing.conformance.attempts import THREADS, at_once, check_call, check_call_or_refusal
from rag_cover.testing.conformance.oddities import BLANK_TEXTS, ODD_TEXTS

__all__ = ["RouterTests"]

_ADVICE = "route it, take the default where there is one, or raise a ValueError that says what to do"


class RouterTests:
    """Tests of a router: subclass them under a name that begins with ``Test``, and give it as the fixture ``router``.

    class TestMyRouter(RouterTests):
        @pytest.fixture
        def router(self) -> MyRouter:
            return MyRouter()

        def names(self) -> Sequence[str]:
            return ("small", "large")
    """

    def names(self) -> Sequence[str]:
        """Return the names of all routes there are."""
        raise NotImplementedError

    def questions(self) -> Sequence[str]:
        """Return two or more questions, best such as take different routes."""
        return (
            "Why is the sky blue?",
            "When was the director of the film Jaws born, and which of his films won most prizes before 1994?",
            "Which rivers of Wales rise in the north but do not reach the Irish Sea?",
        )

    def route(self, router: Any, question: str) -> Route:
        """Return where a question goes; of a router of another form, make a `Route` of what it says."""
        found: Route = router.route(question)
        return found

    def test_it_goes_to_a_route_that_there_is(self, router: Any) -> None:
        """By its name."""
        for question in self.questions():
            name = self._route(router, question, "a plain question").name
            assert name in self.names(), f"a question went to {name!r}; there are: {', '.join(self.names())}"

    def test_it_says_what_it_decided_by(self, router: Any) -> None:
        """A probability, or None where nothing calibrated tells; scores that are numbers, absent where undefined."""
        for question in self.questions():
            self._check(self._route(router, question, "a plain question"), "a plain question")

    def test_it_says_why(self, router: Any) -> None:
        """In one line for people."""
        for question in self.questions():
            reason = self._route(router, question, "a plain question").reason
            assert reason.strip(), "a route has no reason; say in one sentence what it rests on"
            assert len(reason.splitlines()) == 1, f"the reason {reason!r} has several lines; say it in one sentence"

    def test_a_route_is_json(self, router: Any) -> None:
        """It travels into logs and traces."""
        found = self._route(router, self.questions()[0], "a plain question")

        check_call(
            lambda: json.dumps(found.to_dict(), allow_nan=False), "writing a route as JSON", "use plain numbers and texts"
        )

    def test_the_same_question_goes_the_same_way(self, router: Any) -> None:
        """Whatever was asked in between."""
        first, *others = self.questions()
        before = self._route(router, first, "a plain question")
        again = self._route(router, first, "a plain question")

        for question in others:
            self._route(router, question, "another question")

        assert self._route(router, first, "a plain question") == again == before, (
            "the same question took another route, or gave other numbers; keep no state on the router, seed what samples"
        )

    def test_many_threads_get_what_one_gets(self, router: Any) -> None:
        """One router serves every request of a server."""
        questions = [self.questions()[turn % len(self.questions())] for turn in range(THREADS)]
        alone = [self._route(router, question, "a plain question") for question in questions]

        found = at_once([partial(self._route, router, question, "many threads") for question in questions])

        assert found == alone, (
            f"{THREADS} threads got other routes than one; keep what belongs to a call in variables, not on the router"
        )

    def test_a_blank_question_is_refused_or_has_a_reason(self, router: Any) -> None:
        """By a ValueError that says so, or with a route whose reason says what was done."""
        for name, question in BLANK_TEXTS.items():
            self._check_refused_or_routed(router, question, name)

    def test_odd_questions_are_routed_like_others(self, router: Any) -> None:
        """Endless and unreadable ones."""
        for name, text in ODD_TEXTS.items():
            self._check_refused_or_routed(router, text, name)
            self._check(self._route(router, f"{self.questions()[0]} {text}", name), name)

    def _route(self, router: Any, question: str, about: str) -> Route:
        return _a_route(check_call(lambda: self.route(router, question), f"routing {about}", _ADVICE), about)

    def _check_refused_or_routed(self, router: Any, question: str, about: str) -> None:
        route = check_call_or_refusal(lambda: self.route(router, question), f"routing {about}", _ADVICE)
        if route is not None:
            self._check(_a_route(route, about), about)
            assert route.reason.strip(), f"{about} was routed without a reason; say what was done, or raise a ValueError"

    def _check(self, route: Route, about: str) -> None:
        assert route.name in self.names(), f"{about} went to {route.name!r}; there are: {', '.join(self.names())}"
        probability = route.probability
        assert probability is None or 0 <= probability <= 1, (
            f"the probability is {probability} for {about}; give one in [0, 1], or None where nothing calibrated tells"
        )
        for name, score in route.scores.items():
            assert math.isfinite(score), f"the score {name!r} is {score} for {about}; leave out what is undefined"


def _a_route(found: object, about: str) -> Route:
    assert isinstance(found, Route), f"routing {about} returned a {type(found).__name__}; return a Route"
    return found
