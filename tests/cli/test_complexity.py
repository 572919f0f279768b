from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.evaluation import Evaluation
from rag_cover.stores import read_traces

Command = Callable[..., Any]
Make = Callable[..., Path]
WORDS = ("--judge", "words", "--retriever", "words")

QUESTIONS: list[dict[str, Any]] = [
    {"question": "Who discovered radium?", "references": ["Marie Curie"]},
    {"question": "Is the husband of Marie Curie older than the discoverer of oxygen?", "id": "q2"},
    {"question": "Which spices grow wild?"},
]
PASSAGES = [
    {"title": "Radium", "text": "Marie Curie discovered radium."},
    {"title": "Pierre", "text": "Pierre was the husband of Marie Curie."},
    {"title": "Oxygen", "text": "Oxygen was found by Scheele, the discoverer of chlorine."},
    {"title": "Spices", "text": "Spices grow."},
]


@pytest.fixture
def questions(folder: Path, make: Make) -> Path:
    return make(folder / "questions.jsonl", QUESTIONS)


@pytest.fixture
def corpus(folder: Path, make: Make) -> Path:
    return make(folder / "passages.jsonl", PASSAGES)


def test_questions_are_described_by_what_a_corpus_has_for_them(command: Command, questions: Path, corpus: Path) -> None:
    done = command("complexity", questions, "--corpus", corpus, *WORDS, "--top-k", "2", "--t-ans", "0.9", "--t-com", "0.5")

    assert done.exit_code == 0
    assert "A single passage answers 33% of the questions" in done.stdout
    assert "Of 3 questions, a single passage answers 1;" in done.stdout
    assert done.stdout.index("Is the husband of Marie Curie") < done.stdout.index("Who discovered radium?")
    assert "By kind, as far as the wording tells" in done.stdout
    assert "multi-hop, comparative" in done.stdout


def test_questions_are_written_as_they_came_with_what_was_found_in_their_metadata(
    command: Command, questions: Path, corpus: Path, folder: Path
) -> None:
    done = command(
        "complexity", questions, "--corpus", corpus, *WORDS, "--t-ans", "0.9", "--out", folder / "out.jsonl", "--quiet"
    )

    first, second, third = read_traces(folder / "out.jsonl")
    assert (done.exit_code, done.stdout) == (0, "")
    assert first.question.references == ("Marie Curie",)
    assert first.steps == ()
    assert first.metadata["complexity"]["standing"] == "answerable"
    assert second.metadata["complexity"]["kinds"] == ["multi-hop", "comparative"]
    assert not third.metadata["complexity"]["answerable"]


def test_a_set_can_be_described_again_and_its_hard_questions_kept(
    command: Command, questions: Path, corpus: Path, folder: Path
) -> None:
    options = ("--corpus", corpus, *WORDS, "--t-ans", "0.9", "--t-com", "0")

    command("complexity", questions, *options, "--out", folder / "all.jsonl")
    done = command("complexity", folder / "all.jsonl", *options, "--only", "complex", "--out", folder / "hard.jsonl")

    assert "2 questions written to" in done.stdout
    assert [trace.question.text for trace in read_traces(folder / "hard.jsonl")] == [each["question"] for each in QUESTIONS[1:]]
    assert "Who discovered radium?" not in done.stdout


def test_where_no_question_is_wanted_nothing_is_written(command: Command, questions: Path, corpus: Path, folder: Path) -> None:
    options = ("--t-ans", "0", "--only", "complex", "--out", folder / "hard.jsonl")

    done = command("complexity", questions, "--corpus", corpus, *WORDS, *options)

    assert done.exit_code == 0
    assert "No question is complex: " in done.stdout
    assert not (folder / "hard.jsonl").exists()


def test_only_questions_of_the_kinds_asked_for_are_measured(command: Command, questions: Path, corpus: Path) -> None:
    done = command("complexity", questions, "--corpus", corpus, *WORDS, "--kind", "multihop", "--json")

    document = json.loads(done.stdout)
    assert [each["question"] for each in document["questions"]] == [QUESTIONS[1]["question"]]


def test_json_is_one_document_with_the_evidence_of_every_passage(command: Command, questions: Path, corpus: Path) -> None:
    done = command("complexity", questions, "--corpus", corpus, *WORDS, "--top-k", "1", "--json")

    document = json.loads(done.stdout)
    first = document["questions"][0]
    assert document["summary"]["complexity"]["traces"] == 3
    assert set(document["summary"]["complexity"]["standings"]) == {"complex", "unanswerable", "answerable"}
    assert first["documents"] == [
        {
            "passage": "text:Radium\nMarie Curie discovered radium.",
            "answer_probability": 1.0,
            "entropy": pytest.approx(0.63, abs=0.01),
        }
    ]


def test_without_a_corpus_the_traces_own_passages_are_judged(command: Command, traces: Path) -> None:
    done = command("complexity", traces, "--judge", "words", "--json")

    document = json.loads(done.stdout)
    assert document["summary"]["outcomes"]["complexity"]["measured"] == 4
    assert len(document["questions"][0]["documents"]) == 2


