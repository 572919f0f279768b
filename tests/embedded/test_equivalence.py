"""Entailment between answers to one question: seen as such, and judged by the head that was trained for it."""

from __future__ import annotations

import numpy as np
import pytest

from rag_cover import open_entailer
from rag_cover.backends import Entailer, ScoringItem, languages_of
from rag_cover.belief.kernels import in_context
from rag_cover_embedded.equivalence import AnswerEntailer, declines, split_question_pair
from rag_cover_embedded.judge import EmbeddedJudge

ASKED = "Who wrote the novel Emma?"


@pytest.fixture(scope="module")
def entailer(judge: EmbeddedJudge) -> AnswerEntailer:
    """Return the entailer over the shipped judge."""
    return AnswerEntailer(judge)


def test_it_is_what_the_registry_opens(entailer: AnswerEntailer) -> None:
    opened = open_entailer("embedded")

    assert isinstance(opened, Entailer)
    assert isinstance(opened, AnswerEntailer)
    assert opened.fingerprint == entailer.fingerprint


def test_answers_are_taken_from_behind_the_question() -> None:
    assert split_question_pair(f"{ASKED} Jane Austen", f"{ASKED} Austen") == ScoringItem(ASKED, "Jane Austen", ("Austen",))


@pytest.mark.parametrize("question", [ASKED, "Name the author of Emma", "Emma: who wrote it?  ", "¿Quién?"])
def test_what_belief_asks_is_seen_as_answers_to_one_question(question: str) -> None:
    asked = split_question_pair(in_context(question, "Jane Austen"), in_context(question, "Austen"))

    assert asked is not None
    assert (asked.text, asked.references) == ("Jane Austen", ("Austen",))


def test_a_question_may_hold_another_one() -> None:
    assert split_question_pair("Really? Who did? Ada", "Really? Who did? Bob") == ScoringItem(
        "Really? Who did?", "Ada", ("Bob",)
    )


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("Who wrote Emma? Austen", "Who wrote Ulysses? Joyce"),
        ("It rains.", "It is wet."),
        ("Who wrote Emma? Austen", "Who wrote Emma?"),
        ("", ""),
    ],
)
def test_other_pairs_are_no_answers_to_one_question(premise: str, hypothesis: str) -> None:
    assert split_question_pair(premise, hypothesis) is None


def test_it_reads_the_judge_s_languages(entailer: AnswerEntailer, judge: EmbeddedJudge) -> None:
    assert languages_of(entailer) == languages_of(judge) == ("en",)


def test_other_pairs_get_the_verdict_of_the_entailment_head(entailer: AnswerEntailer, judge: EmbeddedJudge) -> None:
    pairs = [("The tower stands in Paris.", "The tower is in Paris."), (f"{ASKED} Austen", "Rain is wet."), ("", "a")]

    assert np.array_equal(entailer.entail(pairs), judge.entail(pairs))


def test_the_right_answer_entails_and_a_wrong_one_does_not(entailer: AnswerEntailer) -> None:
    golden = f"{ASKED} Jane Austen"

    same, shorter, wrong = entailer.entail([(golden, golden), (f"{ASKED} Austen", golden), (f"{ASKED} Lord Byron", golden)])

    assert same[0] > 0.8
    assert shorter[0] > 0.5 > wrong[0]


def test_verdicts_are_distributions_alone_and_in_any_batch(entailer: AnswerEntailer) -> None:
    pairs = [(f"{ASKED} Jane Austen", f"{ASKED} {other}") for other in ("Austen", "Byron", "unknown")] + [("a b", "a")]

    found = entailer.entail(pairs)

    assert np.allclose(found.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(np.concatenate([entailer.entail([pair]) for pair in pairs]), found, atol=1e-6)


@pytest.mark.parametrize(
    "answer", ["", " ", "unanswerable", "I don't know.", "I don\N{RIGHT SINGLE QUOTATION MARK}t know", "No answer"]
)
def test_an_answer_that_declines_agrees_with_others_that_do_and_with_no_other(entailer: AnswerEntailer, answer: str) -> None:
    pair = (f"{ASKED} {answer}", f"{ASKED} no")

    assert declines(answer)
    assert entailer.entail([pair, pair[::-1]]).tolist() == [[0.0, 1.0, 0.0]] * 2
    assert entailer.entail([(pair[0], f"{ASKED} unknown"), (pair[0], pair[0])]).tolist() == [[1.0, 0.0, 0.0]] * 2


@pytest.mark.parametrize("answer", ["no", "No Country for Old Men", "None but the Brave", "The Unknown", "not in 1990"])
def test_an_answer_that_only_sounds_like_it_does_not_decline(answer: str) -> None:
    assert not declines(answer)
