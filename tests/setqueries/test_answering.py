import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem, Span
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage, Role
from rag_cover.setqueries import MembershipCalibration, ParsedQuery, SetAnswer, SetAnswerer, SetQuery, answer
from rag_cover.setqueries.answers import question_for
from rag_cover.testing import KeywordLocator, KeywordScorer, ScriptedRetriever, ScriptedScorer

CHILE, PERU, GUIANAS = "birds of Chile", "birds of Peru", "fauna of the Guianas"
QUERY = (SetQuery.atom(CHILE) & PERU) - GUIANAS
CONDOR = Passage("The condor soars over Chile and Peru.", title="Condor")
SPARROW = Passage("The sparrow is at home in Chile, Peru and Guyana.", title="Sparrow")
CHUCAO = Passage("The chucao never leaves Chile.", title="Chucao")
RETRIEVER = ScriptedRetriever({CHILE: [CHUCAO, CONDOR, SPARROW], PERU: [SPARROW, CONDOR], GUIANAS: [SPARROW]})
BELONGS = {CHILE: (CONDOR, SPARROW, CHUCAO), PERU: (CONDOR, SPARROW), GUIANAS: (SPARROW,)}


def said(atom: str, passage: Passage) -> tuple[str, str]:
    return question_for(atom), f"{passage.title}\n{passage.text}"


SCORER = ScriptedScorer({said(atom, each): 0.9 for atom, some in BELONGS.items() for each in some}, default=0.1)


def answered(
    query: str | SetQuery | ParsedQuery = QUERY, retriever: ScriptedRetriever = RETRIEVER, **settings: Any
) -> SetAnswer:
    return SetAnswerer(**{"retriever": retriever, "scorer": SCORER, **settings}).answer(query)


def test_what_belongs_to_both_and_not_to_the_third_is_kept() -> None:
    found = answered()

    assert found.names == ("Condor",)
    assert found.entities[0].probability == pytest.approx(0.9 * 0.9 * (1 - 0.1))


def test_evidence_for_a_negated_atom_removes_and_is_named() -> None:
    sparrow = next(each for each in answered(locator=KeywordLocator()).left_out if each.name == "Sparrow")

    assert sparrow.reason.startswith("matches 'fauna of the Guianas' (0.90)")
    assert [each.negated for each in sparrow.evidence] == [False, False, True]


def test_what_lacks_an_intersected_atom_is_left_out_for_want_of_evidence() -> None:
    chucao = next(each for each in answered().left_out if each.name == "Chucao")

    assert chucao.reason == "no evidence for 'birds of Peru' (0.10)"


def test_each_atom_has_its_own_search_and_the_fusion_keeps_what_belongs() -> None:
    trace = answered().trace(pipeline="sets")

    assert [(step.query, step.kind) for step in trace.steps[:3]] == [
        (CHILE, "retrieve"),
        (PERU, "retrieve"),
        (GUIANAS, "retrieve"),
    ]
    assert trace.steps[-1].kind == "fuse"
    assert trace.steps[-1].passages == trace.prompt == (CONDOR,)
    assert trace.sub_questions is not None
    assert [each.text for each in trace.sub_questions] == [question_for(CHILE), question_for(PERU)]
    assert {each.role for each in trace.sub_questions} == {Role.CORE}


def test_exhaustively_everything_is_judged_in_one_batch() -> None:
    scorer = ScriptedScorer()

    found = answered(scorer=scorer, exhaustive=True)

    assert scorer.asked.calls == 1
    assert found.judged == scorer.asked.items == 9


def test_the_budget_leaves_the_least_promising_unjudged_and_says_so() -> None:
    found = answered(max_pairs=6)

    assert found.judged <= 6
    assert found.unjudged == 1
    assert any("1 candidate was not judged" in note for note in found.notes)


def test_the_telling_words_are_cited() -> None:
    (condor,) = answered(locator=KeywordLocator()).entities

    assert condor.evidence[0].fragment == "The condor soars over Chile and Peru."
    assert condor.evidence[2].fragment is None


def test_the_users_own_words_are_searched_for_and_judged() -> None:
    query = SetQuery.atom("Flora of Haiti")
    parsed = ParsedQuery("plants found in Haiti", query, 0.9, "grammar", words={"Flora of Haiti": "plants found in Haiti"})
    retriever = ScriptedRetriever({"plants found in Haiti": ["The ceiba is one of the plants of Haiti."]})

    found = answered(parsed, retriever, scorer=KeywordScorer(), threshold=0.3)

    assert retriever.queries == ["plants found in Haiti"]
    assert found.entities[0].evidence[0].atom == "Flora of Haiti"