def test_traces_without_passages_are_counted_among_those_that_have_some(
    command: Command, folder: Path, make: Make, one: Any
) -> None:
    traces = make(folder / "mixed.jsonl", [one(0), {"question": "Why?"}])

    done = command("complexity", traces, "--judge", "words")

    assert "Not measured: 1 question, complexity needs retrieval steps" in done.stdout


def test_questions_with_neither_passages_nor_a_corpus_are_bad_input(command: Command, questions: Path) -> None:
    done = command("complexity", questions, "--judge", "words")

    assert done.exit_code == 3
    assert "name the passages to retrieve from with --corpus" in done.stderr


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([""], "the file holds no passages"),
        (['{"text": "a", "id": "1"}', '{"text": "b", "id": "1"}'], "line 2, at $.id: passage id '1' was given at line 1"),
        (['{"body": "a"}'], "unknown field 'body' of Passage"),
        (['{"text": '], "line 1: not JSON"),
    ],
)
def test_a_corpus_that_cannot_be_read_is_bad_input(
    command: Command, questions: Path, folder: Path, make: Make, lines: list[str], said: str
) -> None:
    broken = make(folder / "broken.jsonl", lines)

    done = command("complexity", questions, "--corpus", broken, *WORDS)

    assert done.exit_code == 3
    assert said in done.stderr


def test_the_fields_of_a_corpus_can_be_named(command: Command, questions: Path, folder: Path, make: Make) -> None:
    named = make(folder / "named.jsonl", [{"body": "Marie Curie discovered radium."}])

    done = command("complexity", questions, "--corpus", named, "--corpus-column", "text=body", *WORDS, "--json")

    assert json.loads(done.stdout)["questions"][0]["max_answer_probability"] == 1.0


def test_a_corpus_of_fewer_than_k_passages_is_told_and_judged_whole(command: Command, questions: Path, corpus: Path) -> None:
    done = command("complexity", questions, "--corpus", corpus, *WORDS)

    assert done.exit_code == 0
    assert "holds fewer than the 10 passages asked for (--top-k): all its 4 passages are judged" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--kind", "sett operation"), 2, "no kind of question is called 'sett operation'"),
        (("--kind", "superlative"), 3, "no question here is of this kind"),
        (("--top-k", "0"), 2, "--top-k"),
        (("--t-ans", "2"), 2, "--t-ans"),
        (("--corpus-column", "text"), 2, "--corpus-column"),
        (("--corpus-column", "txt=body"), 2, "a passage has no field 'txt'"),
        (("--retriever", "wrds"), 2, "Did you mean 'words'?"),
        (("--retriever", "moody"), 2, "offers no retriever"),
        (("--fail-under", "answerable=1"), 2, "no metric is called 'answerable'"),
        (("--fail-under", "answerable_questions=0.99"), 1, "Gate failed: answerable_questions is 0.333"),
        (("--fail-under", "core_coverage=0.1"), 1, "coverage was not measured"),
        (("--fail-under", "answerable_questions=0.3"), 0, ""),
    ],
)
def test_the_exit_code_tells_whose_fault_it_was(
    command: Command, questions: Path, corpus: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    done = command("complexity", questions, "--corpus", corpus, *WORDS, "--t-ans", "0.9", *words)

    assert done.exit_code == code, done.stderr
    assert said in done.stderr


def test_a_judge_that_fails_is_counted_and_with_strict_ends_with_4(
    command: Command, questions: Path, folder: Path, make: Make
) -> None:
    shaken = make(folder / "shaken.jsonl", ["an earthquake discovered radium"])
    shaken.write_text('"an earthquake discovered radium"\n', encoding="utf-8")

    done = command("complexity", questions, "--corpus", shaken, "--retriever", "words", "--judge", "moody", "--strict")

    assert done.exit_code == 4
    assert "the judge fell over" in done.stdout


def test_a_store_is_gone_on_with_and_shown_as_a_report(command: Command, questions: Path, corpus: Path, folder: Path) -> None:
    options = ("--corpus", corpus, *WORDS, "--store", "run.sqlite")
    command("complexity", questions, *options, "--limit", "1")

    done = command("complexity", questions, *options, "--resume", "--report", "hard.html")

    page = (folder / "hard.html").read_text(encoding="utf-8")
    assert "Results: run.sqlite" in done.stdout
    assert len(Evaluation.open(folder / "run.sqlite").results) == 3
    assert "How hard the questions are for this retrieval" in page
    assert "coverage" not in page.partition("<main")[2].partition("</main>")[0]


def test_the_embedded_models_describe_questions_over_a_corpus(
    command: Command, questions: Path, corpus: Path, embedded_judge: str
) -> None:
    done = command("complexity", questions, "--corpus", corpus, "--judge", embedded_judge, "--json")

    document = json.loads(done.stdout)
    assert document["questions"][0]["answerable"]
    assert len(document["questions"][0]["documents"]) == 4
