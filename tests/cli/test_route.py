"""Questions routed by the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import Backend
from rag_cover.english.words import content_words
from rag_cover.hooks import hook
from rag_cover.plugin_manager import plugins
from rag_cover.questions import Passage
from rag_cover.routing import Adjustment, Caimira, HeldOut, Responses, SkillRecord, encode
from rag_cover.stats.intervals import Interval

Command = Callable[..., Any]
CORPUS = [{"text": "The tower is old."}, {"text": "Steel makes a tower tall."}, {"text": "Bread is baked in Ulm."}]


@dataclass(frozen=True)
class Shelf:
    """Retrieves passages that share a content word with the query."""

    passages: tuple[Passage, ...]

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        return [passage for passage in self.passages if content_words(query) & content_words(passage.text)][:k]


@dataclass(frozen=True)
class Letters:
    """Embeds a text by whether it asks when, or who."""

    fingerprint: str = "letters"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[1.0, 0.0] if "when" in text.lower() else [0.0, 1.0] for text in texts], dtype=np.float32)


@dataclass(frozen=True)
class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [
            Backend(
                "letters",
                "embeds by two words, and retrieves by words",
                embedder=lambda _model: Letters(),
                retriever=_shelf,
            ),
            Backend("digits", "embeds by something else", embedder=lambda _model: Letters("digits")),
        ]


def _shelf(corpus: Iterable[Passage] | Path, index: Path | None) -> Shelf:
    assert not isinstance(corpus, Path)
    if index is not None:
        index.mkdir()
    return Shelf(tuple(corpus))


@pytest.fixture(autouse=True)
def _letters() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin, "testing-letters")
    yield
    plugins().unregister(plugin)


@pytest.fixture
def corpus(folder: Path, make: Callable[..., Path]) -> tuple[str, ...]:
    make(folder / "passages.jsonl", CORPUS)
    return "--corpus", "passages.jsonl", "--retriever", "letters", "--judge", "words"


@pytest.fixture(scope="module")
def model() -> Caimira:
    """Fit a small agent that knows when, and a large one that knows nearly all."""
    pytest.importorskip("scipy", reason="needs rag-cover[skills]")
    questions = [f"{('when', 'who')[number % 2]} was number {number}" for number in range(120)]
    values = [[float(number % 2 == 0), float(number % 8 != 0)] for number in range(120)]
    return Caimira(dimensions=2, shrinkage=0.3).fit(
        Responses(["small", "large"], questions, values), encode(questions, Letters()), encoder="letters"
    )


@pytest.fixture
def keep(folder: Path, model: Caimira) -> Callable[..., tuple[str, ...]]:
    """Keep the model's skills."""

    def kept(adjustment: Adjustment | None = None) -> tuple[str, ...]:
        model.save(folder / "skills")
        responses = Responses(model.agents, ["when a", "who b"], [[1.0, 1.0], [0.0, 1.0]])
        table = np.zeros((2, 2))
        figures = HeldOut(0.5, 0.6, Interval(0.1, 0.0, 0.2, 2), None)
        SkillRecord("said so", responses, table + 0.5, table, table + 0.5, figures, adjustment).save(folder / "skills")
        return "--skills", "skills", "--judge", "words", "--embedder", "letters"

    return kept


@pytest.fixture
def skills(keep: Callable[..., tuple[str, ...]]) -> tuple[str, ...]:
    return keep()


@pytest.fixture
def costs(folder: Path, make: Callable[..., Path]) -> tuple[str, ...]:
    make(folder / "costs.json", ['{"small": 1, "large": 4}'])
    return "--costs", "costs.json"


def routed(done: Any) -> list[str]:
    assert done.exit_code == 0, done.stderr
    return [each["route"] for each in json.loads(done.stdout)["routes"]]


def test_a_question_that_one_passage_answers_goes_the_direct_way(command: Command, corpus: tuple[str, ...]) -> None:
    done = command("route", "What makes a tower tall?", *corpus)

    assert done.exit_code == 0
    assert "Route: direct" in done.stdout
    assert "Steel makes a tower tall." in done.stdout


def test_a_question_that_nothing_is_found_for_is_given_up(command: Command, corpus: tuple[str, ...]) -> None:
    (route,) = json.loads(command("route", "Why is rain wet?", *corpus, "--json").stdout)["routes"]

    assert (route["question"], route["route"], route["probability"]) == ("Why is rain wet?", "abstain", None)
    assert route["reason"] == "Nothing was retrieved for it."


def test_the_index_of_a_corpus_is_kept_where_one_is_named(command: Command, corpus: tuple[str, ...], folder: Path) -> None:
    assert routed(command("route", "What makes a tower tall?", *corpus, "--index", "kept", "--json")) == ["direct"]

    assert (folder / "kept").is_dir()


