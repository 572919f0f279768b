from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_cover.backends import Backend, Failure
from rag_cover.decomposition.prompts import SHIPPED_PROMPTS
from rag_cover.hooks import hook
from rag_cover.plugin_manager import plugins
from rag_cover.questions import Role
from rag_cover.stores import read_traces
from rag_cover.testing import ScriptedGenerator

SPLIT, TYPES = '["Does air scatter light?", "What is light?"]', "1. core\n2. background"
GENERATOR = ScriptedGenerator(
    {
        "storms": Failure("timeout", "no answer in 60 s"),
        "My own words.": '["Whose words?"]',
        "purpose: decompose": SPLIT,
        "purpose: type": TYPES,
    },
    name="scripted:small",
)


class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [Backend("scripted", "writes by a script", generator=lambda _model: GENERATOR)]


@pytest.fixture(autouse=True)
def _scripted() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin, "testing-generator")
    yield
    plugins().unregister(plugin)


@pytest.fixture
def questions(folder: Path, make: Callable[..., Path]) -> Path:
    lines = [{"question": "Why is the sky blue?"}, {"question": "Why is grass green?", "sub_questions": ["What is grass?"]}]
    return make(folder / "questions.jsonl", lines)


def by_model(command: Callable[..., Any], *words: str | Path) -> Any:
    return command("decompose", *words, "--generator", "scripted:small", "--embedder", "none")


def test_rules_split_offline(command: Callable[..., Any], questions: Path) -> None:
    done = command("decompose", questions, "--out", "decomposed.jsonl", "--max-sub-questions", "2")

    sky, grass = read_traces("decomposed.jsonl")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "2 questions: 0 split into several sub-questions, 1 left whole (they ask one thing, or several that rules do not "
        "split), 1 kept with the sub-questions of the file (--again replaces them). Written to decomposed.jsonl.\n"
        "Next: rag-cover evaluate decomposed.jsonl\n"
    )
    assert sky.sub_questions is not None
    assert 1 <= len(sky.sub_questions) <= 2
    assert grass.sub_questions is not None
    assert [sub.text for sub in grass.sub_questions] == ["What is grass?"]


def test_a_model_splits_and_is_named_with_every_sub_question(command: Callable[..., Any], questions: Path) -> None:
    done = by_model(command, questions, "--out", "decomposed.jsonl", "--again")

    for trace in read_traces("decomposed.jsonl"):
        assert trace.sub_questions is not None
        assert [(sub.role, sub.role_source) for sub in trace.sub_questions] == [
            (Role.CORE, "model:scripted:small"),
            (Role.BACKGROUND, "model:scripted:small"),
        ]
    assert "2 questions: 2 split into several sub-questions. Written to decomposed.jsonl." in done.stdout


def test_what_was_asked_once_is_not_asked_again(command: Callable[..., Any], questions: Path) -> None:
    by_model(command, questions, "--out", "decomposed.jsonl")
    before = GENERATOR.asked.calls

    by_model(command, questions, "--out", "decomposed.jsonl", "--force")
    kept = GENERATOR.asked.calls - before
    by_model(command, questions, "--out", "decomposed.jsonl", "--no-cache", "--force")

    assert (kept, GENERATOR.asked.calls - before) == (0, 2)


@pytest.mark.parametrize(("options", "exit_code"), [((), 0), (("--strict",), 4)])
def test_a_question_that_could_not_be_split_is_told_and_kept(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], options: tuple[str, ...], exit_code: int
) -> None:
    file = make(folder / "q.jsonl", [{"question": "Why do storms form?"}, {"question": "Why is the sky blue?"}])

    done = by_model(command, file, "--out", "decomposed.jsonl", *options)

    storm, sky = read_traces("decomposed.jsonl")
    assert done.exit_code == exit_code
    assert "1 could not be split: timeout: the question could not be split: no answer in 60 s" in done.stderr
    assert storm.sub_questions is None
    assert sky.sub_questions is not None


