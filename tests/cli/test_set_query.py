"""A question with set operations in, everything that belongs out; what cannot be asked or found is said in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import Backend, Failure, ScoringItem
from rag_cover.english.words import content_words
from rag_cover.errors import ModelFailedError
from rag_cover.hooks import hook
from rag_cover.plugin_manager import plugins
from rag_cover.questions import Passage
from rag_cover.setqueries import SetAnswer, SetQuery
from rag_cover.stores import read_traces
from rag_cover.testing import KeywordLocator, ScriptedGenerator

Command = Callable[..., Any]
Make = Callable[..., Path]

QUESTION = "birds of Chile that are also birds of Peru but not pets"
BIRDS = [
    {"title": "Inca tern", "text": "One of the birds of Chile, and of the birds of Peru."},
    {"title": "Finch", "text": "One of the birds of Chile and of Peru. They are kept as pets."},
    {"title": "Parakeet", "text": "One of the birds of Chile."},
    {"title": "Hamster", "text": "They are kept as pets."},
]
READ = json.dumps({"sets": ["birds of Chile", "birds of Peru", "pets"], "expression": "A & B - C"})
READS = ScriptedGenerator({"unicorns": Failure("timeout", "60 s")}, default=READ, name="reads:small")
WORDS = ("--judge", "strict", "--retriever", "words", "--parser", "grammar")


@dataclass(frozen=True)
class StrictScorer:
    """Judges that something belongs where its text holds all words of what is asked for."""

    threshold: float = 0.5
    fingerprint: str = "strict"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("earthquake" in item.text for item in items):
            message = "the judge fell over"
            raise ModelFailedError(message)
        if any("ctrl-c" in item.text for item in items):
            raise KeyboardInterrupt
        wanted = [content_words(item.question) - {"example"} for item in items]
        return np.array([words <= content_words(item.text) for words, item in zip(wanted, items, strict=True)], np.float32)


@dataclass(frozen=True)
class DeafRetriever:
    """Fails on searches for one word, finds nothing for another, and everything for the rest."""

    passages: tuple[Passage, ...]

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        if "Peru" in query:
            message = "no line to Peru"
            raise ConnectionError(message)
        return () if "Mars" in query else self.passages[:k]


class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [
            Backend("strict", "all words", scorer=lambda _: StrictScorer(), locator=lambda _: KeywordLocator()),
            Backend("deaf", "fails on purpose", retriever=lambda corpus, _index: DeafRetriever(tuple(corpus))),
            Backend("reads", "reads by a script", generator=lambda _: READS),
        ]


@pytest.fixture(autouse=True)
def _plugin() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin, "testing-set-queries")
    yield
    plugins().unregister(plugin)


@pytest.fixture
def corpus(folder: Path, make: Make) -> Path:
    return make(folder / "birds.jsonl", BIRDS)


def test_what_belongs_is_shown_with_the_words_that_tell(command: Command, corpus: Path) -> None:
    done = command("set-query", QUESTION, "--corpus", corpus, *WORDS)

    lines = " ".join(done.stdout.replace("│", " ").split())
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"{QUESTION} Read as A ∩ B \\ C" in lines
    assert "sure, by grammar A Birds of Chile B Birds of Peru C pets taken away" in lines
    assert "1 entity belongs to it, of 3 candidates that the searches found." in lines
    assert "Entity, and what tells P A B C" in lines
    assert "Inca tern 1.00 1.00 1.00 0.00 A “One of the birds of Chile, and of the birds of Peru.”" in lines
    assert "Left out, the likeliest first, and why: ≤0.00 Finch: matches 'pets' (1.00)" in lines
    assert "3 searches · 3 candidates · 6 pairs judged · kept above 0.50 · judge strict" in lines


@pytest.mark.parametrize("parser", ["grammar", "reads:small"])
def test_who_reads_is_chosen(command: Command, corpus: Path, parser: str) -> None:
    done = command("set-query", QUESTION, "--corpus", corpus, *WORDS, "--parser", parser, "--json")

    document = json.loads(done.stdout)
    assert [each["name"] for each in document["entities"]] == ["Inca tern"]
    assert document["parsed"]["source"].endswith(parser)


def test_the_embedded_reader_needs_no_corpus_to_show_how_it_reads(command: Command, embedded_judge: str) -> None:
    done = command("set-query", QUESTION, "--parse-only", "--parser", embedded_judge)

    assert done.exit_code == 0
    assert "Read as A ∩ B \\ C" in done.stdout
    assert "entit" not in done.stdout


@pytest.mark.parametrize(
    ("question", "modifiers", "shown"),
    [
        ("Spanish war films", "read", "with modifiers set to split the question is read as"),
        ("Spanish war films", "split", "Read as A ∩ B"),
        ("Spanish films that are war films", "joined", "Read as one atom"),
        ('"Spanish war films"', "split", "Read as one atom"),
    ],
)
def test_modifiers_are_taken_as_they_are_asked_for(command: Command, question: str, modifiers: str, shown: str) -> None:
    done = command("set-query", question, "--parse-only", "--modifiers", modifiers)

    assert done.exit_code == 0
    assert shown in " ".join(done.stdout.replace("│", " ").split())


def test_set_algebra_is_taken_as_it_is_given(command: Command, corpus: Path) -> None:
    expression = "('birds of Chile' & birds of Peru) - pets"

    done = command("set-query", "--expression", expression, "--corpus", corpus, *WORDS)

    assert "Given as A ∩ B \\ C" in done.stdout
    assert "sure" not in done.stdout
    assert "1 entity belongs to it" in done.stdout


def test_json_is_one_document_that_is_read_back(command: Command, corpus: Path) -> None:
    done = command("set-query", QUESTION, "--corpus", corpus, *WORDS, "--json", "--out", "answer.jsonl")

    document = json.loads(done.stdout)
    assert (document.pop("schema"), document.pop("out")) == (1, "answer.jsonl")
    answer = SetAnswer.from_dict(document)
    assert answer.names == ("Inca tern",)
    assert answer.query == (SetQuery.atom("Birds of Chile") & "Birds of Peru") - "pets"


def test_a_reading_alone_is_one_document_too(command: Command) -> None:
    document = json.loads(command("set-query", "Why is the sky blue?", *WORDS[4:], "--parse-only", "--json").stdout)

    assert document["parsed"]["query"] == {"atom": "Why is the sky blue?"}
    assert document["schema"] == 1


def test_the_answer_is_written_as_a_trace_that_can_be_measured(command: Command, corpus: Path, folder: Path) -> None:
    done = command("set-query", QUESTION, "--corpus", corpus, *WORDS, "--out", "answer.jsonl")

    (trace,) = read_traces(folder / "answer.jsonl")
    measured = command("evaluate", "answer.jsonl", "--judge", "words", "--no-store", "--no-report")
    assert "The answer is in answer.jsonl. Next: rag-cover evaluate answer.jsonl" in done.stdout
    assert [step.kind for step in trace.steps] == ["retrieve", "retrieve", "retrieve", "fuse"]
    assert [passage.title for passage in trace.prompt or ()] == ["Inca tern"]
    assert (trace.pipeline, trace.metadata["set_query"]["entities"]) == ("set query", ["Inca tern"])
    assert measured.exit_code == 0


def test_nothing_is_cut_without_saying_how_much(command: Command, folder: Path, make: Make) -> None:
    many = make(folder / "many.jsonl", [{"title": f"tern {n}", "text": "birds of Chile"} for n in range(5)])
    pets = make(folder / "pets.jsonl", [{"title": f"hen {n}", "text": "birds of Chile, pets"} for n in range(4)])

    kept = command("set-query", "birds of Chile", "--corpus", many, *WORDS, "--show", "2")
    none = command("set-query", "birds of Chile that are not pets", "--corpus", pets, *WORDS, "--show-left-out", "3")

    assert "tern 1" in kept.stdout
    assert "tern 2" not in kept.stdout
    assert "… 3 more belong; --show 5 lists all" in kept.stdout
    assert "… 1 more was left out; --show-left-out 4 lists all" in none.stdout


def test_quiet_prints_nothing_and_writes_all_the_same(command: Command, corpus: Path, folder: Path) -> None:
    done = command("set-query", QUESTION, "--corpus", corpus, *WORDS, "--quiet", "--out", "answer.jsonl")

    assert (done.stdout, done.stderr) == ("", "")
    assert len(list(read_traces(folder / "answer.jsonl"))) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "what is to be found? Ask in words"),
        (("birds", "--expression", "birds"), "ask in one way"),
        (("birds",), "name the passages to search: --corpus FILE"),
        (("  ", "--parse-only"), "blank"),
        (("not birds", "--parse-only"), "names nothing to start from; say of what it is taken away"),
        (("--expression", '"birds', "--parse-only"), "the quote at character 1 of the set query is not closed; close it"),
        (("--expression", " | ".join(f"birds {n}" for n in range(21)), "--parse-only"), "has 21 atoms; at most 20"),
        (("birds", "--parse-only", "--parser", "gramar"), "Did you mean 'grammar'?"),
        (("birds", "--parse-only", "--parser", "words"), "offers no generator"),
        (("birds", "--corpus", "birds.jsonl", "--threshold", "1.5"), "less than or equal to 1"),
        (("birds", "--corpus", "birds.jsonl", "--threshold", "1"), "give a number below 1"),
        (("birds", "--corpus", "birds.jsonl", "--corpus-column", "text"), "is not FIELD=COLUMN"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_next_step(
    command: Command, corpus: Path, words: tuple[str, ...], said: str
) -> None:
    assert corpus.name == "birds.jsonl"
    readers = () if "--parser" in words else WORDS

    done = command("set-query", *readers, *words)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_passages_to_try_it_with_are_named(command: Command) -> None:
    from rag_cover.demo import corpus_path

    done = command("set-query", "birds", *WORDS)

    assert str(corpus_path()) in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "the file holds no passages"),
        (['{"text": "a"}', "{bad"], "line 2: not JSON"),
        (['{"text": "a", "bird": "b"}'], "line 1"),
    ],
)
def test_a_corpus_that_cannot_be_read_is_bad_input(
    command: Command, folder: Path, make: Make, content: list[str], said: str
) -> None:
    broken = make(folder / "broken.jsonl", content)

    done, missing = (command("set-query", "birds", "--corpus", path, *WORDS) for path in (broken, folder / "none.jsonl"))

    assert (done.exit_code, missing.exit_code) == (3, 3)
    assert said in done.stderr
    assert "there is no such file; check the path" in missing.stderr


def test_a_trace_that_could_not_be_written_is_refused_before_anything_is_judged(command: Command, corpus: Path) -> None:
    done = command("set-query", "birds", "--corpus", corpus, *WORDS, "--out", "nowhere/answer.jsonl")

    assert done.exit_code == 3
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("question", "retriever", "said"),
    [
        ("birds of Chile that are not birds of Chile", "words", "Nothing can belong to it: it contradicts itself."),
        ("zebras", "words", "Nothing belongs to it: the searches found no candidate."),
        ("zebras", "words", "the search for 'zebras' found nothing"),
        ("birds of Mars or stones of Mars", "deaf", "Nothing belongs to it: the searches found no candidate."),
        ("birds of Fiji", "words", "Nothing belongs to it, as far as the judge can tell of any of 3 candidates."),
        ("birds of Fiji", "words", "so nothing belongs to what needs it"),
        ("birds of Chile but not birds of Fiji", "words", "so nothing is taken away for it"),
    ],
)
def test_an_empty_answer_is_explained(command: Command, corpus: Path, question: str, retriever: str, said: str) -> None:
    done = command("set-query", question, "--corpus", corpus, *WORDS, "--retriever", retriever)

    assert done.exit_code == 0
    assert said in " ".join(done.stdout.replace("│", " ").split())


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 4)])
def test_a_search_that_fails_is_told_and_costs_only_itself(
    command: Command, corpus: Path, options: tuple[str, ...], code: int
) -> None:
    question = "birds of Chile or birds of Peru"

    done = command("set-query", question, "--corpus", corpus, *WORDS, "--retriever", "deaf", *options)

    assert done.exit_code == code
    assert "no line to Peru" in done.stdout
    assert "3 entities belong to it" in done.stdout


def test_a_retriever_that_fails_on_all_searches_ends_the_command(command: Command, corpus: Path, folder: Path) -> None:
    done = command("set-query", "birds of Peru", "--corpus", corpus, *WORDS, "--retriever", "deaf", "--out", "answer.jsonl")

    assert done.exit_code == 4
    assert "no search succeeded: ConnectionError: no line to Peru" in done.stderr
    assert not (folder / "answer.jsonl").exists()


def test_a_candidate_that_cannot_be_judged_is_left_out_and_told(command: Command, folder: Path, make: Make) -> None:
    shaken = make(folder / "shaken.jsonl", [*BIRDS, {"title": "Ruin", "text": "birds of Chile after the earthquake"}])

    done = command("set-query", "birds of Chile", "--corpus", shaken, *WORDS, "--strict")

    assert done.exit_code == 4
    assert "Failed: ModelFailedError: the judge fell over" in done.stdout
    assert "? Ruin: could not be judged by 'Birds of Chile'" in done.stdout
    assert "3 entities belong to it" in done.stdout


@pytest.mark.parametrize("as_json", [False, True])
def test_a_model_that_cannot_read_fails_with_what_it_said(command: Command, corpus: Path, *, as_json: bool) -> None:
    options = ("--parser", "reads:small", *(["--json"] if as_json else []))

    done = command("set-query", "unicorns", "--corpus", corpus, *WORDS, *options)

    assert (done.exit_code, done.stdout) == (4, "")
    assert "Error: the question could not be read as a set query: 60 s" in done.stderr


def test_many_questions_are_answered_and_a_failing_one_costs_only_itself(
    command: Command, corpus: Path, folder: Path, make: Make
) -> None:
    asked = [
        {"id": "t1", "question": {"text": QUESTION, "id": "q1", "references": ["Inca tern"]}, "metadata": {"by": "a friend"}},
        {"question": "not birds"},
        {"question": "birds of Chile"},
    ]
    questions = make(folder / "questions.jsonl", asked)

    done = command("set-query", "--questions", questions, "--corpus", corpus, *WORDS, "--out", "answers.jsonl", "--strict")

    first, second, _ = read_traces(folder / "answers.jsonl")
    assert done.exit_code == 4
    assert "2 questions answered, with 4 entities in all; 1 could not be answered." in done.stdout
    assert "unreadable: the question only says what is not wanted" in done.stdout
    assert (first.id, first.question.id, first.question.references) == ("t1", "q1", ("Inca tern",))
    assert (first.metadata["by"], first.metadata["set_query"]["entities"]) == ("a friend", ["Inca tern"])
    assert second.steps == ()
    assert second.metadata["set_query"]["failures"][0]["kind"] == "unreadable"


def test_many_questions_are_read_by_a_model_in_one_call(command: Command, corpus: Path, folder: Path, make: Make) -> None:
    questions = make(
        folder / "questions.jsonl", [{"question": QUESTION}, {"question": f"{QUESTION}?"}, {"question": "unicorns"}]
    )
    before = READS.asked.calls

    done = command("set-query", "--questions", questions, "--corpus", corpus, *WORDS, "--parser", "reads:small", "--json")

    document = json.loads(done.stdout)
    assert READS.asked.calls - before == 1
    assert [[entity["name"] for entity in each["entities"]] for each in document["answers"][:2]] == [["Inca tern"]] * 2
    assert document["answers"][2]["failed"] == "timeout: the question could not be read as a set query: 60 s"


def test_readings_of_many_questions_are_shown_one_by_one(command: Command, folder: Path, make: Make) -> None:
    questions = make(folder / "questions.jsonl", [{"question": QUESTION}, {"question": "not birds"}])

    shown = command("set-query", "--questions", questions, "--parse-only", *WORDS)
    document = json.loads(command("set-query", "--questions", questions, "--parse-only", *WORDS, "--json").stdout)

    assert "Read as A ∩ B \\ C" in shown.stdout
    assert "'not birds' could not be read: the question only says what is not wanted" in shown.stderr
    assert [sorted(each) for each in document["readings"]][1] == ["failed", "question"]


@pytest.mark.parametrize(("out", "said"), [((), "Nothing was written."), (("--out", "a.jsonl"), "1 trace written to a.jsonl.")])
def test_an_interrupt_keeps_what_was_answered(
    command: Command, folder: Path, make: Make, out: tuple[str, ...], said: str
) -> None:
    corpus = make(folder / "birds.jsonl", [*BIRDS, {"title": "Cat", "text": "ctrl-c"}])
    questions = make(folder / "questions.jsonl", [{"question": QUESTION}, {"question": "things to ctrl-c"}])

    done = command("set-query", "--questions", questions, "--corpus", corpus, *WORDS, *out)

    assert done.exit_code == 130
    assert f"Interrupted. {said}" in done.stderr


HOSTILE = "\x1b[31m[red]Tern[/red]\u202e\x07"


def test_hostile_texts_are_shown_and_do_nothing(command: Command, folder: Path, make: Make) -> None:
    evil = make(folder / "evil.jsonl", [{"title": HOSTILE, "text": f"{HOSTILE} birds of Chile {HOSTILE}"}])
    words = ("--corpus", evil, *WORDS)

    shown = [
        command("set-query", f"birds of Chile {HOSTILE}", *words),
        command("set-query", "birds of Chile", *words),
        command("set-query", f"birds of Chile but not '{HOSTILE}'", *words),
        command("set-query", "--expression", f'birds of Chile - "{HOSTILE}"', *words),
        command("set-query", "--expression", HOSTILE, *words),
        command("set-query", HOSTILE, *words, "--parser", HOSTILE),
    ]

    for done in shown:
        assert not {"\x1b", "\u202e", "\x07"} & {*done.stdout, *done.stderr}
    assert "[red]Tern[/red]⟦RLO⟧" in shown[1].stdout


@pytest.mark.slow
def test_a_terminal_without_unicode_is_shown_signs_that_can_be_typed(process: Command) -> None:
    questions = ("set-query", QUESTION, "--parse-only", "--parser", "grammar")

    done = process(*questions, env={"PYTHONIOENCODING": "ascii", "COLUMNS": "80"})

    assert done.exit_code == 0
    assert "Read as A & B \\ C" in done.stdout