def test_a_plain_question_is_parsed() -> None:
    found = answered("birds of Chile that are also birds of Peru")

    assert found.query.template == "A ∩ B"
    assert found.query.operator == "intersection"


def test_a_contradiction_is_answered_by_nothing_and_explained_without_a_search() -> None:
    retriever = ScriptedRetriever()

    found = answered(SetQuery.atom(CHILE) - CHILE, retriever)

    assert found.entities == ()
    assert retriever.queries == []
    assert any("contradicts itself" in note for note in found.notes)


def test_without_candidates_it_says_which_searches_found_nothing() -> None:
    found = answered(retriever=ScriptedRetriever())

    assert found.ranked == ()
    assert [note for note in found.notes if "found nothing" in note] == [
        f"the search for {atom!r} found nothing" for atom in (CHILE, PERU, GUIANAS)
    ]


def test_an_atom_that_nothing_matches_is_named_with_what_that_means() -> None:
    notes = answered(scorer=ScriptedScorer(default=0.2), exhaustive=True).notes

    assert any(f"matches {CHILE!r}, so nothing belongs to what needs it" in note for note in notes)
    assert any(f"matches {GUIANAS!r}, so nothing is taken away for it" in note for note in notes)


def test_below_a_low_threshold_an_atom_that_nothing_matches_takes_nothing_from_what_rests_on_it() -> None:
    alone = answered(SetQuery.atom(CHILE), scorer=ScriptedScorer(default=0.4), threshold=0.2)
    chosen = ScriptedScorer({said(PERU, CONDOR): 0.9, said(PERU, SPARROW): 0.3}, default=0.1)
    either = answered(SetQuery.atom(CHILE) | PERU, scorer=chosen, threshold=0.2)

    assert len(alone.names) == 3
    assert f"none of 3 candidates matches {CHILE!r}, yet 3 that are kept rest on it, by a threshold of 0.20" in alone.notes[0]
    assert {"Condor", "Sparrow"} <= {*either.names}
    assert f"none of 3 candidates matches {CHILE!r}, so nothing belongs to what needs it" in either.notes[0]


def test_a_negated_atom_that_nothing_matches_is_not_said_to_take_nothing_away_where_it_does() -> None:
    scorer = ScriptedScorer({said(CHILE, CONDOR): 0.6, said(GUIANAS, CONDOR): 0.45}, default=0.1)
    retriever = ScriptedRetriever({CHILE: [CONDOR], GUIANAS: []})

    notes = answered(SetQuery.atom(CHILE) - GUIANAS, retriever, scorer=scorer, threshold=0.5).notes

    assert f"the one candidate does not match {GUIANAS!r}, yet 1 is left out for it, by a threshold of 0.50" in notes[-1]


def test_what_matches_less_than_a_high_threshold_asks_for_does_not_match_surely_enough() -> None:
    (note,) = answered(SetQuery.atom(CHILE), scorer=ScriptedScorer(default=0.6), threshold=0.7).notes

    assert note.startswith(
        f"none of 3 candidates matches {CHILE!r} surely enough, so nothing belongs to what needs it; nearest"
    )


def test_a_search_that_fails_costs_that_search() -> None:
    retriever = ScriptedRetriever({CHILE: [CONDOR], PERU: TimeoutError("60 s")})

    found = answered(SetQuery.atom(CHILE) & PERU, retriever)

    assert found.names == ("Condor",)
    assert found.steps[1].error == "TimeoutError: 60 s"
    assert [each.kind for each in found.failures] == ["search"]
    assert any("60 s" in note for note in found.notes)


def test_where_every_search_fails_so_does_the_answer() -> None:
    with pytest.raises(ModelFailedError, match="no search succeeded: TimeoutError: 60 s"):
        answered(retriever=ScriptedRetriever(default=TimeoutError("60 s")))


class FailsOn(ScriptedScorer):
    """Fails where a text is among those it is asked about."""

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("Chucao" in item.text and "Peru" in item.question for item in items):
            message = "the judge's server said 500"
            raise ModelFailedError(message)
        return super().correctness(items)


def test_a_pair_that_cannot_be_judged_leaves_its_candidate_without_a_probability() -> None:
    found = answered(scorer=FailsOn(SCORER.script, 0.1))

    assert found.names == ("Condor",)
    assert found.left_out[-1].name == "Chucao"
    assert found.left_out[-1].probability is None
    assert found.left_out[-1].reason == "could not be judged by 'birds of Peru'"
    assert len(found.failures) == 1


class FailingLocator:
    """Locates nothing, for its server is down."""

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        message = f"the locator's server is down ({len(items)} texts)"
        raise ModelFailedError(message)