def test_what_was_split_is_evaluated(
    command: Callable[..., Any], questions: Path, folder: Path, make: Callable[..., Path]
) -> None:
    by_model(command, questions, "--out", "decomposed.jsonl")
    traces = make(folder / "traces.jsonl", [{"question": "why is the sky blue?", "answer": "Air scatters light."}])

    done = command("evaluate", traces, "--judge", "words", "--sub-questions", "decomposed.jsonl", "--json")

    summary = json.loads(done.stdout)["summary"]
    assert summary["metrics"]["core_coverage"]["estimate"] == 1.0
    assert not any("rules" in note for note in summary["notes"])


def test_a_question_that_the_file_does_not_hold_is_a_failure(
    command: Callable[..., Any], questions: Path, folder: Path, make: Callable[..., Path]
) -> None:
    by_model(command, questions, "--out", "decomposed.jsonl")
    other = make(folder / "other.jsonl", [{"question": "Why do cats purr?", "answer": "Nobody knows."}])

    done = command("evaluate", other, "--judge", "words", "--sub-questions", "decomposed.jsonl", "--json", "--strict")

    assert done.exit_code == 4
    assert "holds no sub-questions of this question" in done.stdout


def test_an_evaluation_may_name_the_model_that_splits(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path]
) -> None:
    traces = make(folder / "traces.jsonl", [{"question": "Why is the sky blue?", "answer": "Air scatters light."}])

    done = command("evaluate", traces, "--judge", "words", "--generator", "scripted:small", "--json")

    assert "sub-questions made by scripted:small, not by a person: 1 of 1 traces" in json.loads(done.stdout)["summary"]["notes"]


def test_prompts_are_printed_edited_and_passed_back(command: Callable[..., Any], questions: Path, folder: Path) -> None:
    shown = command("decompose", "--show-prompts").stdout
    (folder / "prompts.toml").write_text(f"{shown.partition('decompose =')[0]}decompose = 'My own words.'", encoding="utf-8")

    by_model(command, questions, "--out", "decomposed.jsonl", "--prompts", "prompts.toml")

    assert shown == SHIPPED_PROMPTS.read_text(encoding="utf-8")
    first = next(read_traces("decomposed.jsonl"))
    assert first.sub_questions is not None
    assert [sub.text for sub in first.sub_questions] == ["Whose words?"]


def test_prompts_that_cannot_be_read_exit_with_3(command: Callable[..., Any], questions: Path, folder: Path) -> None:
    (folder / "prompts.toml").write_text("decompos = 'x'", encoding="utf-8")

    done = by_model(command, questions, "--out", "decomposed.jsonl", "--prompts", "prompts.toml")

    assert done.exit_code == 3
    assert "Did you mean 'decompose'?" in done.stderr


def test_a_backend_without_a_generator_is_named(command: Callable[..., Any], questions: Path) -> None:
    done = command("decompose", questions, "--out", "decomposed.jsonl", "--generator", "words")

    assert done.exit_code == 2
    assert "Backend 'words' offers no generator" in done.stderr


def test_an_interrupt_keeps_what_was_split(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make(folder / "q.jsonl", [{"question": f"Why is sky {number} blue?"} for number in range(40)])
    generate, calls = ScriptedGenerator.generate, iter(range(10))

    def impatient(self: ScriptedGenerator, *prompts: Any, **options: Any) -> Any:
        if next(calls) == 2:  # the second block
            raise KeyboardInterrupt
        return generate(self, *prompts, **options)

    monkeypatch.setattr(ScriptedGenerator, "generate", impatient)

    done = by_model(command, file, "--out", "decomposed.jsonl")

    assert done.exit_code == 130
    assert "'rag-cover decompose decomposed.jsonl --out decomposed.jsonl --force' goes on" in done.stderr
    assert sum(trace.sub_questions is not None for trace in read_traces("decomposed.jsonl")) == 32
