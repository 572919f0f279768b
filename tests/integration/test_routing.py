"""A router's decision, or the default where it fails."""

from __future__ import annotations

import pytest

from rag_cover import Models, Passage
from rag_cover.backends import Retriever
from rag_cover.complexity import Complexity
from rag_cover.errors import InvalidValueError
from rag_cover.integration import complexity_router_by, decide_or_default, for_agents, refuse_unknown_route
from rag_cover.routing import Route
from rag_cover.testing import KeywordScorer


class OnePassage:
    """Finds the same passage for every query."""

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        """Return it, if anything is asked for."""
        return [Passage("A heat pump costs 12,000 euros.")][:k] if query else []


def fail() -> Route:
    message = "connection refused"
    raise ConnectionError(message)


def test_what_a_router_decides_is_told_without_an_error() -> None:
    decision = decide_or_default(lambda: Route("direct", 0.25), default="complex")

    assert decision.to_dict() == {"route": "direct", "probability": 0.25, "scores": {}, "reason": ""}


def test_where_it_fails_the_default_is_taken_and_has_no_numbers() -> None:
    decision = decide_or_default(fail, default="complex")

    reason = "The router failed (ConnectionError: connection refused), so the default is taken."
    assert decision.route == Route("complex", None, {}, reason)
    assert decision.to_dict()["error"] == "ConnectionError: connection refused"


def test_where_it_fails_without_a_default_there_is_an_error() -> None:
    with pytest.raises(ConnectionError, match="connection refused"):
        decide_or_default(fail, default=None)


def test_a_complexity_router_calls_its_routes_as_the_demands_are() -> None:
    retriever: Retriever = OnePassage()

    router = complexity_router_by(retriever, Models(judge=KeywordScorer()), ["complex", "direct"], k=3, cut=0.0)

    assert router.route("How much does a heat pump cost?").name == "complex"
    with pytest.raises(InvalidValueError, match="name a route for 'direct' questions"):
        complexity_router_by(retriever, Models(judge=KeywordScorer()), ["complex"], k=3, cut=None)


def test_every_agent_that_may_be_chosen_has_something() -> None:
    assert for_agents(["small"], {"large": 1, "small": 2}, called="models") == {"small": 2}
    with pytest.raises(InvalidValueError, match="no model is named for the agent 'small', .* models has: large"):
        for_agents(["small"], {"large": 1}, called="models")


def test_a_default_is_a_route_that_there_is() -> None:
    refuse_unknown_route("direct", ["direct", "complex"])

    with pytest.raises(InvalidValueError, match="no route is called 'direkt'. Did you mean 'direct'.* direct, complex"):
        refuse_unknown_route("direkt", ["direct", "complex"])


def test_what_no_route_is_named_for_takes_the_complex_one_and_says_so() -> None:
    router = complexity_router_by(OnePassage(), Models(judge=KeywordScorer()), ["direct", "complex"], k=1, cut=None)

    unanswered = Complexity(0.01, answerable=False, completeness=0.1, complete=False, is_complex=False, t_ans=0.15, t_com=0.8)
    route = router.route_of(unanswered)

    assert (route.name, route.reason.count("No route is named for unanswerable questions")) == ("complex", 1)
