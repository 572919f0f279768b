"""Runs with ``--redact``: no text of the traces is left in any file that they write, nor on the terminal."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rag_cover.backends import Backend, Failure, Generation, Prompt
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.hooks import hook
from rag_cover.plugin_manager import plugins

WORDS = ("--judge", "words", "--entailer", "words", "--receiver", "words")
UTILITY = ("--receiver", "words", "--entailer", "words")
PERSON = "Erika Mustermann"


@pytest.fixture
def secret(folder: Path, make: Callable[..., Path], one: Callable[..., dict[str, Any]]) -> Path:
    """Write traces with texts in every place that may hold one."""
    lines = [_full(one(number), number) for number in range(3)]
    inputs = folder / "inputs"
    inputs.mkdir()
    return make(inputs / "traces.jsonl", lines)


@pytest.mark.parametrize("way", [["--redact"], ["--redact-key", "inputs/key"]])
@pytest.mark.parametrize("command_words", [["evaluate", *WORDS], ["utility", *UTILITY], ["complexity", "--judge", "words"]])
def test_no_text_is_left_in_any_file_or_on_the_terminal(
    command: Callable[..., Any], secret: Path, folder: Path, way: list[str], command_words: list[str]
) -> None:
    (folder / "inputs" / "key").write_text("a key of thirty-two bytes or so.")
    kept = ["--store", "run.sqlite", "--report", "run.html"]

    shown = command(command_words[0], secret, *command_words[1:], *kept, *way)
    as_json = command(command_words[0], secret, *command_words[1:], *kept, *way, "--resume", "--json")
    reported = command("report", "run.sqlite", "-o", "again.html")

    texts = _texts_of(secret)
    assert [each.exit_code for each in (shown, as_json, reported)] == [0, 0, 0]
    for ended in (shown, as_json, reported):
        assert not _leaked(f"{ended.stdout}{ended.stderr}".encode(), texts)
    written = [path for path in folder.iterdir() if path.is_file()]
    assert {path.name for path in written} >= {"run.sqlite", "run.html", "again.html"}
    for path in written:
        assert not [text for content in _contents(path) for text in _leaked(content, texts)], path


def test_a_store_that_held_texts_is_begun_anew_without_them(command: Callable[..., Any], secret: Path, folder: Path) -> None:
    command("evaluate", secret, *WORDS, "--store", "run.sqlite", "--no-report")
    before = [text for content in _contents(folder / "run.sqlite") for text in _leaked(content, _texts_of(secret))]

    ended = command("evaluate", secret, *WORDS, "--store", "run.sqlite", "--no-report", "--redact", "--force")

    assert before
    assert ended.exit_code == 0
    for path in folder.glob("run.sqlite*"):
        assert not [text for content in _contents(path) for text in _leaked(content, _texts_of(secret))]


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ([], ["--redact"], "holds results with their texts"),
        (["--redact"], [], "add redact=True (--redact"),
        (["--redact"], ["--redact-key", "key"], "by another key"),
    ],
)
def test_a_store_is_not_resumed_in_another_way(
    command: Callable[..., Any], secret: Path, folder: Path, first: list[str], then: list[str], told: str
) -> None:
    (folder / "key").write_text("a key of thirty-two bytes or so.")
    command("evaluate", secret, *WORDS, "--store", "run.sqlite", "--no-report", *first)

    ended = command("evaluate", secret, *WORDS, "--store", "run.sqlite", "--no-report", "--resume", *then)

    assert ended.exit_code == ExitCode.BAD_INPUT
    assert told in " ".join(ended.stderr.split())


def test_what_is_wrong_with_a_file_is_not_quoted(command: Callable[..., Any], folder: Path, make: Callable[..., Path]) -> None:
    make(folder / "bad.jsonl", [{"question": "Why?", "answer": "x"}, {"question": "Why?", "answer": [PERSON]}])

    stopped = command("evaluate", "bad.jsonl", "--redact")
    skipped = command("evaluate", "bad.jsonl", "--redact", "--on-bad-line", "skip", "--json", "--no-report", "--no-store")

    assert stopped.exit_code == ExitCode.BAD_INPUT
    assert "bad.jsonl, line 2, at $.answer: something is wrong here" in stopped.stderr
    for ended in (stopped, skipped):
        assert PERSON not in ended.stdout + ended.stderr
    assert "line 2" in json.loads(skipped.stdout)["skipped"][0]


def test_compared_files_are_redacted_too(command: Callable[..., Any], secret: Path, folder: Path) -> None:
    other = secret.with_name("other.jsonl")
    other.write_text(secret.read_text().replace("blue because", "grey because"))

    ended = command("compare", secret, other, "--judge", "words", "--redact", "--report", "comparison.html")

    texts = _texts_of(secret)
    assert ended.exit_code == 0
    assert not _leaked(ended.stdout.encode(), texts)
    for path in (path for path in folder.iterdir() if path.is_file()):
        assert not [text for content in _contents(path) for text in _leaked(content, texts)], path


def test_studied_files_are_redacted_too(command: Callable[..., Any], folder: Path, make: Callable[..., Path], one: Any) -> None:
    lines = [
        _full(one(number), number) | {"pipeline": f"k={k}", "id": f"{PERSON} {number} {k}"}
        for number in range(3)
        for k in (1, 2)
    ]
    make(folder / "study.jsonl", lines)

    ended = command("study", "study.jsonl", "--by", "k", *UTILITY, "--redact", "--report", "study.html", "--json")

    assert ended.exit_code == 0
    assert PERSON not in ended.stdout
    assert PERSON not in (folder / "study.html").read_text()
    assert [figures["setting"] for figures in json.loads(ended.stdout)["settings"]] == [{"k": 1}, {"k": 2}]


@pytest.mark.parametrize("words", [["--out", "out.jsonl"], ["--corpus", "inputs/traces.jsonl", "--index", "index"]])
def test_files_of_texts_are_refused(command: Callable[..., Any], secret: Path, folder: Path, words: list[str]) -> None:
    ended = command("complexity", secret, *words, "--redact")

    assert ended.exit_code == ExitCode.USAGE
    assert "leave this out" in " ".join(ended.stderr.split())
    assert not (folder / "out.jsonl").exists()


@pytest.mark.parametrize(("way", "kept"), [([], True), (["--redact"], False)])
def test_answers_of_remote_models_are_not_kept_beside_a_redacted_store(
    command: Callable[..., Any], folder: Path, make: Callable[..., Path], way: list[str], *, kept: bool
) -> None:
    make(folder / "plain.jsonl", [{"question": "Why is the sky blue, and the sea?", "answer": "Light."}])
    plugins().register(_Remote(), "remote-model")
    try:
        command("evaluate", "plain.jsonl", "--judge", "words", "--generator", "far:model", "--measure", "coverage", *way)
    finally:
        plugins().unregister(name="remote-model")

    assert bool(list(folder.glob("*.answers.sqlite"))) == kept


class _Remote:
    """A model far away, that keeps its answers where the run says."""

    fingerprint = "far"
    run: Any = None

    @hook
    def backends(self) -> list[Backend]:
        return [Backend("far", "far away", generator=self._opened)]

    def _opened(self, _model: str) -> Any:
        return self

    def for_run(self, run: Any) -> _Remote:
        self.run = run
        return self

    def generate(self, prompts: Sequence[Prompt], *_: Any, **__: Any) -> list[Generation]:
        self.run.keep({"key": PERSON.encode()})
        return [Generation((), failure=Failure("far", PERSON)) for _ in prompts]


def _full(trace: Mapping[str, Any], number: int) -> dict[str, Any]:
    about = f"{PERSON} {number}"
    passages = [
        {"text": f"sky {number} is blue, writes {about}", "title": f"Letter of {about}", "id": f"{about}.pdf"},
        {"text": "dust scatters light", "metadata": {about: {"author": [about]}}},
    ]
    step = {"id": f"asked by {about}", "query": f"sky of {about}", "passages": passages, "error": f"timeout of {about}"}
    samples = [{"text": f"scattering, says {about}"}, {"text": "no idea at all"}]
    drawn = [
        {"receiver": "far", "context": context, "samples": samples} | ({"step": step["id"]} if context == "after" else {})
        for context in ("none", "after")
    ]
    return {
        **trace,
        "question": {
            "text": f"Why is sky {number} blue, {about}?",
            "id": f"{about}@example.org",
            "references": [f"of {about}"],
        },
        "id": f"trace of {about}",
        "answer": f"The sky {number} is blue because of {about}",
        "steps": [step],
        "prompt": passages[:1],
        "samples": drawn,
        "metadata": {
            "customer": about,
            about: 3,
            "query_type": f"type of {about}",
            "retriever": {step["id"]: f"index {about}"},
        },
    }


def _texts_of(path: Path) -> list[str]:
    data = [json.loads(line) for line in path.read_text().splitlines()]
    kinds = {"far", "none", "after", "core", "question", "answer", "query_type", "retriever"}
    return [text for text in {*_strings(data)} if len(text) > 3 and text not in kinds and " " in text]


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, item in value.items():
                yield from (name, *_strings(item))
        case list():
            for item in value:
                yield from _strings(item)


def _leaked(content: bytes, texts: list[str]) -> list[str]:
    return [text for text in [PERSON, *texts] if text.encode() in content or json.dumps(text)[1:-1].encode() in content]


def _contents(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes; of a database, also whatever it holds packed, in rows and anywhere between."""
    content = path.read_bytes()
    yield content
    start = content.find(b"\x78\x9c")
    while start >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(content[start:])
        start = content.find(b"\x78\x9c", start + 1)
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as connection:
            for table in ("results", "meta"):
                for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608
                    for cell in row:
                        yield zlib.decompress(cell) if isinstance(cell, bytes) else str(cell).encode()
        connection.close()
