"""Skills learnt and shown by the command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import Backend
from rag_cover.hooks import hook
from rag_cover.measures import TraceResult
from rag_cover.plugin_manager import plugins
from rag_cover.stores import Store
from rag_cover.traces import Trace

pytest.importorskip("scipy", reason="needs rag-cover[skills]")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("skills")]

Command = Callable[..., Any]
TIMES, PEOPLE = "when was thing", "who made thing"
MODELS = ("--judge", "words", "--embedder", "letters")


@dataclass(frozen=True)
class Letters:
    """Embeds a text by its letters."""

    fingerprint: str = "letters"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = np.array([[text.lower().count(letter) for letter in "abcdefghmnotw"] for text in texts], dtype=np.float32)
        return np.asarray(counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9), dtype=np.float32)


@dataclass(frozen=True)
class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [Backend("letters", "embeds by letters", embedder=lambda _model: Letters())]


@pytest.fixture(autouse=True)
def _letters() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin, "testing-letters")
    yield
    plugins().unregister(plugin)


def lines(pipeline: str | None, n: int = 60, *, good_at: str = TIMES) -> list[dict[str, Any]]:
    """Make traces of a pipeline that answers one kind of question well, and the other now and then."""
    asked = [f"{(TIMES, PEOPLE)[number % 2]} {number}" for number in range(n)]
    return [
        {
            "question": {"text": text},
            "answer": "made",
            "pipeline": pipeline,
            "steps": [{"passages": ["a thing was made"]}],
            "metadata": {"good": text.startswith(good_at) or number % 7 == 0},
        }
        for number, text in enumerate(asked)
    ]


@pytest.fixture
def stores(folder: Path) -> list[str]:
    """Keep what a pipeline for times and one for people answered."""
    for name, good_at in (("times", TIMES), ("people", PEOPLE)):
        keep(folder / f"{name}.sqlite", lines(name, good_at=good_at))
    return ["--store", "times.sqlite", "--store", "people.sqlite"]


def keep(path: Path, traces: Sequence[dict[str, Any]]) -> None:
    with Store.open(path) as store:
        store.append([(place, "", TraceResult(Trace.model_validate(trace))) for place, trace in enumerate(traces)])
        store.meta["evaluation"] = {"judge": "words", "measures": [], "seed": 0}
        store.finished = True


@pytest.fixture(scope="module")
def skills_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the first test that needs skills keeps them for the others."""
    return tmp_path_factory.mktemp("skills")


@pytest.fixture
def skills(command: Command, stores: list[str], folder: Path, skills_folder: Path) -> str:
    if not any(skills_folder.iterdir()):
        done = command("skills", "fit", *stores, "--success", "label:good", *MODELS, "--dimensions", "2", "--quiet")
        assert done.exit_code == 0, done.stderr
        shutil.copytree(folder, skills_folder, dirs_exist_ok=True)
    shutil.copytree(skills_folder, folder, dirs_exist_ok=True)
    return "skills"


def test_skills_are_fitted_and_kept(command: Command, stores: list[str], folder: Path) -> None:
    done = command("skills", "fit", *stores, "--success", "label:good", *MODELS, "--dimensions", "2")

    assert done.exit_code == 0
    assert "succeeds on" in done.stdout
    assert "Success: 'good' in the traces' metadata." in " ".join(done.stdout.split())
    assert "Skills: skills" in done.stdout
    assert (folder / "skills.record.json").exists()


def test_skills_that_learned_nothing_are_not_kept_without_force(command: Command, folder: Path) -> None:
    for name, good in (("times", "0"), ("people", "1")):  # chance decides who is right, whatever is asked
        chance = np.random.default_rng(int(good)).random(60) < 0.5
        traces = lines(name, good_at=TIMES)
        for trace, right in zip(traces, chance, strict=True):
            trace["metadata"] = {"good": bool(right)}
        keep(folder / f"{name}.sqlite", traces)
    words = ("skills", "fit", "--store", "times.sqlite", "--store", "people.sqlite", "--success", "label:good", *MODELS)

    refused = command(*words)
    kept = (folder / "skills.record.json").exists()
    forced = command(*words, "--force")

    assert (refused.exit_code, kept) == (3, False)
    assert "Nothing was learned: on 60 held-out questions the skills predict not clearly better than" in refused.stderr
    assert forced.exit_code == 0
    assert (folder / "skills.record.json").exists()


