"""Auto spends where it pays: nothing where all is covered, and else on what is uncovered, until that brings nothing."""

from __future__ import annotations

import pytest

from rag_cover.augmentation import Augmenter, augment
from rag_cover.augmentation.adaptive import confident_threshold
from rag_cover.augmentation.result import Augmentation
from rag_cover.backends import Failure
from rag_cover.questions import Passage
from rag_cover.testing import KeywordScorer, ScriptedReceiver, ScriptedRetriever, ScriptedScorer

QUESTION = "Why is the sky blue and grass green?"
SKY, GRASS, SEA = "Why is the sky blue?", "Why is grass green?", "Why is the sea salty?"
AIR, LEAF, SALT = Passage("Air scatters light.", id="a"), Passage("Chlorophyll.", id="l"), Passage("Rivers bring salt.", id="s")
CLOUD, COPY = Passage("Clouds are white today.", id="c"), Passage("clouds are WHITE today", id="d")
COVERS = {(SKY, AIR.text): 0.9, (GRASS, LEAF.text): 0.9, (SEA, SALT.text): 0.9}


def auto(
    retriever: ScriptedRetriever,
    *sub_questions: str,
    scorer: ScriptedScorer | None = None,
    k: int = 10,
    rounds: int = 4,
    max_calls: int | None = None,
) -> Augmentation:
    return augment(
        QUESTION,
        retriever,
        mode="auto",
        scorer=scorer or ScriptedScorer(COVERS),
        sub_questions=sub_questions,
        k=k,
        rounds=rounds,
        max_calls=max_calls,
        workers=1,
    )


def test_where_all_is_covered_nothing_changes() -> None:
    plain = [CLOUD, AIR, COPY, LEAF, SALT]
    retriever = ScriptedRetriever({QUESTION: plain})

    found = auto(retriever, SKY, GRASS, k=4)

    assert retriever.queries == [QUESTION]
    assert list(found.passages) == plain[:4]
    assert (found.calls, found.rounds, found.bought) == (1, 0, ())
    assert found.uncovered == ()


def test_only_what_is_uncovered_is_searched_for() -> None:
    retriever = ScriptedRetriever({QUESTION: [AIR, CLOUD], GRASS: [LEAF]})

    found = auto(retriever, SKY, GRASS)

    assert retriever.queries == [QUESTION, GRASS]
    assert [(each.covered_at_first, each.covered) for each in found.sub_questions] == [(True, True), (False, True)]
    assert found.passages == (AIR, LEAF, CLOUD)


def test_it_tells_what_each_search_bought() -> None:
    retriever = ScriptedRetriever({QUESTION: [CLOUD], SKY: [AIR, LEAF], GRASS: [LEAF], SEA: []})

    found = auto(retriever, SKY, GRASS, SEA)

    assert [(each.query, each.covered) for each in found.bought] == [(SKY, (SKY, GRASS)), (GRASS, ()), (SEA, ())]
    assert found.uncovered == (SEA,)


def test_a_sub_question_that_is_covered_but_not_surely_is_searched_for() -> None:
    scorer = ScriptedScorer({(SKY, CLOUD.text): 0.84, (SKY, AIR.text): 0.85})
    retriever, sure_enough = ScriptedRetriever({QUESTION: [CLOUD]}), ScriptedRetriever({QUESTION: [AIR]})

    unsure, sure = auto(retriever, SKY, scorer=scorer), auto(sure_enough, SKY, scorer=scorer)

    assert (unsure.calls, sure.calls) == (2, 1)
    assert unsure.uncovered == sure.uncovered == ()


def test_sure_can_be_the_threshold_itself() -> None:
    scorer = ScriptedScorer({(SKY, CLOUD.text): 0.5})
    augmenter = Augmenter(retriever=ScriptedRetriever({QUESTION: [CLOUD]}), mode="auto", scorer=scorer, sure=0.5)

    assert augmenter.augment(QUESTION, sub_questions=[SKY]).calls == 1


def test_a_judge_is_sure_seven_tenths_of_the_way_to_1() -> None:
    assert confident_threshold(0.0) == 0.7
    assert confident_threshold(0.5) == pytest.approx(0.85)
    assert confident_threshold(1.0) == 1.0


def test_a_chain_goes_on_from_what_is_covered_at_no_cost() -> None:
    who, born, filled = "Who directed Jaws?", "When was #1 born?", "When was Steven Spielberg born?"
    film, life = Passage("Jaws was directed by Steven Spielberg."), Passage("Steven Spielberg was born in 1946.")
    retriever = ScriptedRetriever({QUESTION: [film], filled: [life]})
    receiver = ScriptedReceiver({"directed by": ("Steven Spielberg",)})
    augmenter = Augmenter(retriever=retriever, mode="auto", scorer=KeywordScorer(), sure=0.9, receiver=receiver)

    found = augmenter.augment(QUESTION, sub_questions=[who, born])

    assert retriever.queries == [QUESTION, filled]
    assert [each.answer for each in found.sub_questions] == ["Steven Spielberg", None]
    assert found.uncovered == ()


