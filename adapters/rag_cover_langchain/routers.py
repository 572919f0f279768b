"""Routers as Runnables: the chain for a question, by what retrieval brings back for it or by what each chain can do.

    router = ComplexityRouterRunnable(retriever, {"direct": short_chain, "complex": sub_question_chain})
    router.invoke("Why is the sky blue?")

They are called with what their chains take: a text, a mapping with a question, or messages, and work as a step among others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableLike
from langchain_core.runnables.utils import Input, Output
from langchain_core.vectorstores import VectorStore
from pydantic import PrivateAttr, SkipValidation

from rag_cover import routing
from rag_cover.backends import Embedder, Relevance, Retriever, Scorer
from rag_cover.complexity import Complexity
from rag_cover.integration import complexity_router_by, for_agents, skill_router_by
from rag_cover.questions import Question
from rag_cover.routing import Demand, Route
from rag_cover_langchain.models import Writer, models_of, retriever_of
from rag_cover_langchain.routed_chains import Default, RoutedChain, chain_of, chains_of

__all__ = ["ComplexityRouterRunnable", "Probed", "SkillRouterRunnable"]

Probed = Runnable[str, Any] | VectorStore | Retriever
"""What can be probed: a retriever, another Runnable from a text to documents, a vector store, or a retriever of rag_cover's."""


class ComplexityRouterRunnable(RoutedChain[Input, Output]):
    """Chooses by what a retriever brings back: one passage answers, several together may, or this corpus does not.

    Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024), as
    `rag_cover.routing.ComplexityRouter` decides; that explains the settings. The retriever is asked once for each question.
    On small corpora such as FAQ pages it sends many questions that they answer to ``"unanswerable"``: try it on questions of
    your own before you give a route for these (docs/guides/complexity.md).

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            router = ComplexityRouterRunnable(
                retriever=store.as_retriever(), routes={"direct": short_chain, "complex": long_chain}
            )

    Invoke: ::

            answer = router.invoke("Why is the sky blue?")

    Args:
        retriever: the one to probe, for ``k`` documents where it may be asked for a number.
        routes: the chain for each demand: ``{"direct": …, "complex": …, "unanswerable": …}``. Without one for
            ``"unanswerable"``, such questions go the complex way.
        judge: decides whether a passage answers the question; a chat model judges, too.
        relevance: decides which words of the question a passage is about; None: the judge, where it can.
        k: how many documents to look at.
        cut: send a question the complex way from this P(complex) on; None: as the rule decides.
        default: the route, by its name, or the chain to take where probing or judging fails; None: the error is raised.

    Raises:
        InvalidValueError: routes without "direct" or "complex", or with others, k below 1, a cut below 0, or a default that is
            no route.
    """

    retriever: Annotated[Probed, SkipValidation]
    judge: Annotated[str | Scorer | Writer, SkipValidation] = "embedded"
    relevance: Annotated[str | Relevance | None, SkipValidation] = None
    k: int = 10
    cut: float | None = None

    _router: routing.ComplexityRouter = PrivateAttr()

    def __init__(
        self,
        retriever: Probed,
        routes: Mapping[Demand, RunnableLike[Any, Any]],
        *,
        judge: str | Scorer | Writer = "embedded",
        relevance: str | Relevance | None = None,
        k: int = 10,
        cut: float | None = None,
        default: Default = None,
        name: str | None = None,
    ) -> None:
        models = models_of(judge=judge, relevance=relevance)
        router = complexity_router_by(retriever_of(retriever), models, routes, k=k, cut=cut)
        chains = chains_of({str(demand): chain for demand, chain in routes.items()})
        given: dict[str, Any] = {"retriever": retriever, "judge": judge, "relevance": relevance, "k": k, "cut": cut}
        super().__init__(routes=chains, default=chain_of(default, chains), name=name, **given)
        self._router = router

    def complexity(self, question: Question | str) -> Complexity:
        """Return how complex a question is for what is retrieved for it.

        Raises:
            ModelFailedError: the judge failed on every passage.
        """
        return self._router.complexity(question)

    def _route(self, question: str) -> Route:
        return self._router.route(question)


class SkillRouterRunnable(RoutedChain[Input, Output]):
    """Chooses by the skills of each chain: the one most likely to succeed, or the cheapest that is likely enough.

    CAIMIRA (Gor et al., EMNLP 2024), as `rag_cover.routing.SkillRouter` decides; that explains the settings.

    Args:
        skills: path of the skills that ``rag-cover skills fit`` or `rag_cover.routing.Caimira.save` wrote, or a router of
            rag_cover's.
        routes: the chain for each agent that may be chosen.
        embedder: the embedder that the skills were fitted with; a router of rag_cover's has its own.
        costs: cost of one question, by agent; None: those that were kept with the skills, where any were.
        target: the predicted success that the cheapest agent must reach.
        budget: maximum cost of a question.
        exchange: probability of success that a unit of cost is worth.
        probe: measures complexity, for skills that are adjusted by it.
        default: the agent, by its name, or the chain to take where the router fails; None: the error is raised.

    Raises:
        InvalidValueError: an unknown agent, one without a chain, settings that contradict each other or stand beside a router,
            or a default that is no agent.
        InputError: there are no such skills.
        CorruptFileError: the skills are damaged.
        UnfitModelError: they were fitted with another embedder.
    """

    skills: Annotated[Path | str | routing.SkillRouter, SkipValidation]
    embedder: Annotated[str | Embedder | Embeddings, SkipValidation] = "embedded"
    costs: Mapping[str, float] | None = None
    target: float | None = None
    budget: float | None = None
    exchange: float | None = None
    probe: Annotated[ComplexityRouterRunnable[Any, Any] | None, SkipValidation] = None

    _router: routing.SkillRouter = PrivateAttr()

    def __init__(  # noqa: PLR0913  # all but two by name
        self,
        skills: Path | str | routing.SkillRouter,
        routes: Mapping[str, RunnableLike[Any, Any]],
        *,
        embedder: str | Embedder | Embeddings = "embedded",
        costs: Mapping[str, float] | None = None,
        target: float | None = None,
        budget: float | None = None,
        exchange: float | None = None,
        probe: ComplexityRouterRunnable[Any, Any] | None = None,
        default: Default = None,
        name: str | None = None,
    ) -> None:
        settings: dict[str, Any] = {"costs": costs, "target": target, "budget": budget, "exchange": exchange}
        asked = None if probe is None else probe.complexity
        models = models_of(embedder=embedder)
        router = skill_router_by(skills, models, agents=tuple(routes), probe=asked, **settings)
        chains = for_agents(router.agents, chains_of(routes), called="routes")
        given: dict[str, Any] = {"skills": skills, "embedder": embedder, "probe": probe, **settings}
        super().__init__(routes=chains, default=chain_of(default, chains), name=name, **given)
        self._router = router

    def _route(self, question: str) -> Route:
        return self._router.route(question)
