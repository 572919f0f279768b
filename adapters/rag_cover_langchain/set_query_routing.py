"""Routes set queries to the chain that answers them, and other questions to another chain.

    router = SetQueryRouter(SetQueryRetriever(store), store.as_retriever())
    router.invoke("Which birds of Chile are not birds of Peru?")

Within a ``RunnableBranch``, `is_set_query` is the condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.base import RunnableLike
from langchain_core.runnables.utils import Input, Output
from pydantic import SkipValidation

from rag_cover.errors import InvalidValueError
from rag_cover.integration import MIN_CONFIDENCE, OTHERWISE, SET, refuse_outside, set_route
from rag_cover.routing import Route
from rag_cover_langchain.payloads import question_in
from rag_cover_langchain.routed_chains import Default, RoutedChain, chain_of, chains_of

__all__ = ["SetQueryRouter", "is_set_query"]


class SetQueryRouter(RoutedChain[Input, Output]):
    """Calls one chain for set queries, "A or B but not C", and another for any other question.

    Set queries are recognised by their wording alone, offline (`rag_cover.setqueries.parse`). Chains are called with what
    the router was called with: a text, a mapping with a question, or messages; a retriever, with the question in it.

    Args:
        set_retriever: what is called for set queries: a `SetQueryRetriever`, or a chain with one in it.
        otherwise: what is called for others.
        min_confidence: the confidence from which a question that was read as a set query is one.
        default: the route, ``"set"`` or ``"otherwise"``, or the chain to take where there is no question in what was given;
            None: the error is raised.
        routes: left out: both chains by name, as copies are made with.

    Raises:
        InvalidValueError: a confidence out of range, or a default that is no route.
    """

    set_retriever: Annotated[RunnableLike[Any, Any], SkipValidation]
    otherwise: Annotated[RunnableLike[Any, Any], SkipValidation]
    min_confidence: float = MIN_CONFIDENCE

    def __init__(
        self,
        set_retriever: RunnableLike[Any, Any],
        otherwise: RunnableLike[Any, Any],
        *,
        min_confidence: float = MIN_CONFIDENCE,
        default: Default = None,
        routes: Mapping[str, RunnableLike[Any, Any]] | None = None,  # noqa: ARG002  # copies are made with all fields
        name: str | None = None,
    ) -> None:
        refuse_outside(0, 1, min_confidence=min_confidence)
        given: dict[str, Any] = {"set_retriever": set_retriever, "otherwise": otherwise}
        chains = {
            route: _take_any_input(chain) for route, chain in chains_of({SET: set_retriever, OTHERWISE: otherwise}).items()
        }
        super().__init__(routes=chains, default=chain_of(default, chains), min_confidence=min_confidence, name=name, **given)

    def _route(self, question: str) -> Route:
        return set_route(question, min_confidence=self.min_confidence)


def is_set_query(given: object, *, min_confidence: float = MIN_CONFIDENCE) -> bool:
    """Return whether the question in a text, a mapping or messages is a set query that can be answered as one.

    ``RunnableBranch((is_set_query, set_chain), other_chain)`` sends only those to a chain.

    Where there is no question, it is none.
    """
    question = question_in(given)
    return question is not None and set_route(question, min_confidence=min_confidence).name == SET


def _take_any_input(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return a chain that takes what the router takes; retrievers take a text alone."""
    return RunnableLambda(_question) | chain if isinstance(chain, BaseRetriever) else chain


def _question(given: object) -> str:
    question = question_in(given)
    if question is None:
        message = "there is no question in what was given; give a text, messages, or a mapping with a 'question'"
        raise InvalidValueError(message)
    return question