def test_what_an_answer_makes_clear_and_is_covered_already_costs_nothing() -> None:
    who, born = "Who directed Jaws?", "When was #1 born?"
    film, life = Passage("Spielberg made it."), Passage("Steven Spielberg was born in 1946.")
    retriever = ScriptedRetriever({QUESTION: [CLOUD], who: [film, life]})
    receiver = ScriptedReceiver({"made it": ("Steven Spielberg",)})
    scorer = ScriptedScorer({("When was Steven Spielberg born?", life.text): 0.9})

    found = augment(QUESTION, retriever, mode="auto", scorer=scorer, sub_questions=[who, born], receiver=receiver)

    assert retriever.queries == [QUESTION, who]
    assert found.uncovered == (who,)


def test_an_answer_is_read_from_the_passages_that_cover_its_sub_question_best() -> None:
    who, born = "Who directed Jaws?", "When was #1 born?"
    decoy, film = Passage("Lucas did not."), Passage("Spielberg made it.")
    rest = [Passage(f"Passage {number}.") for number in range(4)]
    scorer = ScriptedScorer({(who, film.text): 0.9, (who, decoy.text): 0.0, (who, CLOUD.text): 0.0}, default=0.1)
    receiver = ScriptedReceiver({"Lucas": ("George Lucas",), "made it": ("Steven Spielberg",)})
    retriever = ScriptedRetriever({QUESTION: [CLOUD], who: [decoy, *rest, film]})

    found = augment(QUESTION, retriever, mode="auto", scorer=scorer, sub_questions=[who, born], receiver=receiver)

    assert found.sub_questions[0].answer == "Steven Spielberg"


def test_without_a_reader_all_is_searched_for_in_one_round() -> None:
    retriever = ScriptedRetriever(default=[CLOUD])

    found = auto(retriever, SKY, "What follows from #1?", rounds=1)

    assert retriever.queries == [QUESTION, SKY, "What follows from?"]
    assert found.rounds == 1


def test_rounds_bound_how_often_it_goes_on() -> None:
    texts = ["Who made a?", "Who made #1?", "Who made #2?", "Who made #3?"]
    receiver = ScriptedReceiver(prior=("Ada",))
    script = {"Who made a?": ["One thing."], "Who made Ada?": ["Another thing."]}

    def calls(rounds: int) -> int:
        retriever = ScriptedRetriever(script, default=["Nothing of the kind."])
        found = augment(
            QUESTION, retriever, mode="auto", scorer=ScriptedScorer(), sub_questions=texts, receiver=receiver, rounds=rounds
        )
        assert found.rounds <= rounds
        return found.calls

    assert [calls(rounds) for rounds in (1, 2, 4)] == [2, 3, 3]


def test_it_stops_when_a_round_covers_nothing_and_clears_nothing() -> None:
    retriever = ScriptedRetriever(default=[CLOUD])

    found = auto(retriever, SKY, GRASS, rounds=9)

    assert retriever.queries == [QUESTION, SKY, GRASS]
    assert found.rounds == 1
    assert found.uncovered == (SKY, GRASS)


def test_the_budget_bounds_all_searches_and_what_it_left_out_is_told() -> None:
    retriever = ScriptedRetriever(default=[CLOUD])

    found = auto(retriever, SKY, GRASS, SEA, max_calls=2)

    assert retriever.queries == [QUESTION, SKY]
    assert found.notes == ("2 sub-questions were not searched for: no more than 2 searches were allowed",)


def test_a_round_without_a_search_is_no_round() -> None:
    found = auto(ScriptedRetriever(default=[CLOUD]), SKY, max_calls=1)

    assert (found.calls, found.rounds) == (1, 0)


def test_a_pair_is_judged_once_over_all_rounds() -> None:
    scorer = ScriptedScorer(COVERS)

    auto(ScriptedRetriever({QUESTION: [CLOUD], SKY: [AIR], GRASS: [LEAF]}), SKY, GRASS, scorer=scorer)

    assert scorer.asked.calls == 2
    assert scorer.asked.items == 2 * 3


def test_where_the_question_s_own_search_fails_its_sub_questions_are_searched_for() -> None:
    found = auto(ScriptedRetriever({QUESTION: TimeoutError("60 s"), SKY: [AIR]}), SKY, GRASS)

    assert found.passages == (AIR,)
    assert [each.covered_at_first for each in found.sub_questions] == [None, None]
    assert found.failures == (Failure("retrieval", f"the search for {QUESTION!r} failed: TimeoutError: 60 s"),)


def test_what_asks_nothing_costs_nothing_and_is_told() -> None:
    retriever = ScriptedRetriever({QUESTION: [AIR]})

    found = auto(retriever, SKY, "#1?", "?")

    assert retriever.queries == [QUESTION]
    assert [(each.covered_at_first, each.covered, each.probability) for each in found.sub_questions[1:]] == [(None,) * 3] * 2
    assert found.notes == ("nothing is left to ask of core sub-question 2, 3 without the answers that it builds on",)


def test_without_core_sub_questions_the_question_is_searched_for_and_no_more() -> None:
    found = auto(ScriptedRetriever({QUESTION: [CLOUD]}))

    assert (found.calls, found.passages) == (1, (CLOUD,))
