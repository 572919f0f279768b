"""Which candidates become questions, and what a test set holds."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover import read_traces
from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.registry import build_retriever, open_embedder, open_scorer
from rag_cover.testing import ScriptedGenerator
from rag_cover.testsets import Shares, Testset, TestsetMaker, candidates_by_rules, write_testset
from rag_cover.testsets.generated import QuestionWriter
from rag_cover.testsets.generation import QuestionCandidate, _Accepted, _multi
from rag_cover.testsets.questions import GoldStatement

PASSAGES = (
    Passage("To install the plugin, run the setup script as root.", title="Install", id="install"),
    Passage("The retry limit defaults to five attempts per host.", title="Network", id="retry"),
    Passage("If the key is missing, the server refuses every request.", title="Keys", id="keys"),
    Passage("The archive is written by the borg create command.", title="Archives", id="archive"),
    Passage("A manifest is a file that lists all archives of a repository.", title="Manifest", id="manifest"),
    Passage("Rain falls mostly on the west coast in the winter months.", title="Weather", id="rain"),
)


def maker(passages: Sequence[Passage] = PASSAGES) -> TestsetMaker:
    return TestsetMaker(passages, build_retriever("embedded", passages), open_scorer("embedded"), open_embedder("embedded"))


@pytest.fixture(scope="module")
def testset() -> Testset:
    return maker().make(candidates_by_rules(PASSAGES), 5, shares=Shares(multi=0.2, unanswerable=0))


def test_each_question_has_the_passage_that_answers_it(testset: Testset) -> None:
    singles = {each.text: [passage.id for passage in each.passages] for each in testset.questions if each.kind == "single"}

    assert (
        singles.items()
        <= {
            "How do you install the plugin?": ["install"],
            "What does the retry limit default to?": ["retry"],
            "What happens if the key is missing?": ["keys"],
            "What is the archive written by?": ["archive"],
            "What is a manifest?": ["manifest"],
        }.items()
    )
    assert len(singles) >= 3


def test_a_question_over_two_passages_joins_two_and_has_both_as_gold(testset: Testset) -> None:
    (joined,) = [each for each in testset.questions if each.kind == "multi"]

    trace = joined.to_trace()

    assert ", and " in joined.text
    assert len(joined.passages) == 2
    assert [nugget.question for nugget in trace.nuggets or ()] == [each.question for each in joined.gold]
    assert trace.metadata["gold_passages"] == [passage.id for passage in joined.passages]


def test_the_two_questions_of_a_pair_are_the_most_alike() -> None:
    made = maker(PASSES).make(candidates_by_rules(PASSES), 3, shares=Shares(multi=0.34, unanswerable=0))

    (joined,) = [each.text for each in made.questions if each.kind == "multi"]

    assert joined in {
        "How much does the day pass cost, and how long is the monthly pass valid?",
        "How long is the monthly pass valid, and how much does the day pass cost?",
    }


def test_a_question_that_another_passage_answers_is_left_out() -> None:
    other = Passage("The default of the retry limit: 5 tries.", id="other")
    made = maker((*PASSAGES, other)).make(
        _candidates("What does the retry limit default to?", PASSAGES[1]), 1, shares=Shares(0, 0)
    )

    assert (made.questions, dict(made.rejected)) == ((), {"answered elsewhere": 1})


def test_a_passage_that_says_the_same_in_the_same_words_is_gold_too() -> None:
    copy = Passage(f"{PASSAGES[1].text} Set it with --retries.", id="copy")
    made = maker((*PASSAGES, copy)).make(
        _candidates("What does the retry limit default to?", PASSAGES[1]), 1, shares=Shares(0, 0)
    )

    (question,) = made.questions
    (nugget,) = question.to_trace().nuggets or ()
    assert [source.id for source in nugget.sources] == ["retry", "copy"]


def test_a_question_that_its_passage_does_not_answer_is_left_out() -> None:
    made = maker().make(_candidates("What does the repository cost per month?", PASSAGES[4]), 1, shares=Shares(0, 0))

    assert dict(made.rejected) == {"not answered": 1}


def test_the_same_question_is_asked_once() -> None:
    twice = [*_candidates("What is a manifest?", PASSAGES[4]), *_candidates("What is  a Manifest?", PASSAGES[4])]

    made = maker().make(twice, 2, shares=Shares(0, 0))

    assert (len(made.questions), dict(made.rejected)) == (1, {"duplicate": 1})


PASSES = (
    *PASSAGES,
    Passage("The day pass costs 12 euros and is sold on the bus.", title="Day pass", id="day"),
    Passage("The monthly pass is valid for 30 days from its first use.", title="Monthly pass", id="month"),
)


class NothingAnswers:
    """A judge that says of source passages that they answer, of all others that they do not."""

    fingerprint, threshold = "nothing", 0.5

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        rules = {each.question: each.gold.passage.text for each in candidates_by_rules(PASSES)}
        return np.array([rules.get(item.question, "?") in item.text for item in items], dtype=np.float32)


def test_an_unanswerable_question_asks_of_one_thing_what_is_said_of_one_most_alike() -> None:
    retriever, embedder = build_retriever("embedded", PASSES), open_embedder("embedded")

    made = TestsetMaker(PASSES, retriever, NothingAnswers(), embedder).make(
        candidates_by_rules(PASSES), 4, shares=Shares(multi=0, unanswerable=0.5)
    )

    unanswerable = [each for each in made.questions if each.kind == "unanswerable"]
    assert [each.text for each in unanswerable] == ["How much does the monthly pass cost?"]
    assert [(each.reference, each.to_trace().nuggets) for each in unanswerable] == [(None, None)]


def test_nothing_is_asked_of_a_thing_that_is_like_no_other() -> None:
    made = TestsetMaker(PASSAGES, build_retriever("embedded", PASSAGES), NothingAnswers(), open_embedder("embedded")).make(
        candidates_by_rules(PASSAGES), 4, shares=Shares(multi=0, unanswerable=0.5)
    )

    assert [each.kind for each in made.questions if each.kind != "single"] == []


def test_the_same_seed_makes_the_same_test_set(testset: Testset) -> None:
    again = maker().make(candidates_by_rules(PASSAGES), 5, shares=Shares(multi=0.2, unanswerable=0))

    assert again == testset


def test_shares_and_numbers_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="their sum at most 1|both at most 1"):
        Shares(multi=0.8, unanswerable=0.4)
    with pytest.raises(InvalidValueError, match="n is 0"):
        maker().make([], 0)


@given(st.integers(1, 60), st.floats(0, 1), st.floats(0, 1))
def test_kinds_of_questions_add_up(n: int, multi: float, unanswerable: float) -> None:
    whole = max(1.0, multi + unanswerable)

    counts = Shares(multi / whole * 0.999, unanswerable / whole * 0.999).counts(n)

    assert sum(counts) == n
    assert min(counts) >= 0


def test_unanswerable_questions_alone_can_be_made() -> None:
    retriever, embedder = build_retriever("embedded", PASSES), open_embedder("embedded")

    made = TestsetMaker(PASSES, retriever, NothingAnswers(), embedder).make(
        candidates_by_rules(PASSES), 1, shares=Shares(multi=0, unanswerable=1)
    )

    assert [each.kind for each in made.questions] == ["unanswerable"]


def test_a_name_keeps_its_capitals_where_questions_are_joined() -> None:
    first, second = (
        _Accepted(each, (PASSAGES[4],), np.zeros(2, np.float32)) for each in _candidates("What is a manifest?", PASSAGES[4]) * 2
    )
    named = replace(
        second,
        candidate=replace(second.candidate, gold=replace(second.candidate.gold, question="NASA was founded in which year?")),
    )

    assert _multi(first, named).text == "What is a manifest, and NASA was founded in which year?"
    assert _multi(first, second).text == "What is a manifest, and what is a manifest?"


def test_a_test_set_is_written_for_other_tools(testset: Testset, tmp_path: Path) -> None:
    path = tmp_path / "testset"
    first = testset.questions[0]

    write_testset(path, testset.questions, "ragas")
    assert json.loads(path.read_text().splitlines()[0]) == {
        "user_input": first.text,
        "reference": first.reference,
        "reference_contexts": [passage.text for passage in first.passages],
    }
    write_testset(path, testset.questions, "deepeval")
    assert [row["input"] for row in json.loads(path.read_text())] == [each.text for each in testset.questions]
    write_testset(path, testset.questions, "langsmith")
    assert json.loads(path.read_text().splitlines()[0])["outputs"]["answer"] == first.reference
    write_testset(path.with_suffix(".jsonl"), testset.questions)
    assert [trace.question.text for trace in read_traces(path.with_suffix(".jsonl"))] == [
        each.text for each in testset.questions
    ]


def test_a_labelled_rag_dataset_of_llama_index_has_its_fields(testset: Testset, tmp_path: Path) -> None:
    path = tmp_path / "testset.json"

    write_testset(path, testset.questions, "llama-index")

    example = json.loads(path.read_text())["examples"][0]
    assert example["query"] == testset.questions[0].text
    assert {*example} == {"query", "query_by", "reference_contexts", "reference_answer", "reference_answer_by"}
    assert example["query_by"]["type"] == "ai"


WRITTEN = {
    "questions": [
        {
            "question": "How many attempts does the retry limit allow?",
            "answer": "The retry limit allows five attempts per host.",
            "quote": "five attempts",
        },
        {"question": "Who owns the harbour of Porto Vale?", "answer": "The county owns the harbour."},
    ]
}


def test_questions_of_a_model_pass_the_same_filters_and_what_could_not_be_read_is_a_failure() -> None:
    writer = QuestionWriter(ScriptedGenerator({"retry": json.dumps(WRITTEN)}, default="I cannot."))

    made = maker().make(writer.candidates(PASSAGES[:2]), 2, shares=Shares(0, 0))

    (question,) = made.questions
    assert (question.made_by, question.gold[0].fragment) == ("model:scripted", "five attempts")
    assert dict(made.rejected) == {"not answered": 1}
    assert len(writer.failures) == 1


def _candidates(question: str, passage: Passage) -> list[QuestionCandidate]:
    return [QuestionCandidate(GoldStatement(question, passage.text, passage, passage.text), "rule:test")]


def test_more_wanted_questions_than_there_are_leave_single_ones_too() -> None:
    made = maker(PASSES).make(candidates_by_rules(PASSES), 60)

    kinds = [each.kind for each in made.questions]
    assert kinds.count("single") > kinds.count("multi") > 0


def test_questions_of_two_documents_that_have_several_passages_are_not_joined() -> None:
    def of(document: str, text: str) -> Passage:
        return Passage(text, id=text, metadata={"document": document})

    apart = [
        of("bus", "The day pass costs 12 euros and is sold on the bus."),
        of("bus", "The driver speaks through the microphone beside the wheel."),
        of("pool", "The season ticket costs 90 euros at the desk."),
        of("pool", "The water is heated by the sun from May on."),
    ]

    made = maker(apart).make(candidates_by_rules(apart), 2, shares=Shares(multi=1, unanswerable=0))
    alone = [apart[0], apart[2]]
    joined = maker(alone).make(candidates_by_rules(alone), 1, shares=Shares(multi=1, unanswerable=0))

    pairs = [{passage.metadata["document"] for passage in each.passages} for each in made.questions if each.kind == "multi"]
    assert {"bus", "pool"} not in pairs
    assert [{passage.metadata["document"] for passage in each.passages} for each in joined.questions] == [{"bus", "pool"}]
