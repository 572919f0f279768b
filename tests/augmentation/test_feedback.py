"""A question that was not taken apart is searched for again with the names that its first passages tell."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rag_cover.augmentation import AugmentationMode, augment
from rag_cover.augmentation.feedback import expand_query
from rag_cover.english.names import names_in
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.testing import ScriptedRetriever, ScriptedScorer

QUESTION = "Who shot the film?"
FILM = Passage("The film was shot by Ludvík Šváb in Prague.", title="The film")
SEA, LIFE = Passage("The sea is salty."), Passage("He was a psychiatrist.", title="Ludvík Šváb")
EXPANDED = f"{QUESTION} Ludvík Šváb Prague"


def make_queries(
    *sub_questions: str, mode: AugmentationMode = "retrieval", scorer: ScriptedScorer | None = None, **options: int
) -> list[str]:
    retriever = ScriptedRetriever({QUESTION: [FILM, SEA], EXPANDED: [LIFE]})
    augment(
        QUESTION,
        retriever,
        mode=mode,
        scorer=scorer or ScriptedScorer({}),
        sub_questions=sub_questions or None,
        workers=1,
        **options,  # type: ignore[arg-type]  # all of them numbers
    )
    return retriever.queries


class TestExpansion:
    def test_each_passage_expands_the_query_by_itself(self) -> None:
        queries = expand_query("Who shot it?", [FILM, Passage("It is by Jan Švankmajer.")])

        assert queries == ["Who shot it? Ludvík Šváb Prague", "Who shot it? Jan Švankmajer"]

    def test_names_that_the_query_has_expand_nothing(self) -> None:
        assert expand_query("Who shot the film in Prague with Ludvík Šváb?", [FILM, SEA]) == []

    def test_no_more_than_six_names_are_taken_of_a_passage(self) -> None:
        told = "They met Ann, Ben, Cid, Dan, Eve, Fay, and Gil."

        assert expand_query("Who?", [Passage(told)]) == ["Who? Ann Ben Cid Dan Eve Fay"]

    def test_names_keep_their_small_words_and_lose_their_full_stops(self) -> None:
        assert names_in("He ruled the Kingdom of the Two Sicilies. It fell to Garibaldi.") == [
            "Kingdom of the Two Sicilies",
            "Garibaldi",
        ]

    def test_scripts_without_capitals_have_no_names(self) -> None:
        assert names_in("这部电影由导演在布拉格拍摄。") == []


class TestSearching:
    def test_what_the_expanded_query_finds_is_kept_beside_what_the_question_found(self) -> None:
        retriever = ScriptedRetriever({QUESTION: [FILM, SEA], EXPANDED: [LIFE]})

        found = augment(QUESTION, retriever, scorer=ScriptedScorer({}), workers=1)

        assert retriever.queries == [QUESTION, EXPANDED]
        assert list(found.passages) == [FILM, LIFE, SEA]
        assert [each.query for each in found.bought] == [EXPANDED]

    def test_without_feedback_the_question_alone_is_searched_for(self) -> None:
        assert make_queries(feedback=0) == [QUESTION]

    def test_no_search_is_made_beyond_what_is_allowed(self) -> None:
        assert make_queries(max_calls=1) == [QUESTION]

    def test_auto_expands_a_question_that_its_own_passages_do_not_cover(self) -> None:
        covered = ScriptedScorer({(QUESTION, FILM.text): 0.99})

        assert make_queries(mode="auto") == [QUESTION, EXPANDED]
        assert make_queries(mode="auto", scorer=covered) == [QUESTION]

    @pytest.mark.parametrize("feedback", ["2", None, 1.5, math.nan])
    def test_what_is_no_whole_number_is_refused(self, feedback: Any) -> None:
        with pytest.raises(InvalidValueError, match="feedback is .*; give a whole number of at least 0"):
            make_queries(feedback=feedback)

    def test_a_negative_number_of_passages_is_refused(self) -> None:
        with pytest.raises(InvalidValueError, match="feedback is -1"):
            make_queries(feedback=-1)
