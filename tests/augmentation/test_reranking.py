"""Passages come in the order in which they add to what is covered, and where nothing is added in the retriever's."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.augmentation.greedy import coverage_probabilities, greedy_marginal_coverage, reciprocal_ranks
from rag_cover.augmentation.reranking import rerank
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage, Role, SubQuestion
from rag_cover.registry import open_receiver, open_scorer
from rag_cover.testing import KeywordScorer, ScriptedReceiver, ScriptedScorer

DIRECTOR, BORN = "Who is the director of film Jaws?", "When was Steven Spielberg born?"
JAWS = Passage("Jaws is a 1975 film directed by Steven Spielberg.", id="jaws")
SPIELBERG = Passage("Steven Spielberg was born on 18 December 1946.", id="spielberg")
SHARK = Passage("Sharks are fish; one of them is the star of Jaws.", id="shark")
BOAT = Passage("The boat in Jaws is called Orca.", id="boat")
FOUND = (BOAT, SHARK, JAWS, SPIELBERG)
SURE = ScriptedScorer({(DIRECTOR, JAWS.text): 0.75, (BORN, SPIELBERG.text): 0.5, (DIRECTOR, SHARK.text): 0.25})


@st.composite
def instances(draw: st.DrawFn) -> tuple[NDArray[np.float64], list[float]]:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 6))
    values = draw(st.lists(st.floats(0, 1), min_size=rows * columns, max_size=rows * columns))
    prior = draw(st.lists(st.floats(0, 0.5), min_size=columns, max_size=columns))
    return np.array(values, dtype=np.float64).reshape(rows, columns), prior


def value(probabilities: NDArray[np.float64], prior: list[float], places: tuple[int, ...]) -> float:
    return float(coverage_probabilities(probabilities, places).sum()) + sum(prior[place] for place in places)


class TestGreedyOrder:
    def test_a_passage_gains_what_those_before_it_leave_open(self) -> None:
        probabilities = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.125]])

        taken = greedy_marginal_coverage(probabilities, [0.0, 0.0, 0.0])

        # 0.5 + 0.25; then (1 - 0.5) · 0.5 of the first sub-question; then (1 - 0.25) · 0.125 of the second
        assert [(pick.place, pick.gain) for pick in taken] == [(1, 0.75), (0, 0.25), (2, 0.09375)]

    def test_where_nothing_is_gained_the_prior_decides_and_of_equal_ones_the_earlier(self) -> None:
        taken = greedy_marginal_coverage(np.zeros((1, 4)), [0.0, 0.5, 0.25, 0.5])

        assert [pick.place for pick in taken] == [1, 3, 2, 0]
        assert [pick.gain for pick in taken] == [0.0] * 4

    def test_without_sub_questions_the_prior_orders_all(self) -> None:
        assert [pick.place for pick in greedy_marginal_coverage(np.zeros((0, 3)), reciprocal_ranks(3, weight=1.0))] == [0, 1, 2]

    @given(instances())
    def test_gains_add_up_to_the_expected_coverage_and_worths_never_rise(
        self, instance: tuple[NDArray[np.float64], list[float]]
    ) -> None:
        probabilities, prior = instance

        taken = greedy_marginal_coverage(probabilities, prior)

        assert sorted(pick.place for pick in taken) == list(range(len(prior)))
        assert sum(pick.gain for pick in taken) == pytest.approx(coverage_probabilities(probabilities, range(len(prior))).sum())
        assert all(after.worth <= before.worth + 1e-9 for before, after in itertools.pairwise(taken))

    @given(instances(), st.integers(1, 4))
    def test_the_first_k_are_worth_most_of_what_the_best_k_are(
        self, instance: tuple[NDArray[np.float64], list[float]], k: int
    ) -> None:
        probabilities, prior = instance
        sets = itertools.combinations(range(len(prior)), min(k, len(prior)))
        best = max(value(probabilities, prior, places) for places in sets)

        taken = greedy_marginal_coverage(probabilities, prior, k=k)

        assert value(probabilities, prior, tuple(pick.place for pick in taken)) >= (1 - 1 / math.e) * best - 1e-9

    @pytest.mark.parametrize(
        ("probabilities", "prior", "k", "problem"),
        [
            (np.zeros((1, 2)), [0.0, 0.0], 0, "k is 0"),
            (np.zeros((1, 2)), [0.0], None, "1 priors"),
            (np.array([[math.nan, 0.5]]), [0.0, 0.0], None, "outside"),
            (np.array([[1.5, 0.5]]), [0.0, 0.0], None, "outside"),
        ],
    )
    def test_what_is_no_probability_or_number_of_passages_is_refused(
        self, probabilities: NDArray[np.float64], prior: list[float], k: int | None, problem: str
    ) -> None:
        with pytest.raises(InvalidValueError, match=problem):
            greedy_marginal_coverage(probabilities, prior, k=k)


class TestReranking:
    def test_both_hops_of_a_question_come_first_though_the_retriever_had_them_last(self) -> None:
        receiver = ScriptedReceiver({"directed by": ("Steven Spielberg",)})

        found = rerank("When was the director of film Jaws born?", FOUND, SURE, k=2, receiver=receiver)

        assert found.passages == (JAWS, SPIELBERG)
        assert found.order == (2, 3)
        assert [each.covers for each in found.kept] == [(DIRECTOR,), (BORN,)]
        assert [each.gain for each in found.kept] == [0.75, 0.5]
        assert [each.worth for each in found.kept] == pytest.approx([0.75 + 0.1 / 3, 0.5 + 0.1 / 4])

    def test_what_was_read_and_what_is_covered_is_said(self) -> None:
        receiver = ScriptedReceiver({"directed by": ("Steven Spielberg",)})

        found = rerank("When was the director of film Jaws born?", FOUND, SURE, k=1, receiver=receiver)

        director, born = found.sub_questions
        assert (director.text, director.answer, director.covered, director.probability) == (
            DIRECTOR,
            "Steven Spielberg",
            True,
            0.75,
        )
        assert (born.text, born.given, born.covered) == (BORN, "When was #1 born?", False)
        assert director.covered_at_first is False
        assert found.uncovered == (BORN,)

    def test_the_second_passage_that_says_the_same_comes_after_what_is_new(self) -> None:
        again = Passage("Steven Spielberg made Jaws.", id="again")
        scorer = ScriptedScorer({("a?", JAWS.text): 0.9, ("a?", again.text): 0.8, ("b?", BOAT.text): 0.3})

        found = rerank("a and b?", [JAWS, again, BOAT], scorer, sub_questions=["a?", "b?"])

        assert found.passages == (JAWS, BOAT, again)

    def test_where_nothing_is_covered_the_retriever_s_order_stays(self) -> None:
        found = rerank("Why?", FOUND, ScriptedScorer(), sub_questions=["Why?"])

        assert found.order == (0, 1, 2, 3)
        assert [each.worth for each in found.kept] == pytest.approx([0.3, 0.15, 0.1, 0.075])

    def test_the_retriever_s_order_counts_less_beside_several_sub_questions(self) -> None:
        found = rerank("Why and when?", FOUND, ScriptedScorer(), sub_questions=["Why?", "When?"])

        assert [each.worth for each in found.kept] == pytest.approx([0.1, 0.05, 0.1 / 3, 0.025])

    def test_sub_questions_that_are_not_core_order_nothing(self) -> None:
        background = SubQuestion("b?", role=Role.BACKGROUND)
        scorer = ScriptedScorer({("b?", SPIELBERG.text): 1.0, ("Why?", JAWS.text): 0.5})

        found = rerank("Why?", FOUND, scorer, sub_questions=[background])

        assert found.order == (2, 0, 1, 3)
        assert [each.text for each in found.sub_questions] == ["Why?"]

    def test_a_passage_without_a_text_covers_nothing_and_is_not_judged(self) -> None:
        scorer = ScriptedScorer(default=0.5)

        found = rerank("Why?", [Passage("", id="empty"), JAWS], scorer, sub_questions=["Why?"])

        assert found.order == (1, 0)
        assert [each.gain for each in found.kept] == [0.5, 0.0]
        assert scorer.asked.items == 1

    def test_of_passages_with_one_key_the_first_is_kept(self) -> None:
        found = rerank("Why?", [BOAT, JAWS, BOAT, JAWS, SHARK], ScriptedScorer(), sub_questions=["Why?"])

        assert found.order == (0, 1, 4)

    def test_no_passages_give_no_order_and_cost_nothing(self) -> None:
        scorer = ScriptedScorer()

        found = rerank("Why?", [], scorer)

        assert (found.kept, found.sub_questions, scorer.asked.calls) == ((), (), 0)

    def test_sub_questions_that_build_on_nothing_are_judged_in_one_call(self) -> None:
        scorer = ScriptedScorer()

        rerank("a and b?", FOUND, scorer, sub_questions=["a?", "b?"])

        assert (scorer.asked.calls, scorer.asked.items) == (1, 8)

    def test_without_a_receiver_the_places_of_answers_stay_empty(self) -> None:
        scorer = ScriptedScorer({("When was born?", SPIELBERG.text): 0.5})

        found = rerank("When?", FOUND, scorer, sub_questions=["Who?", "When was #1 born?"])

        assert [each.text for each in found.sub_questions] == ["Who?", "When was born?"]
        assert found.order[0] == 3

    def test_a_receiver_that_fails_costs_its_answers_alone_and_is_named(self) -> None:
        class Failing:
            def sample(self, *_: object, **__: object) -> object:
                message = "the server is down"
                raise ModelFailedError(message)

        found = rerank("When was the director of film Jaws born?", FOUND, SURE, receiver=Failing())  # type: ignore[arg-type]

        assert found.order[0] == 2
        assert "the server is down" in found.failures[0].message

    def test_where_no_answer_can_be_read_for_want_of_texts_the_retriever_s_order_stays(self) -> None:
        empty = [Passage("", id="a"), Passage(" ", id="b")]

        found = rerank("When was the director of film Jaws born?", empty, SURE, receiver=ScriptedReceiver())

        assert found.order == (0, 1)
        assert [each.covered for each in found.sub_questions] == [False, False]

    def test_it_is_the_same_order_every_time_and_json(self) -> None:
        receiver = ScriptedReceiver({"directed by": ("Steven Spielberg", "unknown")})

        first, second = (rerank("When was the director of film Jaws born?", FOUND, SURE, receiver=receiver) for _ in "ab")

        assert first == second
        assert [each["place"] for each in json.loads(json.dumps(first.to_dict()))["kept"]] == list(first.order)

    @pytest.mark.parametrize(
        ("argument", "problem"),
        [({"k": 0}, "k is 0"), ({"samples": 0}, "samples is 0"), ({"retrieval_weight": -1.0}, "weight")],
    )
    def test_numbers_out_of_range_are_refused(self, argument: dict[str, int], problem: str) -> None:
        with pytest.raises(InvalidValueError, match=problem):
            rerank("Why?", FOUND, KeywordScorer(), **argument)  # type: ignore[arg-type]

    def test_the_embedded_judge_and_reader_put_the_second_hop_before_what_shares_words(self) -> None:
        hops = "When was the director of film Jaws born?"

        found = rerank(hops, FOUND, open_scorer("embedded"), k=2, receiver=open_receiver("embedded"))

        assert set(found.passages) == {JAWS, SPIELBERG}
        assert found.uncovered == ()
