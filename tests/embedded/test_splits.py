"""Train and test never meet: by the rule of the data folder, over all of its files."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.example import Example
from rag_cover_embedded.training.examples import plain_texts, training_examples
from rag_cover_embedded.training.splits import bucket, trains, trains_by_document

SPLIT_FILES = (
    "answers/evouna_nq",
    "answers/efficientqa_test",
    "answers/sas_nq",
    "skills/nq_open_responses_part",
    "multihop/2wiki_500",
)
FOR_TESTING = {"answerability": "sub_question", "subquestion_types": "sub_question", "ragchecker_preferences": "query"}
SHORTEST = 20  # letters: below, questions such as "who is he" meet by chance


def test_a_bucket_is_the_hash_of_letters_and_digits() -> None:
    expected = int(hashlib.sha256(b"whowrote2hamlets").hexdigest(), 16) % 100

    assert bucket("Who wrote 2 Hamlets?") == bucket("who_wrote 2\nhamlets") == expected


def test_full_width_and_plain_letters_are_the_same_key() -> None:
    assert bucket("\uff21\uff22\uff23 \u2460") == bucket("abc 1")


def test_seventy_buckets_train_and_for_documents_eighty() -> None:
    keys = [f"question number {number}" for number in range(2_000)]

    assert all(trains(key) == (bucket(key) < 70) for key in keys)
    assert all(trains_by_document(key) == (bucket(key) < 80) for key in keys)
    assert {bucket(key) for key in keys} == set(range(100))


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _squad(data: Path) -> list[dict[str, Any]]:
    return list(json.loads((data / "reading/squad2_dev_part.json").read_text(encoding="utf-8"))["data"])


def _nli(data: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(data / "nli/train.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _with_parts(row: dict[str, Any]) -> list[str]:
    """Return a question and its sub-questions, those left out that mean nothing without an earlier answer."""
    parts = row.get("question_decomposition", row.get("decomposition", row.get("qa_pairs", [])))
    texts = [part if isinstance(part, str) else part["question"] for part in parts]
    return [row["question"], *(text for text in texts if "#" not in text)]


def _split_rows(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (file, row) of every file whose questions are split by their buckets, the question under one name."""
    for name in (
        "answers/evouna_nq",
        "answers/efficientqa_test",
        "answers/sas_nq",
        "skills/nq_open_responses_part",
        "multihop/2wiki_500",
    ):
        yield from ((name, row) for row in _lines(data / f"{name}.jsonl"))
    yield from (("qed", {"question": row["question_text"]}) for row in _lines(data / "reading/qed_dev.jsonl"))
    for name in ("strategyqa_train", "strategyqa_dev", "fanoutqa_dev"):
        yield from ((name, row) for row in json.loads((data / f"multihop/{name}.json").read_text(encoding="utf-8")))
    for name in ("break_dev", "break_high_level_dev"):
        with (data / f"decomposition/{name}.csv").open(encoding="utf-8", newline="") as lines:
            yield from ((name, {"question": row["question_text"]}) for row in csv.DictReader(lines))


def _test_only_rows(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (file, row) of every file that only tests, and of SQuAD's articles that do."""
    for name in ("multihop/musique_100", "multihop/hotpotqa_100"):
        yield from ((name, row) for row in _lines(data / f"{name}.jsonl"))
    for name, field in (
        ("answerability", "sub_question"),
        ("subquestion_types", "sub_question"),
        ("ragchecker_preferences", "query"),
    ):
        yield from ((name, {"question": row[field]}) for row in _lines(data / f"coverage/{name}_part.jsonl"))
    for article in _squad(data):
        if not trains_by_document(article["title"]):
            yield from (("squad", question) for paragraph in article["paragraphs"] for question in paragraph["qas"])


@cache
def _held_out_questions(data: Path) -> frozenset[tuple[str, str]]:
    """Return (file, question) of every question that only tests, with the sub-questions that go with it.

    Left out are sub-questions that a training question has too, word for word ("How many days are in a year?").
    """
    split = list(_split_rows(data))
    trained = {_letters(text) for _, row in split if trains(row["question"]) for text in _with_parts(row)[1:]}
    rows = [(name, row) for name, row in split if not trains(row["question"])] + list(_test_only_rows(data))
    whole = {(name, row["question"]) for name, row in rows}
    parts = {(name, text) for name, row in rows for text in _with_parts(row)[1:] if _letters(text) not in trained}
    return frozenset(whole | parts)


@cache
def _examples(data: Path) -> tuple[Example, ...]:
    return tuple(training_examples(data))


@pytest.fixture
def data(shared_folder: Path) -> Path:
    return shared_folder / "data"


@pytest.mark.slow
@pytest.mark.shared
def test_no_question_that_tests_is_among_the_training_examples(data: Path) -> None:
    trained = {_letters(example.first) for example in _examples(data) if example.task is not Task.ENTAILMENT}

    met = sorted({(name, text) for name, text in _held_out_questions(data) if _letters(text) in trained})

    assert met == []


@pytest.mark.slow
@pytest.mark.shared
def test_no_premise_that_tests_is_among_the_training_examples(data: Path) -> None:
    """QNLI's premises are questions of SQuAD, split by article there: benchmarks/judge/nli.py leaves those out."""
    squad = {_letters(q["question"]) for article in _squad(data) for p in article["paragraphs"] for q in p["qas"]}
    held_out = {_letters(row["premise"]): row["source"] for row in _nli(data) if not trains_by_document(row["premise"])}
    trained = {_letters(example.first) for example in _examples(data)}

    met = sorted((source, text) for text, source in held_out.items() if text in trained and text not in squad)

    assert met == []


@pytest.mark.slow
@pytest.mark.shared
def test_no_sentence_of_an_article_that_tests_is_among_the_training_texts(data: Path) -> None:
    paragraphs = [p["context"] for a in _squad(data) if not trains_by_document(a["title"]) for p in a["paragraphs"]]
    held_out = {part for text in paragraphs for part in _sentences(text)}
    texts = {text for example in _examples(data) for text in (example.first, example.second)} | set(plain_texts(data))

    met = sorted(held_out & {part for text in texts for part in _sentences(text)})

    assert met == []


def _sentences(text: str) -> Iterator[str]:
    return (part for part in map(_letters, text.split(". ")) if len(part) > SHORTEST * 2)


@pytest.mark.shared
def test_no_question_that_tests_keeps_the_text_mode(data: Path) -> None:
    trained = {_letters(text) for text in plain_texts(data)}

    met = sorted({(name, text) for name, text in _held_out_questions(data) if _letters(text) in trained})

    assert met == []


@pytest.mark.shared
def test_files_that_share_questions_put_them_in_the_same_part(data: Path) -> None:
    evouna = {row["question"]: trains(row["question"]) for row in _lines(data / "answers/evouna_nq.jsonl")}
    qed = {row["question_text"]: trains(row["question_text"]) for row in _lines(data / "reading/qed_dev.jsonl")}

    shared = evouna.keys() & qed.keys()

    assert len(shared) > 100
    assert all(evouna[question] == qed[question] for question in shared)


@pytest.mark.slow
@pytest.mark.shared
def test_there_is_something_to_check(data: Path) -> None:
    tests = {name for name, _ in _held_out_questions(data)}

    assert {"squad", "qed", "multihop/2wiki_500", "strategyqa_dev", "multihop/musique_100", "answerability"} <= tests
    assert {example.task for example in _examples(data)} == {Task.ENTAILMENT, Task.ANSWERS, Task.REPLIES, Task.CORRECT}
