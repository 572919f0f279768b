"""Questions in, traces out whose retrieval core sub-questions drove; what one of them costs the others is nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_cover.backends import Backend, Failure
from rag_cover.hooks import hook
from rag_cover.plugin_manager import plugins
from rag_cover.questions import Passage
from rag_cover.stores import read_traces
from rag_cover.testing import ScriptedGenerator, ScriptedReceiver

Command = Callable[..., Any]
Make = Callable[..., Path]

FAN, LIMITS, DAMP = "How loud is the fan?", "Which limits apply at night?", "Where does damp gather?"
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "t1",
        "question": {"text": "Will the pump be noisy?", "id": "q1", "references": ["At night, yes."]},
        "sub_questions": [FAN, {"text": LIMITS, "role": "core"}, {"text": "What is noise?", "role": "background"}],
        "metadata": {"asked_by": "a neighbour"},
    },
    {"id": "t2", "question": {"text": DAMP, "id": "q2"}, "sub_questions": [DAMP]},
]
PASSAGES = [
    {"id": "pump", "text": "Will the pump be noisy? So people ask."},
    {"id": "fan", "text": "How loud the fan is: 50 dB."},
    {"id": "limits", "text": "Which limits apply depends: at night 35 dB."},
    {"id": "damp", "text": "Damp does gather where it is cold."},
]
WORDS = ("--judge", "words", "--retriever", "words", "--receiver", "none")
SMALL = (*WORDS, "--top-k", "3", "--depth", "1")
ANSWERS = ScriptedGenerator({"purpose: answer": "It is loud at night."}, name="writes:small")


@dataclass(frozen=True)
class MoodyRetriever:
    """Finds the first passage, until a query holds a word that makes it fail."""

    passages: tuple[Passage, ...]

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        for word, failure in (("fan", ConnectionError("the fan index is down")), ("Damp", OSError("too damp"))):
            if word.lower() in query.lower():
                raise failure
        return self.passages[:k]


class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [
            Backend("fragile", "fails on purpose", retriever=lambda corpus, _index: MoodyRetriever(tuple(corpus))),
            Backend("writes", "writes by a script", generator=lambda _model: ANSWERS),
            Backend("reads", "reads by a script", receiver=lambda _model: ScriptedReceiver({"Spielberg": ("Spielberg",)})),
            Backend("silent", "fails", generator=lambda _model: ScriptedGenerator(default=Failure("timeout", "60 s"))),
        ]


@pytest.fixture(autouse=True)
def _plugin() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin, "testing-augmentation")
    yield
    plugins().unregister(plugin)


@pytest.fixture
def questions(folder: Path, make: Make) -> Path:
    return make(folder / "questions.jsonl", QUESTIONS)


@pytest.fixture
def corpus(folder: Path, make: Make) -> Path:
    return make(folder / "passages.jsonl", PASSAGES)


def test_what_is_missing_is_fetched_and_shown_before_and_after(command: Command, questions: Path, corpus: Path) -> None:
    done = command("augment", questions, "--corpus", corpus, *SMALL)

    assert (done.exit_code, done.stderr) == (0, "")
    assert "The passages kept cover 100% of the core sub-questions; those found by the question alone, 33%." in done.stdout
    assert "Questions: 1 gained, 0 lost, 1 as before." in done.stdout
    assert "Searches: 4, or 2.0 a question; 2 beyond the questions' own, 2 of which brought" in done.stdout
    assert f"✗ → ✓ {FAN}  found by its own search" in done.stdout
    assert "2 traces written to questions-augmented.jsonl. Next: rag-cover evaluate questions-augmented.jsonl" in done.stdout


def test_a_trace_keeps_what_the_question_came_with(command: Command, questions: Path, corpus: Path, folder: Path) -> None:
    command("augment", questions, "--corpus", corpus, *SMALL, "--out", "out.jsonl")

    first, second = read_traces(folder / "out.jsonl")
    assert (first.id, first.question.id, first.question.references) == ("t1", "q1", ("At night, yes.",))
    assert first.pipeline == "augmented by retrieval"
    assert first.metadata["asked_by"] == "a neighbour"
    assert first.metadata["augmentation"]["calls"] == 3
    assert [sub.text for sub in first.sub_questions or ()] == [FAN, LIMITS, "What is noise?"]
    assert {passage.id for passage in first.prompt or ()} == {"pump", "fan", "limits"}
    assert [step.kind for step in second.steps] == ["retrieve", "rerank"]


def test_before_and_after_are_compared_in_one_go(command: Command, questions: Path, corpus: Path, folder: Path) -> None:
    done = command(
        "augment", questions, "--corpus", corpus, *WORDS, "--top-k", "2", "--baseline", "before.jsonl", "--out", "after.jsonl"
    )

    compared = command("compare", "before.jsonl", "after.jsonl", "--judge", "words", "--json")
    retrieved = json.loads(compared.stdout)["metrics"]["core_retrieved"]
    before, after = list(read_traces(folder / "before.jsonl")), list(read_traces(folder / "after.jsonl"))
    assert "Next: rag-cover compare before.jsonl after.jsonl" in done.stdout
    assert [trace.pipeline for trace in (before[0], after[0])] == ["plain retrieval", "augmented by retrieval"]
    assert all(len(trace.steps) == 1 and len(trace.chunks) <= 2 for trace in (*before, *after))
    assert retrieved["b"]["estimate"] >= retrieved["a"]["estimate"] > 0


def test_auto_searches_only_for_what_is_not_covered(command: Command, questions: Path, corpus: Path) -> None:
    def searches(mode: str) -> list[int]:
        document = json.loads(
            command("augment", questions, "--corpus", corpus, *WORDS, "--mode", mode, "--json", "--force").stdout
        )
        assert document["summary"]["mode"] == mode
        return [len(each["steps"]) for each in document["questions"]]

    assert (searches("retrieval"), searches("auto")) == ([3, 1], [2, 1])


def test_json_is_one_document_with_summary_and_questions(command: Command, questions: Path, corpus: Path) -> None:
    done = command("augment", questions, "--corpus", corpus, *SMALL, "--json")

    document = json.loads(done.stdout)
    summary, first = document["summary"], document["questions"][0]
    assert (summary["core"], summary["covered_before"], summary["covered"]) == (3, 1, 3)
    assert summary["utility"] is None
    assert first["compared"][0] == {"text": FAN, "before": False, "after": True}
    assert first["mode"] == "retrieval"
    assert (document["out"], document["baseline"], document["skipped"]) == ("questions-augmented.jsonl", None, [])


def test_quiet_prints_nothing_and_writes_all_the_same(command: Command, questions: Path, corpus: Path, folder: Path) -> None:
    done = command("augment", questions, "--corpus", corpus, *SMALL, "--quiet")

    assert (done.stdout, done.stderr) == ("", "")
    assert len(list(read_traces(folder / "questions-augmented.jsonl"))) == 2


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 4)])
def test_a_search_that_fails_is_named_and_costs_only_itself(
    command: Command, questions: Path, corpus: Path, folder: Path, options: tuple[str, ...], code: int
) -> None:
    done = command("augment", questions, "--corpus", corpus, *SMALL, "--retriever", "fragile", *options)

    first, second = read_traces(folder / "questions-augmented.jsonl")
    assert done.exit_code == code
    assert f"Failed: retrieval: the search for '{FAN}' failed: ConnectionError: the fan index is down" in done.stdout
    assert [step.error is None for step in first.steps] == [True, False, True, True]
    assert "1 question could not be augmented." in done.stdout
    assert second.steps == ()
    assert "too damp" in second.metadata["augmentation"]["failures"][0]["message"]


def test_a_question_that_fails_is_in_both_files_and_in_the_document(
    command: Command, questions: Path, corpus: Path, folder: Path
) -> None:
    options = (*SMALL, "--retriever", "fragile", "--baseline", "before.jsonl", "--json")

    document = json.loads(command("augment", questions, "--corpus", corpus, *options).stdout)

    assert document["summary"]["failed"] == 1
    assert document["questions"][1]["failed"].startswith("retrieval: the retriever failed on every search")
    assert [trace.id for trace in read_traces(folder / "before.jsonl")] == ["t1", "t2"]


def test_a_generator_answers_in_both_files(command: Command, questions: Path, corpus: Path, folder: Path) -> None:
    options = (*SMALL, "--generator", "writes:small", "--decompose-with", "rules", "--baseline", "before.jsonl")

    command("augment", questions, "--corpus", corpus, *options)

    for name in ("before.jsonl", "questions-augmented.jsonl"):
        assert {trace.answer for trace in read_traces(folder / name)} == {"It is loud at night."}


def test_an_answer_that_fails_is_told_and_the_passages_are_kept(
    command: Command, questions: Path, corpus: Path, folder: Path
) -> None:
    done = command(
        "augment", questions, "--corpus", corpus, *SMALL, "--generator", "silent:x", "--decompose-with", "rules", "--strict"
    )

    first, _ = read_traces(folder / "questions-augmented.jsonl")
    assert done.exit_code == 4
    assert re.search(r"Failed \(2 times\): timeout: .*60 s", done.stdout)
    assert first.answer is None
    assert len(first.prompt or ()) == 3


@pytest.mark.parametrize("mode", ["definition", "subquestions", "end-to-end"])
def test_modes_that_do_not_search_for_the_question_alone_are_compared_with_one_that_does(
    command: Command, questions: Path, corpus: Path, mode: str
) -> None:
    options = (*WORDS, "--top-k", "1", "--mode", mode, "--generator", "writes:small", "--json")

    summary = json.loads(command("augment", questions, "--corpus", corpus, *options).stdout)["summary"]

    assert (summary["core"], summary["uncompared"], summary["covered_before"]) == (3, 0, 1)


def test_questions_without_sub_questions_are_split_by_a_file(
    command: Command, questions: Path, corpus: Path, folder: Path, make: Make
) -> None:
    bare = make(folder / "bare.jsonl", [{"question": "Will the pump be noisy?"}])

    command("augment", bare, "--corpus", corpus, *SMALL, "--decompose-with", questions)

    (trace,) = read_traces(folder / "bare-augmented.jsonl")
    assert [sub.text for sub in trace.sub_questions or ()] == [FAN, LIMITS, "What is noise?"]


def test_questions_without_sub_questions_are_split_by_rules(command: Command, corpus: Path, folder: Path, make: Make) -> None:
    bare = make(folder / "bare.jsonl", ['{"question": "How loud is the fan, and where does damp gather?"}', ""])

    done = command("augment", bare, "--corpus", corpus, *SMALL)

    (trace,) = read_traces(folder / "bare-augmented.jsonl")
    assert done.exit_code == 0
    assert trace.sub_questions
    assert {"fan", "damp"} <= {passage.id for passage in trace.prompt or ()}


@pytest.mark.parametrize(
    ("words", "queries"),
    [
        ((), {"Who shot the film?", "Who shot the film? Ludvík Šváb Prague"}),
        (("--feedback", "0"), {"Who shot the film?"}),
    ],
)
def test_a_question_that_is_not_split_is_searched_for_with_names_unless_told_otherwise(
    command: Command, folder: Path, make: Make, words: tuple[str, ...], queries: set[str]
) -> None:
    asked = make(folder / "asked.jsonl", [{"question": "Who shot the film?"}])
    films = make(folder / "films.jsonl", [{"id": "film", "text": "The film was shot by Ludvík Šváb in Prague."}])

    done = command("augment", asked, "--corpus", films, *WORDS, *words)

    (trace,) = read_traces(folder / "asked-augmented.jsonl")
    assert done.exit_code == 0
    assert {step.query for step in trace.steps} == queries


@pytest.mark.parametrize(("receiver", "searched"), [("reads", "When was Spielberg born?"), ("none", "When was born?")])
def test_a_sub_question_that_builds_on_another_is_searched_for_with_its_answer(
    command: Command, folder: Path, make: Make, receiver: str, searched: str
) -> None:
    films = make(folder / "films.jsonl", [{"text": "Jaws was directed by Spielberg."}, {"text": "Spielberg was born in 1946."}])
    steps = ["Who directed Jaws?", "When was #1 born?"]
    asked = make(folder / "asked.jsonl", [{"question": "How old is the man of Jaws?", "sub_questions": steps}])

    command("augment", asked, "--corpus", films, *WORDS, "--top-k", "2", "--receiver", receiver)

    (trace,) = read_traces(folder / "asked-augmented.jsonl")
    assert searched in [step.query for step in trace.steps]


def test_a_sub_question_of_which_nothing_is_left_is_not_compared(
    command: Command, folder: Path, make: Make, corpus: Path
) -> None:
    asked = make(folder / "asked.jsonl", [{"question": "Will the pump be noisy?", "sub_questions": [FAN, "#1?"]}])

    done = command("augment", asked, "--corpus", corpus, *WORDS, "--baseline", "before.jsonl", "--json")

    assert done.exit_code == 0
    assert [each["text"] for each in json.loads(done.stdout)["questions"][0]["compared"]] == [FAN]


def test_the_worth_of_searches_is_measured_where_there_are_references(
    command: Command, questions: Path, corpus: Path, folder: Path
) -> None:
    done = command("augment", questions, "--corpus", corpus, *SMALL, "--receiver", "words", "--utility")

    first, second = read_traces(folder / "questions-augmented.jsonl")
    assert "An extra search was worth" in done.stdout
    assert all("utility" in bought for bought in first.metadata["augmentation"]["bought"])
    assert not any("utility" in bought for bought in second.metadata["augmentation"].get("bought", ()))


def test_an_interrupt_keeps_what_is_done(command: Command, folder: Path, make: Make) -> None:
    asked = [{"question": f"Will pump {number} be noisy?", "sub_questions": [FAN]} for number in range(9)]
    file = make(folder / "asked.jsonl", [*asked, {"question": "ctrl-c", "sub_questions": ["Press ctrl-c?"]}])
    broken = make(folder / "broken.jsonl", [*PASSAGES, {"text": "Press ctrl-c"}])

    done = command(
        "augment", file, "--corpus", broken, "--judge", "moody", "--retriever", "words", "--receiver", "none", "--top-k", "1",
        "--workers", "1",
    )  # fmt: skip

    assert done.exit_code == 130
    assert "Interrupted. 9 traces written to asked-augmented.jsonl." in done.stderr
    assert len(list(read_traces(folder / "asked-augmented.jsonl"))) == 9


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--mode", "retreival"), 2, "Did you mean 'retrieval'?"),
        (("--mode", "end-to-end"), 2, "name who does with --generator"),
        (("--top-k", "0"), 2, "--top-k"),
        (("--max-calls", "0"), 2, "--max-calls"),
        (("--threshold", "2"), 2, "--threshold"),
        (("--retriever", "wrds"), 2, "Did you mean 'words'?"),
        (("--corpus-column", "txt=body"), 2, "a passage has no field 'txt'"),
        (("--decompose-with", "nowhere.jsonl"), 3, "no such file"),
        (("--corpus", "nowhere.jsonl"), 3, "no such file"),
        (("--out", "nowhere/out.jsonl"), 3, "name another file"),
        (("--out", "same.jsonl", "--baseline", "same.jsonl"), 2, "both before and after"),
        (("--utility", "--judge", "moody", "--receiver", "words"), 2, "--entailer"),
    ],
)
def test_the_exit_code_tells_whose_fault_it_was(
    command: Command, questions: Path, corpus: Path, folder: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    done = command("augment", questions, "--corpus", corpus, *WORDS, *words)

    assert done.exit_code == code, done.stderr
    assert said in done.stderr
    assert not list(folder.glob("*augmented*"))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"question": " "}'], "a question needs a text; this one is blank"),
        (['{"question": "a", "id": "1"}', '{"question": "b", "id": "1"}'], "trace id '1' was given at line 1 already"),
        ([""], "the file holds no traces"),
    ],
)
def test_questions_that_cannot_be_read_are_bad_input(
    command: Command, corpus: Path, folder: Path, make: Make, lines: list[str], said: str
) -> None:
    broken = make(folder / "broken.jsonl", lines)

    done = command("augment", broken, "--corpus", corpus, *WORDS)

    assert done.exit_code == 3
    assert said in done.stderr


def test_a_corpus_without_passages_is_bad_input(command: Command, questions: Path, folder: Path, make: Make) -> None:
    done = command("augment", questions, "--corpus", make(folder / "empty.jsonl", [""]), *WORDS)

    assert done.exit_code == 3
    assert "the file holds no passages" in done.stderr


def test_without_a_corpus_there_is_nothing_to_search(command: Command, questions: Path) -> None:
    done = command("augment", questions)

    assert done.exit_code == 2
    assert "--corpus" in done.stderr


def test_a_worth_without_references_is_refused_before_anything_runs(
    command: Command, corpus: Path, folder: Path, make: Make
) -> None:
    bare = make(folder / "bare.jsonl", [{"question": "Why?"}])

    done = command("augment", bare, "--corpus", corpus, *WORDS, "--utility")

    assert done.exit_code == 3
    assert "no question here has references" in done.stderr
