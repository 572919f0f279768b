"""The command as a shell sees it: exit codes, signals, pipes, no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Store
from rag_cover.demo import trace_paths

JUDGE = """
import os
import signal
import time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background inherits that it is ignored
from rag_cover.backends import Backend
from rag_cover.hooks import hook
from rag_cover.plugin_manager import plugins
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer
class Interrupted(KeywordScorer):
    # presses Ctrl-C while it judges the fourth block
    def correctness(self, items):
        if self.asked.calls == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)
        return super().correctness(items)
class Plugin:
    @hook
    def backends(self):
        words = Backend(
            "words", "judges by words",
            scorer=lambda _: KeywordScorer(), locator=lambda _: KeywordLocator(), entailer=lambda _: KeywordEntailer(),
        )
        return [words, Backend("interrupted", "stops half-way", scorer=lambda _: Interrupted())]
plugins().register(Plugin())
"""
NO_NETWORK = """
import socket
def refuse(*_):
    raise SystemExit("tried to connect")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--quiet"], 0),
        (["--quiet", "--fail-under", "core_coverage=0.99"], 1),
        (["--fail-under", "nothing=0.99"], 2),
        (["--no-such-option"], 2),
        (["--store", "no/such/folder/kept.sqlite"], 3),
    ],
)
def test_a_shell_sees_the_exit_code(process: Callable[..., Any], traces: Path, words: list[str], code: int) -> None:
    done = process("evaluate", traces.name, "--judge", "words", *words, before=JUDGE)

    assert done.exit_code == code
    assert "Traceback" not in done.stderr


def test_python_runs_the_command_as_a_module(folder: Path) -> None:
    run = [sys.executable, "-m", "rag_cover"]

    told = subprocess.run([*run, "--version"], capture_output=True, cwd=folder, text=True, check=False)
    refused = subprocess.run([*run, "no-such-command"], capture_output=True, cwd=folder, text=True, check=False)

    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("rag-cover ")
    assert refused.returncode == 2
    assert "python -m rag_cover --help" in refused.stderr


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(process: Callable[..., Any], traces: Path, folder: Path) -> None:
    process("evaluate", traces.name, "--judge", "words", before=JUDGE)
    command = [sys.executable, "command.py", "evaluate", traces.name, "--judge", "words", "--force"]
    for form in ([], ["--json"]):
        with subprocess.Popen(
            [*command, *form], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, text=True
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.close()

            assert running.stderr.read() == ""
            assert running.wait() == 0


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_exits_with_130(
    folder: Path, make: Callable[..., Path], one: Callable[..., Any], process: Callable[..., Any]
) -> None:
    make(folder / "traces.jsonl", [one(number) for number in range(300)])

    done = process(
        "evaluate", "traces.jsonl", "--measure", "coverage", "--judge", "interrupted", "--workers", "1", before=JUDGE
    )

    assert done.exit_code == 130, done.stderr
    assert "kept in traces-coverage.sqlite; run the same command with --resume to go on" in done.stderr
    with Store.open(folder / "traces-coverage.sqlite", create=False) as store:
        assert 0 < len(store) < 300


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.slow
def test_output_to_a_full_disk_is_no_failed_gate(
    process: Callable[..., Any], traces: Path, folder: Path, form: list[str]
) -> None:
    process("evaluate", traces.name, "--judge", "words", before=JUDGE)
    command = [sys.executable, "command.py", "evaluate", traces.name, "--judge", "words", "--force", *form]

    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=folder, text=True, check=False)

    assert done.returncode == 3
    assert "Error: the output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_output_that_the_terminal_cannot_show_is_no_error(process: Callable[..., Any], traces: Path) -> None:
    done = process("evaluate", traces.name, "--judge", "words", before=JUDGE, env=os.environ | {"PYTHONIOENCODING": "ascii"})

    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.nightly
def test_the_embedded_judge_makes_no_connection_and_finds_where_each_pipeline_loses(
    process: Callable[..., Any], command: Callable[..., Any], embedded_judge: str
) -> None:
    few = ("--judge", embedded_judge, "--limit", "5", "--quiet")

    ended = [process("evaluate", str(path), *few, before=NO_NETWORK) for path in trace_paths()]

    compared = command("compare", "narrow-coverage.sqlite", "forgetful-coverage.sqlite", "--json")
    narrow, forgetful = (json.loads(compared.stdout)[f"losses_{side}"] for side in "ab")
    assert [(done.exit_code, done.stderr) for done in ended] == [(0, "")] * 2
    assert narrow["not retrieved"] > forgetful["not retrieved"]
    assert narrow["in the prompt, not used"] < forgetful["in the prompt, not used"]
