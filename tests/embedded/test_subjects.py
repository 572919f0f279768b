"""Collections on one subject: questions, what answers them, and passages of the same collection that do not."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.example import NO_SPAN
from rag_cover_embedded.training.sources import read_json_rows
from rag_cover_embedded.training.splits import FITTING, LEARNING, bucket
from rag_cover_embedded.training.subjects import (
    FILE,
    LIKEST,
    PER_ARTICLE,
    SHORT_WINDOW,
    TRAINING_BUCKETS,
    WINDOW,
    make_subject_examples,
    read_written_collections,
)

TITLE = next(name for name in map(str, range(100)) if bucket(name) < 70)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Make a folder with one article of SQuAD and no other natural collection."""
    (tmp_path / "reading").mkdir()
    (tmp_path / "judge").mkdir()
    paragraphs = [
        {
            "context": " ".join(f"Sentence {place} of paragraph {number} says thing {number}x{place}." for place in range(40)),
            "qas": [
                {
                    "question": f"Which thing does {place} of {number} say?",
                    "is_impossible": False,
                    "answers": [{"text": f"{number}x{place}"}],
                }
                for place in range(0, 40, 5)
            ],
        }
        for number in range(10, 16)
    ]
    article = {"title": TITLE, "paragraphs": paragraphs}
    (tmp_path / "reading/squad2_dev_part.json").write_text(json.dumps({"data": [article]}), encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def _no_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_cover_embedded.training.subjects.part_rows", lambda _path, _part: [])


def test_labels_of_written_collections_name_passages_and_do_not_contradict_one_another() -> None:
    for row in read_json_rows(TEXTS / FILE):
        known = [passage["id"] for passage in row["passages"]]
        assert len(set(known)) == len(known)
        for asked in row["questions"]:
            assert set(asked["answered_by"]) | set(asked["partly_by"]) <= set(known)
            assert not set(asked["answered_by"]) & set(asked["partly_by"])


def test_some_written_collections_are_kept_from_the_weights() -> None:
    learnt, kept = (
        {passage for each in read_written_collections(part) for passage in each.passages} for part in (LEARNING, FITTING)
    )

    assert learnt
    assert kept
    assert not learnt & kept
    assert any(bucket(row["domain"]) >= TRAINING_BUCKETS for row in read_json_rows(TEXTS / FILE))


def test_written_questions_have_all_that_answers_them_and_nothing_unclear(data: Path) -> None:
    examples = [*make_subject_examples(data, random.Random(1), LEARNING)]

    for collection in read_written_collections(LEARNING):
        for asked in collection.asked:
            mine = [each for each in examples if each.first == asked.question]
            read = {each.second for each in mine if each.label}
            if asked.likest:  # then some are cut to windows
                assert len(read) == len(asked.answers)
                assert all(any(window in text for window in read) for text, _ in asked.answers)
            else:
                assert read == {text for text, _ in asked.answers}
            assert not [each for each in mine if any(each.second in text for text in asked.unclear)]
            assert sum(not each.label for each in mine) >= 4


def test_windows_of_a_written_collection_hold_what_answers(data: Path) -> None:
    examples = [*make_subject_examples(data, random.Random(3), LEARNING)]
    read = {(each.first, each.second) for each in examples if each.label}

    marked = [
        (asked.question, words)
        for each in read_written_collections(LEARNING)
        for asked in each.asked
        for _, words in asked.answers
    ]
    assert all(any(question == first and words in second for first, second in read) for question, words in marked if words)
    assert {len(second.split()) <= SHORT_WINDOW * 1.2 for _, second in read} == {True, False}


@pytest.mark.slow
def test_passages_that_nearly_answer_are_read_first(data: Path) -> None:
    examples = [*make_subject_examples(data, random.Random(4), LEARNING)]

    for collection in read_written_collections(LEARNING):
        for asked in collection.asked:
            others = [each.second for each in examples if each.first == asked.question and not each.label]
            assert all(any(other in text for other in others) for text in asked.likest[:LIKEST])


def test_windows_of_an_article_hold_the_answer_or_nothing_of_it(data: Path) -> None:
    examples = [
        each for each in make_subject_examples(data, random.Random(2), LEARNING) if each.first.startswith("Which thing")
    ]
    answers = {f"Which thing does {p} of {n} say?": f"{n}x{p}" for n in range(10, 16) for p in range(0, 40, 5)}

    assert len({each.first for each in examples}) == PER_ARTICLE
    assert {each.task for each in examples} == {Task.ANSWERS}
    for each in examples:
        assert each.span is not None
        assert WINDOW // 2 <= len(each.second.split()) <= WINDOW * 1.2
        assert each.second[slice(*each.span)] == answers[each.first] if each.label else each.span == NO_SPAN
        assert (answers[each.first] in each.second) == bool(each.label)
