"""The shipped judge as it meets users: short replies, refusals, markup, and what is no reply at all."""

from __future__ import annotations

import pytest

from rag_cover.backends import ScoringItem
from rag_cover.coverage import judge_coverage
from rag_cover.judge_check import canary_verdicts, explain_canary_failure
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.traces import Trace
from rag_cover_embedded.judge import EmbeddedJudge

CAPITAL = "What is the capital of France?"
REFUSAL = "I'm sorry, the provided context does not mention what the capital of France is."


def reply(question: str, text: str) -> ScoringItem:
    return ScoringItem(question, text, user_question=question)


def covers(judge: EmbeddedJudge, question: str, text: str) -> bool:
    return bool(judge.correctness([reply(question, text)])[0] >= judge.reply_threshold)


@pytest.mark.parametrize("text", ["Paris.", "Paris", "**Paris**", "- Paris", "It's Paris.", "The capital of France is Paris."])
def test_a_reply_that_answers_covers_its_question(judge: EmbeddedJudge, text: str) -> None:
    assert covers(judge, CAPITAL, text)


@pytest.mark.parametrize(
    "text", [REFUSAL, "I don't know.", CAPITAL, "## The capital of France", "Great question! Let me explain.", "", "***"]
)
def test_a_reply_that_says_nothing_covers_nothing(judge: EmbeddedJudge, text: str) -> None:
    assert not covers(judge, CAPITAL, text)


def test_a_refusal_abstains_and_an_answer_does_not(judge: EmbeddedJudge) -> None:
    both = "The capital is Paris. I'm sorry, the documents do not say how many people live there."
    asked = "What is the capital of France, and how many people live there?"

    found = judge.abstains([reply(CAPITAL, REFUSAL), reply(CAPITAL, "Paris."), reply(asked, both), reply(CAPITAL, "")])

    assert found == ["wholly", "no", "partly", "no"]


def test_no_is_an_answer(judge: EmbeddedJudge) -> None:
    asked = "Does the warranty cover water damage?"

    assert covers(judge, asked, "No.")
    assert judge.abstains([reply(asked, "No."), reply(asked, "Water damage is not covered.")]) == ["no", "no"]


def test_it_passes_its_canaries_of_every_kind(judge: EmbeddedJudge) -> None:
    assert explain_canary_failure(canary_verdicts(judge, judge)) is None


@pytest.mark.parametrize("text", ["", " \n", "***", "---\n\n```\n```", "<br/>", "| | |\n|---|---|"])
def test_a_text_without_words_has_probability_0(judge: EmbeddedJudge, text: str) -> None:
    items = [ScoringItem(CAPITAL, text), reply(CAPITAL, text)]

    assert judge.correctness(items).tolist() == [0.0, 0.0]
    assert judge.locate(items) == [None, None]


def test_an_answer_is_found_within_a_long_reply(judge: EmbeddedJudge) -> None:
    filler = "The river runs through several towns on its way to the sea. " * 400
    text = f"{filler}The capital of France is Paris. {filler}"

    (span,) = judge.locate([reply(CAPITAL, text)])

    assert span is not None
    assert "Paris" in span.of(text)


def test_a_fragment_points_into_the_text_with_its_markup(judge: EmbeddedJudge) -> None:
    text = "# Cities\n\n- **Lyon** is known for its food.\n- The capital of France is [**Paris**](https://example.com/paris).\n"

    (span,) = judge.locate([reply(CAPITAL, text)])

    assert span is not None
    assert "[**Paris**]" in span.of(text)


def test_without_the_users_question_a_text_is_judged_as_a_passage(judge: EmbeddedJudge) -> None:
    (probability,) = judge.correctness([ScoringItem(CAPITAL, "The capital of France is Paris.")])

    assert probability >= judge.threshold


def test_a_sub_question_with_empty_references_is_judged_without_any(judge: EmbeddedJudge) -> None:
    trace = Trace(
        question=Question(CAPITAL),
        answer="Paris.",
        sub_questions=(SubQuestion(CAPITAL, role=Role.CORE, references=()),),
    )

    (result,) = judge_coverage([trace], judge, locator=judge, abstention=judge)

    assert result.core_coverage == 1.0
    assert result.abstained == "no"


@pytest.mark.parametrize(
    ("question", "references", "answers"),
    [
        ("What is the capital of France?", ("Paris", "the city of Paris"), ("Paris.", "Lyon.")),
        ("Who painted it?", ("Pablo Picasso", "Picasso"), ("Picasso.", "Monet.")),
    ],
)
def test_references_decide_where_there_are_some(
    judge: EmbeddedJudge, question: str, references: tuple[str, ...], answers: tuple[str, ...]
) -> None:
    asked = SubQuestion(question, role=Role.CORE, references=references)
    traces = [Trace(question=Question(question), answer=answer, sub_questions=(asked,)) for answer in answers]

    results = judge_coverage(traces, judge)

    assert [result.core_coverage for result in results] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("asked", "part", "text", "answered"),
    [
        (
            "What does item 3 cost, and how long is its warranty?",
            "How long is item 3's warranty?",
            "Item 3 costs 30 euros.",
            False,
        ),
        ("What does item 3 cost, and how long is its warranty?", "What does item 3 cost?", "Item 3 costs 30 euros.", True),
        (
            "Does the plan include SSO, and how much does it cost?",
            "How much does the plan cost?",
            "Yes, it includes SSO.",
            False,
        ),
        ("Who wrote Emma and when was it published?", "When was Emma published?", "Jane Austen", False),
        ("Who wrote Emma and when was it published?", "Who wrote Emma?", "Jane Austen", True),
        ("Who wrote Emma and when was it published?", "When was Emma published?", "Jane Austen, 1815", True),
    ],
)
def test_an_answer_to_one_part_is_none_to_the_other(
    judge: EmbeddedJudge, asked: str, part: str, text: str, *, answered: bool
) -> None:
    (probability,) = judge.correctness([ScoringItem(part, text, user_question=asked)])

    assert (probability >= judge.reply_threshold) == answered


def test_a_part_is_answered_no_more_beside_its_question_than_alone(judge: EmbeddedJudge) -> None:
    asked = "Where is the office and what are its opening hours?"
    parts = ["Where is the office?", "What are the opening hours of the office?"]
    beside = judge.correctness([ScoringItem(part, "The office is at 5 High Street.", user_question=asked) for part in parts])
    alone = judge.correctness([ScoringItem(part, "The office is at 5 High Street.") for part in parts])

    assert all(one <= other or one < judge.reply_threshold for one, other in zip(beside, alone, strict=True))
