"""Routing by what agents were seen to be able to do."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from rag_cover.complexity import Complexity
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Question
from rag_cover.routing import Adjustment, SkillRouter

COSTS = {"small": 1.0, "middle": 2.0, "large": 5.0}
EASY, HARD = "easy?", "hard?"


@dataclass(frozen=True)
class Lengths:
    """Embeds a text as easy or hard."""

    fingerprint: str = "lengths"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[1.0, 0.0] if "easy" in text else [0.0, 1.0] for text in texts], dtype=np.float32)


@dataclass(frozen=True)
class Model:
    """Knows three agents: .8, .8 and .9 likely to answer what is easy, .2, .5 and .9 what is hard."""

    agents: tuple[str, ...] = ("small", "middle", "large")

    def predict(self, embeddings: ArrayLike, agents: Sequence[str] | None = None) -> NDArray[np.float64]:
        easy = np.asarray(embeddings)[:, :1] > 0.5
        table = np.where(easy, [[0.8, 0.8, 0.9]], [[0.2, 0.5, 0.9]])
        return table[:, [self.agents.index(agent) for agent in agents or self.agents]]

    def relevance(self, embeddings: ArrayLike) -> NDArray[np.float64]:
        return np.tile([0.25, 0.75], (len(np.asarray(embeddings)), 1))

    def difficulty(self, embeddings: ArrayLike) -> NDArray[np.float64]:
        return np.tile([1.0, -0.5], (len(np.asarray(embeddings)), 1))


def router(costs: dict[str, float] | None = COSTS, **options: Any) -> SkillRouter:
    return SkillRouter(Model(), costs, embedder=Lengths(), **options)


def names(asked: SkillRouter) -> list[str]:
    return [route.name for route in asked.routes([EASY, HARD])]


def test_the_cheapest_that_is_likely_enough_is_taken() -> None:
    route = router(target=0.7).route(EASY)

    assert route.name == "small"
    assert route.probability == 0.8
    assert dict(route.scores) == {"small": 0.8, "middle": 0.8, "large": 0.9}
    assert route.reason == "small is the cheapest that is likely enough to succeed: 0.80, where 0.7 is asked."


def test_where_none_is_likely_enough_the_likeliest_is_taken_and_it_is_said() -> None:
    route = router(target=0.95).route(HARD)

    assert route.name == "large"
    assert route.reason == "No agent reaches 0.95; large comes nearest, with 0.90."


def test_the_best_within_a_budget_is_taken() -> None:
    assert names(router(budget=2.0)) == ["small", "middle"]
    assert "of those that cost at most 2, with 0.50" in router(budget=2.0).route(HARD).reason


def test_a_target_is_looked_for_within_the_budget() -> None:
    assert names(router(target=0.7, budget=2.0)) == ["small", "middle"]


def test_a_rate_of_exchange_weighs_success_against_cost() -> None:
    assert names(router(exchange=0.05)) == ["small", "large"]
    assert names(router(exchange=0.2)) == ["small", "middle"]
    assert router(exchange=0.05, budget=2.0).route(HARD).name == "middle"


def test_without_wishes_or_costs_the_likeliest_is_taken() -> None:
    assert names(router()) == ["large", "large"]
    assert names(router(None)) == ["large", "large"]


def test_some_agents_alone_may_be_chosen() -> None:
    assert names(router(agents=["middle", "small"])) == ["small", "middle"]


def test_no_questions_have_no_routes() -> None:
    assert router().routes([]) == []


def test_one_text_is_no_list_of_questions_and_a_list_no_costs() -> None:
    with pytest.raises(InvalidValueError, match="questions is one text; give a list of them"):
        router().routes(EASY)
    with pytest.raises(InvalidValueError, match="costs is 'list'; give a mapping of each agent"):
        router([1.0, 4.0])  # type: ignore[arg-type]  # that is the test


def test_questions_and_texts_are_routed_alike_by_many_threads() -> None:
    asked = router(target=0.7)
    questions: list[Question | str] = [Question(EASY), HARD] * 30

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(asked.route, questions)) == asked.routes(questions)


def test_an_explanation_names_every_agent_and_what_the_question_is_about() -> None:
    lines = router(target=0.7).explain(HARD).splitlines()

    assert lines[1] == "Route: large"
    assert [line.split() for line in lines if line.startswith("  ") and "dimension" not in line] == [
        ["large", "0.90", "5"],
        ["middle", "0.50", "2"],
        ["small", "0.20", "1"],
    ]
    assert "  dimension 2: 75% (-0.50)" in lines


def complexity(best: float) -> Complexity:
    return Complexity(best, best > 0.15, 0.9, True, best <= 0.15, 0.15, 0.8)  # noqa: FBT003


def adjustment() -> Adjustment:
    """Take away from the small agent where no passage answers."""
    weights = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    return Adjustment(("small", "middle", "large"), 0.0, np.zeros(3), weights, np.zeros(2), np.ones(2))


def test_what_retrieval_brings_back_adjusts_predictions() -> None:
    asked = router(target=0.7, adjustment=adjustment(), probe=lambda question: complexity(0.02 if question else 0.0))

    assert asked.route(EASY).name == "middle"
    assert asked.route(EASY).scores["small"] < 0.1
    assert asked.route(EASY).scores["large"] == pytest.approx(0.9)
    assert asked.explain(EASY).endswith("adjusted by what retrieval brought back.")


def test_complexities_that_are_known_are_not_asked_for() -> None:
    def refuse(_: object) -> Complexity:
        raise AssertionError

    asked = router(target=0.7, adjustment=adjustment(), probe=refuse)

    assert [route.name for route in asked.routes([EASY], [complexity(0.9)])] == ["small"]


def test_a_frontier_is_traced_over_new_questions() -> None:
    frontier = router().frontier([EASY, HARD] * 20, [[1, 1, 1], [0, 0, 1]] * 20)

    assert frontier.oracle.quality.estimate == 1.0
    assert frontier.oracle.cost.estimate == 3.0
    assert frontier.gain.estimate > 0


@pytest.mark.parametrize(
    ("costs", "options", "words"),
    [
        ({"small": 1.0, "middle": 2.0}, {}, "no cost is given of 'large'"),
        (COSTS | {"larg": 1.0}, {}, "'larg', which is no agent. Did you mean 'large'"),
        (COSTS | {"small": float("nan")}, {}, "finite"),
        (COSTS, {"agents": ["smal"]}, "knows no agent 'smal'. Did you mean 'small'"),
        (COSTS, {"agents": []}, "at least one agent"),
        (COSTS, {"target": 1.5}, "a number from 0 to 1"),
        (COSTS, {"target": 0.5, "exchange": 0.1}, "not both"),
        (COSTS, {"budget": 0.5}, "the cheapest is small with 1"),
        (None, {"target": 0.5}, "needs costs"),
        (COSTS, {"adjustment": adjustment()}, "needs probe="),
    ],
)
def test_wishes_that_no_router_can_meet_are_refused(
    costs: dict[str, float] | None, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidValueError) as refused:
        router(costs, **options)

    assert words in str(refused.value)
