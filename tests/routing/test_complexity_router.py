"""Routing by what retrieval brings back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem, TokenRelevance
from rag_cover.complexity import Complexity
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage, Question
from rag_cover.routing.complexity_router import ComplexityRouter, RoutedOutcome
from rag_cover.routing.decision import Demand, complexity_score, demand_of

NAMES: Mapping[Demand, str] = {"direct": "one shot", "complex": "sub-questions", "unanswerable": "web"}
ANSWER = Passage("The tower is tall because of steel.", id="a", title="Towers")
PARTS = (Passage("The tower is old.", id="b"), Passage("Steel is tall.", id="c"))
OTHER = Passage("Bread is baked.", id="d")


@dataclass(frozen=True)
class Shelf:
    """Retrieves what stands on it for a question."""

    passages: dict[str, tuple[Passage, ...]]

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        return self.passages.get(query, ())[:k]


@dataclass(frozen=True)
class Reader:
    """Answers from a passage that says "because"; tells even relevance of towers and steel, else that of one word."""

    threshold: float = 0.5
    fingerprint: str = "reader"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("earthquake" in item.text for item in items):
            message = "the judge fell over"
            raise ModelFailedError(message)
        if any(item.references for item in items):
            return np.ones(len(items), dtype=np.float32)
        return np.array([0.9 if "because" in item.text else 0.05 for item in items], dtype=np.float32)

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        tokens = tuple(question.split())
        rows = [np.ones(len(tokens)) if "ower" in text or "teel" in text else np.eye(len(tokens))[0] for text in texts]
        return TokenRelevance(tokens, np.array(rows))


SHELF = Shelf({"Why is it tall?": (OTHER, ANSWER), "Which steel tower?": PARTS, "Who baked?": (OTHER, OTHER)})


@pytest.fixture
def router() -> ComplexityRouter:
    return ComplexityRouter(NAMES, retriever=SHELF, scorer=Reader())


def complexity(best: float | None, completeness: float | None = 0.9, probability: float | None = None) -> Complexity:
    answerable, complete = (best or 0) >= 0.15, None if completeness is None else completeness >= 0.8
    return Complexity(
        best, answerable, completeness, complete, not answerable and complete is not False, 0.15, 0.8, probability=probability
    )


def test_a_question_that_one_passage_answers_goes_the_direct_way(router: ComplexityRouter) -> None:
    route = router.route("Why is it tall?")

    assert route.name == "one shot"
    assert route.reason == "The best passage answers it with a probability of 0.90, where 0.15 suffices."
    assert route.scores["max_answer_probability"] == pytest.approx(0.9)


def test_a_question_that_passages_answer_only_together_is_taken_apart(router: ComplexityRouter) -> None:
    route = router.route("Which steel tower?")

    assert route.name == "sub-questions"
    assert "No single passage answers it" in route.reason
    assert route.reason.endswith("but together they are about all of it (completeness 1.00, where 0.80 is asked).")


def test_a_question_that_the_passages_are_not_about_is_given_up(router: ComplexityRouter) -> None:
    route = router.route("Who baked?")

    assert route.name == "web"
    assert route.reason.endswith("nor are the passages about all of it (completeness 0.00, where 0.80 is asked).")


def test_a_question_for_which_nothing_is_retrieved_is_given_up(router: ComplexityRouter) -> None:
    route = router.route("What is rain?")

    assert (route.name, route.reason) == ("web", "Nothing was retrieved for it.")


def test_without_a_route_for_the_unanswerable_they_are_taken_apart() -> None:
    router = ComplexityRouter({"direct": "one", "complex": "many"}, retriever=SHELF, scorer=Reader())

    assert [route.name for route in router.routes(["Who baked?", "What is rain?"])] == ["many", "many"]


def test_the_gold_answers_of_a_question_are_not_looked_at(router: ComplexityRouter) -> None:
    asked = Question("Which steel tower?", references="Eiffel's")

    assert router.route(asked) == router.route("Which steel tower?")


def test_many_threads_may_ask_one_router(router: ComplexityRouter) -> None:
    questions = [*SHELF.passages] * 20

    with ThreadPoolExecutor(8) as pool:
        routes = list(pool.map(router.route, questions))

    assert routes == router.routes(questions)


def test_an_explanation_names_route_numbers_and_passages(router: ComplexityRouter) -> None:
    lines = router.explain("Why is it tall?").splitlines()

    assert lines[1] == "Route: one shot"
    assert "  best answer probability: 0.90 (answerable from 0.15)" in lines
    assert "  0.90  Towers: The tower is tall because of steel." in lines
    assert lines.index("  0.90  Towers: The tower is tall because of steel.") < lines.index("  0.05  Bread is baked.")


def test_an_explanation_of_nothing_retrieved_says_so(router: ComplexityRouter) -> None:
    shown = router.explain("What is rain?")

    assert "Route: web" in shown
    assert "Note: nothing was retrieved." in shown


def test_a_passage_that_the_scorer_fails_on_does_not_count() -> None:
    shelf = Shelf({"Why?": (Passage("an earthquake"), ANSWER)})

    assert ComplexityRouter(NAMES, retriever=shelf, scorer=Reader()).route("Why?").name == "one shot"


def test_a_scorer_that_fails_on_all_passages_is_an_error() -> None:
    shelf = Shelf({"Why?": (Passage("an earthquake"),)})

    with pytest.raises(ModelFailedError, match="fell over"):
        ComplexityRouter(NAMES, retriever=shelf, scorer=Reader()).route("Why?")


def test_a_cut_takes_the_place_of_the_thresholds() -> None:
    likely = complexity(0.9, probability=0.3)

    assert demand_of(likely)[0] == "direct"
    assert demand_of(likely, cut=0.2) == ("complex", "P(complex) = 0.30 reaches the cut of 0.20.")
    assert demand_of(likely, cut=0.4) == ("direct", "P(complex) = 0.30 is below the cut of 0.40.")


def test_what_is_unanswerable_stays_so_whatever_the_cut() -> None:
    assert demand_of(complexity(0.05, 0.1, probability=0.1), cut=0.4)[0] == "unanswerable"


def test_completeness_may_decide_alone() -> None:
    alone = replace(complexity(0.9, 0.9), constraints="completeness", is_complex=True)

    assert demand_of(alone) == ("complex", "Decided by completeness alone: 0.90, where 0.80 is asked.")


def test_answerability_alone_cannot_tell_the_unanswerable() -> None:
    alone = replace(complexity(0.05, 0.1), constraints="answerability", is_complex=True)

    assert demand_of(alone)[0] == "complex"
    assert demand_of(complexity(0.05, None))[0] == "complex"


def test_without_a_fitted_probability_the_answer_probability_is_cut() -> None:
    assert complexity_score(complexity(0.25)) == 0.75
    assert complexity_score(complexity(None)) == 1.0
    assert demand_of(complexity(0.25), cut=0.7)[1].startswith("1 - P(a passage answers) = 0.75 reaches")


def labelled(n: int = 40) -> list[RoutedOutcome]:
    """Make questions of which the direct route answers those with P(complex) below a half."""
    return [
        RoutedOutcome(
            f"Question {number}?",
            {"one shot": float(number < n / 2), "sub-questions": 1.0, "web": 0.0},
            {"one shot": 1.0, "sub-questions": 5.0, "web": 9.0},
            complexity(0.1, probability=(number + 0.5) / n),
        )
        for number in range(n)
    ]


def test_a_threshold_reaches_a_quality_at_the_least_cost(router: ComplexityRouter) -> None:
    fit = router.fit_threshold(labelled(), target_quality=1.0)

    fitted = router.with_cut(fit.cut)
    assert fit.fitted.cost.estimate == 3.0
    assert [fitted.route_of(each.complexity).name for each in labelled() if each.complexity].count("one shot") == 20


def test_a_target_that_no_cut_reaches_is_an_error_with_the_best(router: ComplexityRouter) -> None:
    with pytest.raises(InvalidValueError, match="the best is 1, at a cost of 3"):
        router.fit_threshold(labelled(), target_quality=1.5)


def test_the_unanswerable_count_with_the_outcome_of_their_own_route(router: ComplexityRouter) -> None:
    given_up = [replace(each, complexity=complexity(0.05, 0.1, probability=0.9)) for each in labelled()]

    fit = router.fit_threshold(given_up, target_cost=9.0)

    assert fit.fitted.quality.estimate == 0.0
    assert fit.fitted.cost.estimate == 9.0


def test_a_question_without_its_complexity_is_asked(router: ComplexityRouter) -> None:
    asked = [replace(each, question="Why is it tall?", group=str(n), complexity=None) for n, each in enumerate(labelled())]

    assert router.fit_threshold(asked, target_cost=5.0).questions == 40


def test_an_outcome_without_a_route_is_refused(router: ComplexityRouter) -> None:
    broken = [replace(labelled()[0], cost={"one shot": 1.0}), *labelled()[1:]]

    with pytest.raises(InvalidValueError, match="'Question 0\\?' has no quality and cost of the route 'sub-questions'"):
        router.fit_threshold(broken, target_quality=0.5)


@pytest.mark.parametrize(
    ("routes", "words"),
    [
        ({"direct": "a"}, "name a route for 'complex'"),
        ({"direct": "a", "complx": "b"}, "Did you mean 'complex'"),
        ({"direct": "a", "decompose": "b"}, "'decompose' is no kind. Did you mean 'complex'"),
    ],
)
def test_routes_have_known_names_and_the_two_that_are_needed(routes: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidValueError, match=words):
        ComplexityRouter(routes, retriever=SHELF, scorer=Reader())  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"k": 0}, {"cut": -0.1}, {"cut": float("nan")}])
def test_what_no_router_can_do_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError):
        ComplexityRouter(NAMES, retriever=SHELF, scorer=Reader(), **options)  # type: ignore[arg-type]
