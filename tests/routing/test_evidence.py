"""The rule that routes by a question's steps and by what a judge finds answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover import Passage, build_retriever, open_scorer
from rag_cover.complexity import Complexity
from rag_cover.complexity.result import DocumentEvidence
from rag_cover.errors import InvalidValueError
from rag_cover.routing import ComplexityRouter
from rag_cover.routing.evidence import EvidenceRule, QuestionSteps, read_steps
from rag_cover.testing import KeywordScorer

RULE = EvidenceRule(single=(0.0, 1.0, *[0.0] * 8), nested=(0.0, 0.0, 1.0), name="made", n=1)
ONE = QuestionSteps(("Why?",))
shares = st.floats(0, 1)


def complexity(*answered: float) -> Complexity:
    documents = tuple(DocumentEvidence(f"p{place}", each, (0.5, 1.0)) for place, each in enumerate(answered))
    return Complexity(
        max(answered, default=None),
        answerable=False,
        completeness=0.75,
        complete=True,
        is_complex=True,
        t_ans=0.5,
        t_com=0.5,
        documents=documents,
    )


@pytest.mark.parametrize(("best", "demand"), [(0.7, "direct"), (0.3, "unanswerable")])
def test_one_step_is_direct_where_it_is_answered(best: float, demand: str) -> None:
    assert RULE.decide(complexity(0.1, best), ONE)[0] == demand


@pytest.mark.parametrize(("least", "demand"), [(0.7, "complex"), (0.3, "unanswerable")])
def test_several_steps_are_complex_where_those_that_stand_alone_are_answered(least: float, demand: str) -> None:
    steps = QuestionSteps(("Who directed it?", "Who wrote it?", "Where was #1 born?"), (0.9, least))

    assert RULE.decide(complexity(0.01), steps)[0] == demand


def test_nothing_retrieved_is_unanswerable() -> None:
    assert RULE.decide(complexity(), ONE) == ("unanswerable", "Nothing was retrieved for it.")


@given(st.lists(shares, min_size=1, max_size=12), st.lists(shares, max_size=3))
def test_a_probability_is_one_and_the_order_of_passages_does_not_matter(answered: list[float], steps: list[float]) -> None:
    rule = replace(RULE, single=(0.3, 1.0, -0.5, 0.2, 0.1, 1.0, -1.0, 0.5, 0.2, -0.4))
    texts = QuestionSteps(tuple(map(str, range(len(steps)))), tuple(steps))

    found = rule.probability(complexity(*answered), texts)

    assert 0 <= found <= 1
    assert rule.probability(complexity(*sorted(answered)), texts) == pytest.approx(found)


def test_only_a_question_of_several_steps_is_split() -> None:
    passages = [Passage("Titanic was directed by James Cameron.")]

    assert not read_steps("Who directed Titanic?", passages, KeywordScorer()).is_nested
    steps = read_steps("Where was the director of Titanic born?", passages, KeywordScorer())
    assert len(steps.texts) == 2
    assert len(steps.answered) == 1


def test_what_a_question_asks_in_so_many_words_are_its_steps() -> None:
    passages = [Passage("A day pass costs 14 euros."), Passage("The shop opens at eight.")]

    steps = read_steps("What does a day pass cost, and when does the shop open?", passages, KeywordScorer())

    assert steps.texts == ("What does a day pass cost?", "When does the shop open?")
    assert len(steps.answered) == 2


PASSAGES = [
    Passage("Penicillin was discovered by Alexander Fleming in 1928.", title="Penicillin"),
    Passage("Titanic is a film of 1997 that was directed by James Cameron.", title="Titanic"),
    Passage("James Cameron was born in Kapuskasing, a town in Ontario.", title="James Cameron"),
]


def make(**options: Any) -> ComplexityRouter:
    pytest.importorskip("rag_cover_embedded.judge")
    return ComplexityRouter(retriever=build_retriever("embedded", PASSAGES), scorer=open_scorer("embedded"), k=3, **options)


@pytest.mark.parametrize(
    ("question", "route"),
    [
        ("Who discovered penicillin?", "direct"),
        ("Where was the director of Titanic born?", "decompose"),
        ("Where was the director of Casablanca born?", "abstain"),
        ("How many moons does Jupiter have?", "abstain"),
    ],
)
def test_the_embedded_judge_routes_by_steps(question: str, route: str) -> None:
    router = make()

    found = router.route(question)

    assert found.name == route
    assert {"steps", "answered"} <= found.scores.keys()
    assert f"Route: {route}" in (told := router.explain(question))
    assert "P(answered)" in told


@pytest.mark.parametrize("options", [{"rule": "thresholds"}, {"cut": 0.5}, {"t_ans": 0.5}])
def test_thresholds_decide_where_they_are_asked_for(options: dict[str, Any]) -> None:
    assert "answered" not in make(**options).route("Who discovered penicillin?").scores


@pytest.mark.parametrize("options", [{"rule": "words"}, {"rule": "steps", "cut": 0.5}])
def test_a_rule_that_is_none_or_beside_a_cut_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="rule"):
        make(**options)


def test_no_rule_by_steps_for_a_judge_that_none_was_fitted_for() -> None:
    retriever = build_retriever("embedded", PASSAGES)
    with pytest.raises(InvalidValueError, match="none was fitted for"):
        ComplexityRouter(retriever=retriever, scorer=KeywordScorer(), rule="steps")