def test_an_index_without_a_corpus_is_wrong_usage(command: Command, skills: tuple[str, ...]) -> None:
    done = command("route", "Who?", *skills, "--index", "kept")

    assert done.exit_code == 2
    assert "give --corpus, too" in " ".join(done.stderr.split())


def test_a_cut_decides_in_place_of_the_thresholds(command: Command, corpus: tuple[str, ...]) -> None:
    asked = "What makes a tower tall?"

    assert routed(command("route", asked, *corpus, "--cut", "0", "--json")) == ["decompose"]
    assert routed(command("route", asked, *corpus, "--cut", "0.9", "--json")) == ["direct"]


def test_several_questions_come_from_a_file_too(
    command: Command, corpus: tuple[str, ...], folder: Path, make: Callable[..., Path]
) -> None:
    make(folder / "questions.jsonl", [{"question": "Who baked bread in Ulm?"}, {"question": {"text": "Why rain?", "id": "7"}}])

    done = command("route", "What makes a tower tall?", "--questions", "questions.jsonl", *corpus)

    lines = done.stdout.splitlines()
    assert [line.split("?")[0].strip() for line in lines if "?" in line] == [
        "What makes a tower tall",
        "Who baked bread in Ulm",
        "Why rain",
    ]
    assert "abstain" in done.stdout


def test_the_likeliest_pipeline_is_taken_without_costs(command: Command, skills: tuple[str, ...]) -> None:
    done = command("route", "Who baked it?", *skills)

    assert "Route: large" in done.stdout
    assert "is the likeliest to succeed" in done.stdout


def test_the_cheapest_that_is_likely_enough_is_taken(command: Command, skills: tuple[str, ...], costs: tuple[str, ...]) -> None:
    asked = ("When was it?", "Who was it?")

    assert routed(command("route", *asked, *skills, *costs, "--target", "0.7", "--json")) == ["small", "large"]


def test_a_budget_is_kept(command: Command, skills: tuple[str, ...], costs: tuple[str, ...]) -> None:
    assert routed(command("route", "Who was it?", *skills, *costs, "--budget", "2", "--json")) == ["small"]


def test_an_adjustment_is_used_with_a_corpus(
    command: Command, keep: Callable[..., tuple[str, ...]], corpus: tuple[str, ...]
) -> None:
    sinks = Adjustment(("small", "large"), 0.0, np.array([0.0, -99.0]), np.zeros((2, 2)), np.zeros(2), np.ones(2))
    skills = keep(sinks)

    assert routed(command("route", "Who baked bread?", *skills, *corpus, "--json")) == ["small"]
    without = command("route", "Who baked bread?", *skills, "--json")
    assert routed(without) == ["large"]
    assert "give --corpus to use it" in without.stderr


def test_a_corpus_without_an_adjustment_is_said_to_change_nothing(
    command: Command, skills: tuple[str, ...], corpus: tuple[str, ...]
) -> None:
    done = command("route", "Who baked bread?", *skills, *corpus)

    assert done.exit_code == 0
    assert "so --corpus changes nothing" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("route",), "give a question"),
        (("route", " "), "this one is blank"),
        (("route", "Why?"), "route by what?"),
        (("route", "Why?", "--target", "0.5"), "give --skills, too"),
        (("route", "Why?", "--subject", "law"), "give --skills, too"),
        (("route", "Why?", "--target", "1.5"), "--target"),
    ],
)
def test_what_cannot_be_routed_is_wrong_usage(command: Command, words: tuple[str, ...], said: str) -> None:
    done = command(*words)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "0.5"), "needs --costs"),
        (("--cut", "0.5"), "without --skills"),
        (("--costs", "costs.json", "--budget", "0.5"), "no agent costs at most 0.5; the cheapest is small with 1"),
    ],
)
def test_wishes_that_cannot_be_met_are_wrong_usage(
    command: Command, skills: tuple[str, ...], costs: tuple[str, ...], words: tuple[str, ...], said: str
) -> None:
    done = command("route", "Why?", *skills, *words)

    assert costs[1] == "costs.json"
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [("--corpus", "none.jsonl", "--judge", "words"), ("--skills", "none"), ("--skills", "skills", "--costs", "none.json")],
)
def test_files_that_are_not_there_are_bad_input(command: Command, skills: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = command("route", "Why?", *words, "--embedder", "letters")

    assert skills[1] == "skills"
    assert done.exit_code == 3


def test_skills_of_another_embedder_are_bad_input(command: Command, skills: tuple[str, ...]) -> None:
    done = command("route", "Why?", *skills[:4], "--embedder", "digits")

    assert done.exit_code == 3
    assert "letters" in done.stderr