@pytest.mark.nightly
def test_the_document_tells_how_good_predictions_are(command: Command, stores: list[str]) -> None:
    done = command("skills", "fit", *stores, "--success", "label:good", *MODELS, "--json")

    document = json.loads(done.stdout)
    assert (document["questions"], document["responses"]) == (60, 120)
    assert document["held_out"]["log_loss"] < document["held_out"]["agent_means_log_loss"]
    assert {agent["name"] for agent in document["agents"]} == {"times", "people"}


def outcome_table(path: Path, n: int = 60) -> None:
    """Write who is right on times and on people, with costs, as another tool has it; the words say nothing of it."""
    rows = [
        f"{place},thing {place},{('times', 'people')[place % 2]},{_right(place, 0)},1,{_right(place, 1)},3"
        for place in range(n)
    ]
    path.write_text("\n".join(["sample_id,prompt,eval_name,a,a|total_cost,b,b|total_cost", *rows]), encoding="utf-8")


def _right(place: int, good_at: int) -> int:
    return int(place % 2 == good_at or place % 7 == 0)


def test_skills_are_learnt_from_a_table_with_its_subjects_and_costs(command: Command, folder: Path) -> None:
    outcome_table(folder / "table.csv")

    done = command("skills", "fit", "--table", "table.csv", *MODELS, "--json")
    routes = [
        json.loads(command("route", "thing 8", "--skills", "skills", *MODELS, "--subject", subject, "--json").stdout)["routes"]
        for subject in ("times", "people")
    ]
    by_cost = command("route", "thing 8", "--skills", "skills", *MODELS, "--target", "0.1", "--json")

    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert any(note.startswith("Subjects are a feature of 60 of 60 questions: people, times.") for note in document["notes"])
    assert document["frontier"] is not None
    assert len(document["held_out"]["dimensions"]) == 5
    assert [route["route"] for (route,) in routes] == ["a", "b"]
    assert json.loads(by_cost.stdout)["routes"][0]["route"] == "a"


def test_a_bad_cell_of_a_table_is_told_with_its_place(command: Command, folder: Path) -> None:
    (folder / "table.csv").write_text("question,model,outcome\nWho?,a,1\nWho?,b,good\n", encoding="utf-8")

    done = command("skills", "fit", "--table", "table.csv", *MODELS)

    assert done.exit_code == 3
    assert "table.csv, line 3" in done.stderr
    assert "outcome: the string 'good' is no outcome" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "learn from what?"),
        (("--table", "table.csv", "--store", "run.sqlite"), "leave out --store"),
        (("--table", "table.csv", "--success", "correct"), "leave out --store"),
        (("--table", "table.csv", "--complexity"), "leave out --store"),
    ],
)
def test_one_source_of_outcomes_is_needed(command: Command, words: tuple[str, ...], said: str) -> None:
    done = command("skills", "fit", *words, *MODELS)

    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_without_references_coverage_counts(command: Command, folder: Path, make: Callable[..., Path]) -> None:
    traces = [
        trace | {"sub_questions": [{"text": "was it made", "role": "core"}]} for name in "ab" for trace in lines(name, 24)
    ]
    make(folder / "traces.jsonl", traces)
    command("evaluate", "traces.jsonl", "--judge", "words", "--no-report", "--store", "run.sqlite")

    document = json.loads(command("skills", "fit", "--store", "run.sqlite", *MODELS, "--json").stdout)

    assert document["criterion"] == "the answer covers at least 50% of the core sub-questions"


def test_the_page_shows_agents_and_the_frontier(command: Command, skills: str, folder: Path, make: Callable[..., Path]) -> None:
    make(folder / "costs.json", ['{"times": 1, "people": 3}'])

    done = command("skills", "report", skills, "--costs", "costs.json", "--out", "report.html")

    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Report: report.html" in done.stdout
    assert "What quality costs" in page
    assert "<bdi>times</bdi>" in page


