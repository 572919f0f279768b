"""Embedded runs make no connection: commands as they are typed, in a process where making a socket is an error, and told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from rag_cover.demo import corpus_path, trace_paths
from rag_cover.stores import read_traces, write_traces

COMMANDS = """
demo --out demo
evaluate traces.jsonl --measure coverage --measure groundedness --measure complexity --redact
utility traces.jsonl --receiver embedded --samples 2
complexity traces.jsonl --corpus corpus.jsonl --top-k 3
augment traces.jsonl --corpus corpus.jsonl --top-k 3 --out augmented.jsonl
judge check --labels labels.csv
"""
SET_QUERY = ["set-query", "heat pumps that are quiet but not cheap", "--corpus", "corpus.jsonl"]
RUNS = [*(line.split() for line in COMMANDS.split("\n") if line), SET_QUERY]

_BLOCKED = """
import json, os, sys

told = os.open("sockets.txt", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

def refuse(event, given):
    if event.startswith("socket."):
        os.write(told, f"{event} {given}\\n".encode())
        os._exit(7)  # nobody can catch that

sys.addaudithook(refuse)

from pathlib import Path
from rag_cover.cli import app
from rag_cover.cli.commands import demo

demo.trace_paths = lambda: (Path("traces.jsonl"), Path("others.jsonl"))  # one question of the demo's is enough
codes = []
for words in json.loads(sys.argv[1]):
    try:
        app(words)
    except SystemExit as ended:
        codes.append(ended.code or 0)
with open("codes.json", "w") as file:
    json.dump(codes, file)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a question of the demo's, some of its corpus, and labels."""
    spec = find_spec("rag_cover_embedded")
    if not any(Path(spec.origin).parent.rglob("*.onnx") if spec and spec.origin else []):
        pytest.skip("needs the weights of the embedded judge")
    for name, path in zip(("traces", "others"), trace_paths(), strict=True):
        trace = next(trace for trace in read_traces(path) if trace.question.id == "q07")
        question = trace.question.model_copy(update={"references": ("a heat pump",)})
        write_traces(tmp_path / f"{name}.jsonl", [trace.model_copy(update={"question": question})])
    passages = corpus_path().read_text(encoding="utf-8").splitlines()
    (tmp_path / "corpus.jsonl").write_text("\n".join(passages[:12]), encoding="utf-8")
    labels = "question,text,label\nWhat is the COP?,The COP is heat divided by electricity.,1\nWhat is the COP?,It is blue.,0\n"
    (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")
    return tmp_path


def test_the_runtime_of_embedded_models_reports_to_nobody_and_leaves_nothing_in_the_home_folder(folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPATH", "SYSTEMROOT"}}
    judged = "from rag_cover import open_scorer; open_scorer('embedded')"  # not in CI, as the runtime sees it

    subprocess.run([sys.executable, "-c", judged], env=environment | {"HOME": str(home)}, cwd=folder, check=True)

    assert list(home.rglob("*")) == []


@pytest.mark.slow
def test_embedded_runs_make_no_socket(folder: Path) -> None:
    done = _run([sys.executable, "-c", _BLOCKED, json.dumps(RUNS)], folder)

    assert (folder / "sockets.txt").read_text(encoding="utf-8") == ""
    assert json.loads((folder / "codes.json").read_text()) == [0] * len(RUNS), done.stderr


@pytest.mark.slow
def test_a_run_that_names_a_remote_model_is_caught(folder: Path) -> None:
    pytest.importorskip("openai")
    words = ["evaluate", "traces.jsonl", "--judge", "openai:gpt-4.1-mini", "--measure", "coverage", "--deadline", "60"]
    environment = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}

    _run([sys.executable, "-c", _BLOCKED, json.dumps([words])], folder, environment)

    assert "socket." in (folder / "sockets.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_embedded_run_needs_no_network(folder: Path) -> None:
    alone = ["unshare", "--user", "--map-root-user", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs a system on which a user may make network namespaces")

    done = _run([*alone, sys.executable, "-c", "from rag_cover.cli import main; main()", *RUNS[1]], folder)

    assert done.returncode == 0, done.stderr


def _run(words: Sequence[str], folder: Path, more: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "COLUMNS": "100", **(more or {})}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
