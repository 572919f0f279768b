"""Routing by what agents were seen to be able to do: the cheapest that is likely enough to succeed, or the best for the money.

Predicted success comes from a skill model (`rag_cover.routing.caimira`), adjusted by what retrieval brings back where an
adjustment was fitted and somebody tells complexity (`rag_cover.routing.complexity_adjustment`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.argument_checks import describe_argument, refuse_negative, refuse_outside, without_none
from rag_cover.backends import Embedder
from rag_cover.complexity import Complexity
from rag_cover.errors import InvalidValueError, nearest
from rag_cover.questions import Question, as_question
from rag_cover.routing.complexity_adjustment import Adjustment, complexity_evidence
from rag_cover.routing.costs import costs_of
from rag_cover.routing.features import encode
from rag_cover.routing.frontiers import Frontier, Policy, trace_frontier
from rag_cover.routing.irt import probabilities
from rag_cover.routing.routes import Route
from rag_cover.routing.selection_rules import best_trade, best_within, cheapest_reaching
from rag_cover.routing.subjects import Subjects
from rag_cover.stats.logistic import logits_of

__all__ = ["Probe", "SkillModel", "SkillRouter"]

Floats = NDArray[np.float64]
Probe = Callable[[Question | str], Complexity]
"""Tells how complex a question is, such as `ComplexityRouter.complexity`."""

_EDGE = 1e-9  # a probability nearer to 0 or 1 has no logit to adjust


class SkillModel(Protocol):
    """What a router needs of a skill model, such as `Caimira`; ``embeddings`` are (n, d) as `encode` makes them."""

    @property
    def agents(self) -> Sequence[str]:
        """Name the agents."""
        ...

    def predict(self, embeddings: ArrayLike, agents: Sequence[str] | None = None) -> Floats:
        """Return (n, agents) the probability that each succeeds."""
        ...

    def relevance(self, embeddings: ArrayLike) -> Floats:
        """Return (n, m) how relevant each dimension is to each question."""
        ...

    def difficulty(self, embeddings: ArrayLike) -> Floats:
        """Return (n, m) how difficult each question is in each dimension."""
        ...


class SkillRouter:
    """Chooses one of several agents for each question; thread-safe, and unchanged once made.

    Args:
        caimira: a fitted skill model.
        costs: of one question, by agent: every agent of the model, or of ``agents``, has one. None: all cost alike.
        embedder: the one that the model was fitted with.
        target: the predicted success, in [0, 1], that the cheapest agent must reach; where none does, the likeliest is taken.
        budget: what a question may cost at most.
        exchange: what a unit of cost is worth in probability of success: the agent with the best difference is taken. Give this
            or a target.
        agents: choose among these only; None: all of the model's.
        adjustment: of predictions by complexity; needs ``probe``.
        probe: tells complexity, for the adjustment.

    Raises:
        InvalidValueError: an agent that is unknown or given twice, a missing cost, a target outside [0, 1], an exchange or a
            budget that is no finite number from 0 on, a budget that no agent meets, a target and an exchange, one of them or a
            budget without costs, or an adjustment without a probe.
    """

    __slots__ = ("_adjustment", "_caimira", "_embedder", "_probe", "agents", "budget", "costs", "exchange", "priced", "target")

    def __init__(  # noqa: PLR0913 - all but the model and the costs by name
        self,
        caimira: SkillModel,
        costs: Mapping[str, float] | None,
        *,
        embedder: Embedder,
        target: float | None = None,
        budget: float | None = None,
        exchange: float | None = None,
        agents: Sequence[str] | None = None,
        adjustment: Adjustment | None = None,
        probe: Probe | None = None,
    ) -> None:
        self.agents = tuple(caimira.agents if agents is None else agents)
        _refuse_agents(self.agents, caimira.agents)
        if costs is not None and not isinstance(costs, Mapping):
            message = f"costs is {describe_argument(costs)}; give a mapping of each agent to the cost of one question"
            raise InvalidValueError(message)
        self.costs: Floats = (
            np.zeros(len(self.agents)) if costs is None else costs_of(_concerning(costs, self.agents, caimira), self.agents)
        )
        self.target, self.budget, self.exchange, self.priced = target, budget, exchange, costs is not None
        self._caimira, self._embedder, self._adjustment, self._probe = caimira, embedder, adjustment, probe
        self._refuse_wishes()

    def route(self, question: Question | str, *, subject: str | None = None) -> Route:
        """Choose a question's agent; ``probability`` is its predicted success, ``scores`` those of all agents.

        Args:
            question: what is asked.
            subject: what it is filed under; one that the skills do not know counts as none.

        Raises:
            ModelFailedError: the embedder, or the probe's scorer, failed.
        """
        return self.routes([question], subjects=[subject])[0]

    def routes(
        self,
        questions: Sequence[Question | str],
        complexities: Sequence[Complexity] | None = None,
        *,
        subjects: Sequence[str | None] | None = None,
    ) -> list[Route]:
        """Choose the agent of each question; complexities that are known already are not asked for."""
        predicted = self.predict(questions, complexities, subjects=subjects)
        return [self._route(row, int(place)) for row, place in zip(predicted, self._choose(predicted), strict=True)]

    def predict(
        self,
        questions: Sequence[Question | str],
        complexities: Sequence[Complexity] | None = None,
        *,
        subjects: Sequence[str | None] | None = None,
    ) -> Floats:
        """Return (questions, agents) the predicted success of each agent, adjusted where an adjustment is used.

        Raises:
            InvalidValueError: one text in place of a list, or subjects or complexities that are not as many as questions.
        """
        if isinstance(questions, str):
            message = "questions is one text; give a list of them"
            raise InvalidValueError(message)
        if not questions:
            return np.zeros((0, len(self.agents)))
        asked = [as_question(question) for question in questions]
        predicted = np.asarray(self._caimira.predict(self._encode(asked, subjects), agents=self.agents), dtype=np.float64)
        if self._adjustment is None:
            return predicted
        known = complexities if complexities is not None else [self._complexity(question) for question in asked]
        if len(known) != len(asked):
            message = f"{len(asked)} questions need as many complexities, not {len(known)}"
            raise InvalidValueError(message)
        return probabilities(
            self._adjustment.adjust(logits_of(predicted, edge=_EDGE), complexity_evidence(known), agents=self.agents)
        )

    def explain(self, question: Question | str, *, subject: str | None = None) -> str:
        """Describe in lines for people who is asked and why: every agent's chance and cost, and what the question is about."""
        asked = as_question(question)
        route = self.route(asked, subject=subject)
        encoded = self._encode([asked], [subject])
        relevance, difficulty = self._caimira.relevance(encoded)[0], self._caimira.difficulty(encoded)[0]
        width = max(map(len, self.agents))
        order = np.argsort([-route.scores[agent] for agent in self.agents], kind="stable")
        return "\n".join(
            [
                f"Question: {' '.join(asked.text.split())}",
                f"Route: {route.name}",
                f"Because: {route.reason}",
                "Predicted success and cost:" if self.priced else "Predicted success:",
                *(f"  {self.agents[place]:{width}}  {self._standing(route, place)}" for place in order),
                "What the question is about, by relevance (difficulty in the model's scale):",
                *(
                    f"  dimension {k + 1}: {relevance[k]:.0%} ({difficulty[k]:+.2f})"
                    for k in np.argsort(-relevance, kind="stable")
                ),
                *(["Predictions are adjusted by what retrieval brought back."] if self._adjustment else []),
            ]
        )

    def frontier(
        self, questions: Sequence[Question | str], success: ArrayLike, *, policy: Policy = "exchange", seed: int = 0
    ) -> Frontier:
        """Trace cost and quality of this router over its settings on questions that the model was not fitted on.

        Args:
            questions: (n,) asked of all agents.
            success: (n, a) what came of it, in the order of ``agents``.
            policy: how the router decides.
            seed: seed of the random generator (resamples).
        """
        return trace_frontier(success, self.predict(questions), self.costs, agents=self.agents, policy=policy, seed=seed)

    def _standing(self, route: Route, place: int) -> str:
        chance = f"{route.scores[self.agents[place]]:.2f}"
        return f"{chance}  {self.costs[place]:g}" if self.priced else chance

    def _encode(self, questions: Sequence[Question], subjects: Sequence[str | None] | None) -> Floats:
        given = [None] * len(questions) if subjects is None else subjects
        if len(given) != len(questions):
            message = f"{len(questions)} questions need as many subjects (None where it is not known), not {len(given)}"
            raise InvalidValueError(message)
        encoded = np.asarray(encode([question.text for question in questions], self._embedder), dtype=np.float64)
        known = getattr(self._caimira, "subjects", None)  # a model of one's own need not tell subjects apart
        return np.hstack([encoded, known.columns(given)]) if isinstance(known, Subjects) else encoded

    def _complexity(self, question: Question) -> Complexity:
        if self._probe is None:  # refused when the router was made
            message = "an adjustment by complexity needs probe=…"
            raise InvalidValueError(message)
        return self._probe(question)

    def _choose(self, predicted: Floats) -> NDArray[np.intp]:
        if self.exchange is not None:
            affordable = np.where(self.costs <= (np.inf if self.budget is None else self.budget), predicted, -np.inf)
            return best_trade(affordable, self.costs, self.exchange)
        if self.target is not None:
            return cheapest_reaching(predicted, self.costs, self.target, budget=self.budget)
        return best_within(predicted, self.costs, budget=self.budget)

    def _route(self, predicted: Floats, place: int) -> Route:
        scores = {agent: float(value) for agent, value in zip(self.agents, predicted, strict=True)}
        return Route(self.agents[place], scores[self.agents[place]], scores, self._reason(predicted, place))

    def _reason(self, predicted: Floats, place: int) -> str:
        name, value, cost = self.agents[place], predicted[place], self.costs[place]
        within = "" if self.budget is None else f" of those that cost at most {self.budget:g}"
        if self.exchange is not None:
            return f"{name} is worth its cost{within}: {value:.2f} less {self.exchange:g} times {cost:g}."
        if self.target is None:
            return f"{name} is the likeliest to succeed{within}, with {value:.2f}."
        if round(float(value), 12) >= round(self.target, 12):
            return (
                f"{name} is the cheapest{within} that is likely enough to succeed: {value:.2f}, where {self.target:g} is asked."
            )
        return f"No agent{within} reaches {self.target:g}; {name} comes nearest, with {value:.2f}."

    def _refuse_wishes(self) -> None:
        refuse_outside(0, 1, **without_none(target=self.target))
        refuse_negative(**without_none(budget=self.budget, exchange=self.exchange))
        if self.target is not None and self.exchange is not None:
            message = "give a target or an exchange, not both"
        elif not self.priced and (self.target, self.budget, self.exchange) != (None, None, None):
            message = "a target, a budget or an exchange needs costs: the cost of one question, by agent"
        elif self.budget is not None and not (self.costs <= self.budget).any():
            cheapest = int(self.costs.argmin())
            message = (
                f"no agent costs at most {self.budget:g}; the cheapest is {self.agents[cheapest]} with {self.costs[cheapest]:g}"
            )
        elif self._adjustment is not None and self._probe is None:
            message = "an adjustment by complexity needs probe=…, such as ComplexityRouter(…).complexity, or leave it out"
        else:
            return
        raise InvalidValueError(message)


def _refuse_agents(agents: Sequence[str], known: Sequence[str]) -> None:
    if not agents:
        message = "a router needs at least one agent to choose"
        raise InvalidValueError(message)
    if twice := [agent for agent, times in Counter(agents).items() if times > 1]:
        message = f"the agent {twice[0]!r} is given twice; name each once"
        raise InvalidValueError(message)
    for agent in agents:
        if agent not in known:
            message = f"the skill model knows no agent {agent!r}.{nearest(agent, known)} It knows: {', '.join(known)}."
            raise InvalidValueError(message)


def _concerning(costs: Mapping[str, float], agents: Sequence[str], caimira: SkillModel) -> dict[str, float]:
    """Leave out the costs of agents that the model knows and nobody may choose."""
    return {name: cost for name, cost in costs.items() if name in agents or name not in caimira.agents}