def test_where_the_locator_fails_evidence_comes_without_words_and_the_failure_is_told() -> None:
    found = answered(locator=FailingLocator())

    assert found.names == ("Condor",)
    assert [(each.probability, each.fragment) for each in found.entities[0].evidence] == [(0.9, None), (0.9, None), (0.1, None)]
    assert any("server is down" in each.message for each in found.failures)


def test_where_no_candidate_could_be_judged_a_note_says_that_nothing_is_known() -> None:
    found = answered(scorer=ScriptedScorer(default=math.nan))

    assert found.names == ()
    assert {each.probability for each in found.left_out} == {None}
    assert "3 of 3 candidates could not be judged: whether they belong is not known" in found.notes


def test_a_passage_that_only_its_text_names_is_named_shortly_in_a_note() -> None:
    long = Passage("A very long text. " * 1000)

    (note,) = answered(SetQuery.atom(CHILE), ScriptedRetriever({CHILE: [long]}), scorer=ScriptedScorer(default=0.1)).notes

    assert len(note) < 300


@pytest.mark.parametrize("wrong", [None, 3, ["birds of Chile"]])
def test_what_is_neither_words_nor_a_query_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValueError, match="is no set query; give a question in words"):
        answered(wrong)


def test_a_parser_that_makes_no_parsed_query_is_refused_and_one_that_makes_a_query_is_taken() -> None:
    assert answered("which?", parser=lambda _: QUERY).names == ("Condor",)
    with pytest.raises(InvalidValueError, match="NoneType is no set query"):
        answered("which?", parser=lambda _: None)


def test_of_an_entitys_passages_the_one_that_says_most_speaks() -> None:
    pieces = [Passage("It is a bird.", id="1", title="Condor"), Passage("It soars over Chile.", id="2", title="Condor")]

    found = answered(SetQuery.atom(CHILE), ScriptedRetriever({CHILE: pieces}), scorer=KeywordScorer())

    assert found.entities == () or found.entities[0].evidence[0].passage == "id:2"
    assert found.ranked[0].evidence[0].passage in ("id:1", "id:2")
    assert len(found.ranked) == 1


def test_only_what_is_above_the_threshold_is_kept() -> None:
    assert answered(threshold=0.728).names == ("Condor",)
    assert answered(threshold=0.73).names == ()
    assert answered(calibration=MembershipCalibration(threshold=0.9)).names == ()


def test_a_result_is_read_back_as_it_was_written() -> None:
    found = answered(locator=KeywordLocator())

    assert SetAnswer.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    "setting",
    [
        {"depth": 0},
        {"depth": 1.5},
        {"max_pairs": 0},
        {"max_pairs": "9"},
        {"workers": 0},
        {"explained": -1},
        {"threshold": 1.0},
        {"threshold": -0.1},
        {"threshold": math.nan},
        {"threshold": "0.5"},
    ],
)
def test_a_number_out_of_range_is_refused(setting: dict[str, Any]) -> None:
    (name,) = setting.keys()

    with pytest.raises(InvalidValueError, match=f"{name} is"):
        answered(**setting)


def test_modifiers_are_taken_as_they_are_asked_for() -> None:
    whole, apart = (
        ScriptedRetriever({each: [CONDOR] for each in atoms}) for atoms in (["Spanish war films"], ["Spanish films"])
    )

    read = answered("Spanish war films", whole)
    split = answered("Spanish war films", apart, modifiers="split")

    assert read.query == SetQuery.atom("Spanish war films")
    assert any('is read as "Spanish films" ∩ "War films"' in note for note in read.notes)
    assert split.query == SetQuery.atom("Spanish films") & "War films"
    assert any("as asked (modifiers: split)" in note for note in split.notes)
    assert [step.query for step in split.steps] == ["Spanish films", "war films"]


def test_set_algebra_that_is_given_keeps_its_modifiers() -> None:
    query = SetQuery.atom("Spanish war films") - CHILE

    assert answered(query, modifiers="split").query == query
    assert not any("modifiers" in note for note in answered(query).notes)


def test_another_way_to_take_modifiers_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="modifiers cannot be 'spilt'.*'split'"):
        answered(modifiers="spilt")


def test_over_twenty_atoms_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="21 atoms; at most 20"):
        answered(SetQuery.union(*(f"birds of country {number}" for number in range(21))))


def test_answer_is_the_same_as_an_answerer() -> None:
    assert answer(QUERY, RETRIEVER, scorer=SCORER) == answered()


def test_what_is_asked_of_the_judge_is_a_question_about_the_titled_text() -> None:
    asked: list[ScoringItem] = []

    class Listening(ScriptedScorer):
        def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
            asked.extend(items)
            return super().correctness(items)

    answered(SetQuery.atom(CHILE), scorer=Listening())

    assert asked[0] == ScoringItem("What are examples of birds of Chile?", "Chucao\nThe chucao never leaves Chile.")