def test_the_page_is_named_after_the_skills(command: Command, skills: str, folder: Path) -> None:
    document = json.loads(command("skills", "report", skills, "--json").stdout)

    assert document["report"] == "skills.html"
    assert (folder / "skills.html").exists()
    assert document["frontier"] is None


@pytest.mark.nightly
def test_complexity_may_be_judged_for_an_adjustment(command: Command, stores: list[str]) -> None:
    done = command("skills", "fit", *stores, "--success", "label:good", *MODELS, "--complexity", "--json")

    assert "Adjustment by complexity" in " ".join(json.loads(done.stdout)["notes"])


@pytest.mark.nightly
def test_a_nameless_pipeline_is_named_after_its_store(command: Command, folder: Path) -> None:
    keep(folder / "a.sqlite", lines(None, good_at=TIMES))
    keep(folder / "b.sqlite", lines(None, good_at=PEOPLE))

    done = command("skills", "fit", "--store", "a.sqlite", "--store", "b.sqlite", "--success", "label:good", *MODELS, "--json")

    assert {agent["name"] for agent in json.loads(done.stdout)["agents"]} == {"a", "b"}


def test_one_pipeline_is_bad_input_with_what_to_do(command: Command, stores: list[str]) -> None:
    done = command("skills", "fit", *stores[:2], "--success", "label:good", *MODELS)

    assert done.exit_code == 3
    assert "All 60 traces come from one pipeline, 'times'" in done.stderr
    assert "give both stores" in done.stderr


def test_too_few_questions_are_bad_input(command: Command, folder: Path) -> None:
    keep(folder / "few.sqlite", [*lines("a", 9), *lines("b", 9)])

    done = command("skills", "fit", "--store", "few.sqlite", "--success", "label:good", *MODELS)

    assert done.exit_code == 3
    assert "20 questions at least, not 9" in done.stderr


def test_a_judge_that_does_not_embed_asks_for_an_embedder(command: Command, stores: list[str]) -> None:
    done = command("skills", "fit", *stores, "--success", "label:good", "--judge", "words")

    assert done.exit_code == 2
    assert "no embedder" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--store", "nothing.sqlite"), 3, "nothing.sqlite"),
        (("--success", "corect"), 2, "'correct', 'coverage' or 'label:KEY'"),
        (("--success", "label:stars"), 3, "its metadata has no 'stars' (120)"),
    ],
)
def test_wrong_words_end_in_a_sentence(
    command: Command, stores: list[str], words: tuple[str, ...], code: int, said: str
) -> None:
    done = command("skills", "fit", *stores, *MODELS, *words)

    assert done.exit_code == code
    assert said in done.stderr


def test_skills_that_are_not_there_are_bad_input(command: Command) -> None:
    done = command("skills", "report", "nowhere")

    assert done.exit_code == 3
    assert "nowhere" in done.stderr


def test_a_damaged_record_is_bad_input(command: Command, skills: str, folder: Path) -> None:
    (folder / "skills.record.json").write_text('{"schema": 1}', encoding="utf-8")

    done = command("skills", "report", skills)

    assert done.exit_code == 3
    assert "fit them again" in done.stderr


@pytest.mark.parametrize(
    ("table", "code", "said"),
    [
        ("[1, 2]", 3, "costs are JSON such as"),
        ('{"times": "much"}', 3, "costs are JSON such as"),
        ('{"times": 1}', 2, "no cost is given of 'people'"),
        ('{"times": 1, "people": 1, "peple": 2}', 2, "Did you mean 'people'?"),
        ('{"times": 1, "people": -1}', 2, "at least 0"),
    ],
)
def test_costs_that_do_not_fit_are_told(
    command: Command, skills: str, folder: Path, make: Callable[..., Path], table: str, code: int, said: str
) -> None:
    make(folder / "costs.json", [table])

    done = command("skills", "report", skills, "--costs", "costs.json")

    assert done.exit_code == code
    assert said in done.stderr
