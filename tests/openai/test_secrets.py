"""Keys and passwords: a scan of all that a run says, logs and writes finds none, whatever the server does with them."""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_cover.backends import fingerprint_of
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage, Question
from rag_cover.registry import open_embedder, open_generator
from rag_cover.traces import RetrievalStep, Trace

pytest.importorskip("openai", reason="needs openai (extra openai)")

MODEL = "openai:small"
SECRET = "very-secret-0123456789abcdef"  # noqa: S105  # that is the point
COMMAND = """
import logging
logging.basicConfig(level=logging.DEBUG)
from rag_cover.cli import main
main()
"""


def opened(**options: Any) -> Any:
    """Open the model, which tells more than a Generator must."""
    return open_generator(MODEL, **options)


def said(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join([caplog.text, *(f"{record.args} {record.exc_info}" for record in caplog.records)])


def reply(body: dict[str, Any]) -> str:
    """Split, type and judge; and repeat the key here and there, as no server should."""
    prompt = str(body["messages"])
    if "<sub_question" in prompt:
        return json.dumps({"types": [{"number": 1, "type": "core"}, {"number": 2, "type": "background"}]})
    if "<text>" not in prompt:
        return json.dumps({"sub_questions": ["Is it blue?", f"Is it {SECRET}?"]})
    if "Sky 2" in prompt:
        return f"I judge nothing, {SECRET}."
    asked = len(re.findall("<question number", prompt))
    verdict = {"answered": True, "probability": 0.9, "fragment": "blue"}
    return json.dumps({"verdicts": [{"question": number, **verdict} for number in range(1, asked + 1)]})


def trace(number: int) -> Trace:
    steps = (RetrievalStep(query="sky", passages=(Passage(f"Sky {number} is blue and far."),)),)
    return Trace(question=Question(f"What colour is sky {number}?"), steps=steps, answer=f"Sky {number} is blue today.")


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Read every file as it lies there, and what databases hold packed."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()
            if path.suffix == ".sqlite":
                yield path, b"\n".join(_unpacked(path))


def _unpacked(path: Path) -> Iterator[bytes]:
    with sqlite3.connect(path) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for value in [value for table in tables for row in database.execute(f"SELECT * FROM {table}") for value in row]:  # noqa: S608
            yield zlib.decompress(value) if isinstance(value, bytes) else str(value).encode()
    database.close()


@pytest.mark.parametrize("wrong", ["", "-wrong"])
@pytest.mark.slow
def test_nothing_a_run_says_or_writes_holds_the_key(server: Any, tmp_path: Path, fault: Callable[..., Any], wrong: str) -> None:
    seen: list[tuple[Path, bytes]] = []

    def watching(body: dict[str, Any]) -> str:
        seen.extend((path, path.read_bytes()) for path in tmp_path.glob("*.sqlite-wal"))
        return reply(body)

    server.reply, server.needs_key = watching, SECRET
    server.faults = [
        fault("echo"),
        fault(status=500, message=f"crashed with {SECRET}"),
        fault(status=403, message=f"not with {SECRET}"),
        fault(status=400, message=f"Authorization: Bearer {SECRET}"),
        fault("broken"),
    ]
    (tmp_path / "traces.jsonl").write_text("".join(f"{trace(number).to_json()}\n" for number in range(8)), encoding="utf-8")
    (tmp_path / "prices.json").write_text('{"small": {"prompt": 1, "completion": 1}}')
    environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": SECRET + wrong, "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-c", COMMAND, "evaluate", "traces.jsonl", "--measure", "coverage", "--workers", "1", "--json"]
    models = ["--judge", MODEL, "--generator", MODEL, "--prices", "prices.json"]

    done = subprocess.run(
        [*command, *models, "--store", "run.sqlite", "--report", "run.html"],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )

    assert done.returncode == (4 if wrong else 0), done.stderr[-2_000:]  # with a wrong key nothing is measured
    outcomes = json.loads(done.stdout)["summary"]["outcomes"]["coverage"]
    assert (outcomes["failed"] == 8) is bool(wrong)
    assert b"DEBUG:openai" in done.stderr
    files = list(contents(tmp_path))
    kept = {path.name for path, _ in files}
    assert kept >= {"run.sqlite", "run.html"} | (set() if wrong else {"run.answers.sqlite"})
    assert wrong or seen
    everything = [*files, *seen, (Path("stdout"), done.stdout), (Path("stderr"), done.stderr)]
    assert not {path.name for path, content in everything if SECRET.encode() in content}


def test_the_scan_would_find_a_key(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "kept.sqlite") as database:
        database.execute("CREATE TABLE answers (packed BLOB)")
        database.execute("INSERT INTO answers VALUES (?)", (zlib.compress(f"the key is {SECRET}".encode() * 9),))
    database.close()

    found = [path.name for path, content in contents(tmp_path) if SECRET.encode() in content]

    assert found == ["kept.sqlite"]


def test_user_and_password_of_an_address_are_sent_and_never_told(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    basic = base64.b64encode(f"me:{SECRET}".encode()).decode()
    server.faults = [fault(status=500, message=f"crashed with {SECRET} and Basic {basic}"), fault(status=403, message=basic)]
    url = options["base_url"].replace("127.0.0.1", f"me:{SECRET}@127.0.0.1")
    generator = opened(**options | {"base_url": url})

    (refused,), (answered,) = generator.generate(["A?"]), generator.generate(["B?"])

    assert answered.failure is None
    assert {headers["authorization"] for headers in server.headers} == {f"Basic {basic}"}
    assert fingerprint_of(generator) == f"{MODEL}@{options['base_url']}"
    told = f"{refused} {said(caplog)}"
    assert not [secret for secret in (SECRET, basic) if secret in told]


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1?key={}", "http://127.0.0.1:1/v1#{}", "me:{}@127.0.0.1:1/v1"])
def test_an_address_that_holds_a_key_elsewhere_is_refused_and_not_repeated(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    with pytest.raises(InvalidValueError) as raised:
        opened(base_url=address.format(SECRET)).generate(["A?"])

    assert SECRET not in f"{raised.value} {raised.value.__cause__} {raised.value.__context__} {said(caplog)}"


@pytest.mark.parametrize(
    "echo", ["Incorrect API key provided: {}.", "{}", "You sent 'Bearer {}'", "Incorrect API key: very-sec*****cdef."]
)
def test_a_refusal_is_told_in_the_servers_words_without_the_key(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], echo: str
) -> None:
    server.faults = [fault(status=401, message=echo.format(SECRET))]

    (generation,) = opened(**options | {"api_key": SECRET}).generate(["A?"])

    assert generation.failure is not None
    assert generation.failure.message.startswith("openai:small: the server answered 401: ")
    assert "***" in generation.failure.message
    assert not [part for part in (SECRET, "very-sec", "cdef") if part in generation.failure.message]


def test_what_calls_itself_an_answer_is_kept_without_the_key(
    server: Any, options: dict[str, Any], fault: Callable[..., Any]
) -> None:
    server.faults = [fault("echo")]

    (generation,) = opened(**options | {"api_key": SECRET}).generate(["A?"])

    assert generation.failure is not None
    assert "I was sent Bearer ***" in (generation.failure.raw or "")


def test_a_short_dummy_key_changes_no_answer(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: "I must test a message"

    (generation,) = opened(**options | {"api_key": "test"}).generate(["A?"])

    assert generation.samples[0].text == "I must test a message"


def test_a_server_without_a_key_may_call_things_unneeded(
    server: Any, options: dict[str, Any], fault: Callable[..., Any]
) -> None:
    server.faults = [fault(status=400, message="that is unneeded")]

    (generation,) = opened(**options | {"api_key": None}).generate(["A?"])

    assert generation.failure is not None
    assert generation.failure.message.endswith("that is unneeded")


def test_an_administrators_key_is_not_sent_as_a_models(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ADMIN_KEY", SECRET)

    (generation,) = opened(base_url=server.base_url).generate(["A?"])

    assert generation.failure is None
    assert not [headers for headers in server.headers if SECRET in str(headers)]


def test_models_do_not_show_their_key(options: dict[str, Any]) -> None:
    embedder: Any = open_embedder(MODEL, **options | {"api_key": SECRET})
    embedder.embed(["a"])

    assert SECRET not in repr(vars(embedder)) + repr(vars(vars(embedder)["_client"]))
