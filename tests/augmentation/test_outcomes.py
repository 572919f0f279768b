"""What is kept, what it covers, and what every search bought; what was left out is said."""

import pytest

from rag_cover.augmentation.augmenter import tokens_in
from rag_cover.augmentation.chains import Chain
from rag_cover.augmentation.evidence import PassageEvidence
from rag_cover.augmentation.outcomes import Keeping, Outcome, failures_of, notes_on_retrieval, purchases, sub_question_results
from rag_cover.augmentation.retrieving import Retrieval, search_for_all
from rag_cover.backends import Failure
from rag_cover.errors import ModelFailedError
from rag_cover.questions import Passage, SubQuestion
from rag_cover.searching import Searches
from rag_cover.testing import ScriptedRetriever, ScriptedScorer

QUESTION, SKY, GRASS = "Why is the sky blue and grass green?", "Why is the sky blue?", "Why is grass green?"
AIR, TWIN, LEAF, CLOUD = (
    Passage("Air scatters short waves most.", id="air"),
    Passage("air scatters short waves MOST", id="twin"),
    Passage("Chlorophyll reflects green.", id="leaf"),
    Passage("Clouds are white.", id="cloud"),
)
SCORES = {(SKY, AIR.text): 0.9, (GRASS, LEAF.text): 0.8, (GRASS, AIR.text): 0.1}
KEEPING = Keeping(k=2, fair_share=0.5, max_tokens=None, count_tokens=tokens_in)


def retrieval(retriever: ScriptedRetriever, *texts: str, most: int | None = None) -> Retrieval:
    found = Retrieval(QUESTION, Chain(texts), Searches(retriever, k=5, most=most, workers=1))
    search_for_all(found)
    return found


def outcome(retriever: ScriptedRetriever, *texts: str, judged: bool = True) -> Outcome:
    return Outcome.of(retrieval(retriever, *texts), PassageEvidence(ScriptedScorer(SCORES)) if judged else None, KEEPING)


def test_of_one_search_the_order_stays() -> None:
    found = outcome(ScriptedRetriever({QUESTION: [CLOUD, TWIN, AIR]}))

    assert found.passages == (CLOUD, TWIN)


def test_a_repetition_that_a_search_brought_counts_as_what_it_repeats() -> None:
    found = outcome(ScriptedRetriever({QUESTION: [CLOUD, AIR], SKY: [TWIN]}), SKY)

    step = found.retrieval.searches.steps[1]
    assert found.passages_of(step) == [AIR]
    assert [each.covered for each in purchases(found, {})] == [()]  # the question's own search had covered it


def test_without_a_judge_scores_decide_and_nothing_is_covered_or_not() -> None:
    found = outcome(ScriptedRetriever({QUESTION: [CLOUD], SKY: [AIR, LEAF]}), SKY, judged=False)

    (sub_question,) = sub_question_results(found, [SubQuestion(SKY)])
    assert found.passages == (CLOUD, AIR)
    assert (sub_question.covered_at_first, sub_question.covered, sub_question.probability) == (None, None, None)


def test_a_sub_question_names_its_search() -> None:
    found = outcome(ScriptedRetriever({SKY: TimeoutError("60 s")}, default=[LEAF]), SKY, QUESTION, GRASS)

    rows = sub_question_results(found, [SubQuestion(SKY, role="core"), SubQuestion(QUESTION), SubQuestion(GRASS)])

    assert [each.step for each in rows] == ["step-2", None, "step-3"]
    assert [each.role_source for each in rows] == ["given", None, None]
    assert [each.covered for each in rows] == [False, False, True]


def test_sub_questions_that_are_the_same_share_a_search_and_a_verdict() -> None:
    found = outcome(ScriptedRetriever({SKY: [AIR]}), SKY, SKY)

    one, other = sub_question_results(found, [SubQuestion(SKY), SubQuestion(SKY)])

    assert one == other
    assert [each.covered for each in purchases(found, {})] == [(SKY,)]


def test_a_search_bought_what_none_before_it_covered() -> None:
    found = outcome(ScriptedRetriever({SKY: [AIR, LEAF], GRASS: [LEAF]}), SKY, GRASS)

    bought = purchases(found, {"step-3": 0.25})

    assert [(each.step, each.query, each.covered, each.utility) for each in bought] == [
        ("step-2", SKY, (SKY, GRASS), None),
        ("step-3", GRASS, (), 0.25),
    ]


def test_a_probability_is_that_of_passages_that_were_kept() -> None:
    found = outcome(ScriptedRetriever({QUESTION: [CLOUD], GRASS: [AIR]}), GRASS)

    (row,) = sub_question_results(found, [SubQuestion(GRASS)])

    assert (row.covered, row.probability) == (False, 0.1)


def test_failures_are_searches_first() -> None:
    found = retrieval(ScriptedRetriever({QUESTION: [CLOUD], SKY: ValueError("no")}), SKY)
    found.failures.append(Failure("timeout", "60 s"))

    assert [each.kind for each in failures_of(found)] == ["retrieval", "timeout"]


def test_all_searches_failing_is_an_error_that_quotes_the_first() -> None:
    found = retrieval(ScriptedRetriever({QUESTION: ValueError("no")}, default=KeyError("k")), SKY)

    with pytest.raises(ModelFailedError, match="on every search, 2 of 2; the first one said: ValueError: no"):
        failures_of(found)


def test_what_was_left_out_is_said() -> None:
    nothing = retrieval(ScriptedRetriever(), SKY, "#1?", GRASS, most=2)

    assert notes_on_retrieval(nothing, ()) == (
        "nothing is left to ask of core sub-question 2 without the answers that it builds on",
        "1 sub-question was not searched for: no more than 2 searches were allowed",
        "nothing was retrieved",
    )
    assert notes_on_retrieval(retrieval(ScriptedRetriever(default=[AIR]), SKY), (AIR,)) == ()
