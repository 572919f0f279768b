"""`rag-cover evaluate --corpus`: what the corpus says of what was not retrieved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnxruntime", reason="the embedded retriever indexes the corpus")

JUDGE = ("--judge", "words", "--measure", "coverage")
TRACE = {
    "question": "Why is the sky blue and the rest otherwise?",
    "sub_questions": [{"text": "Why is the sky blue?", "role": "core"}, {"text": "Why is grass green?", "role": "core"}],
    "steps": [{"passages": [{"text": "Sky blue: air."}]}],
    "answer": "Sky is blue, air.",
}


@pytest.fixture
def trace(folder: Path) -> Path:
    (folder / "corpus.jsonl").write_text('{"text": "Grass is green by chlorophyll."}\n{"text": "Nothing of it."}\n')
    (folder / "trace.jsonl").write_text(json.dumps(TRACE) + "\n")
    return folder / "trace.jsonl"


def test_it_says_what_the_corpus_says(command: Callable[..., Any], trace: Path) -> None:
    done = command("evaluate", trace, *JUDGE, "--corpus", "corpus.jsonl")

    assert done.exit_code == 0
    assert "The corpus was searched for 1 core part that was not retrieved" in " ".join(done.stdout.replace("│", " ").split())


def test_json_counts_it(command: Callable[..., Any], trace: Path) -> None:
    done = command("evaluate", trace, *JUDGE, "--corpus", "corpus.jsonl", "--json")

    assert json.loads(done.stdout)["summary"]["corpus"]["searched"] == 1


def test_a_corpus_that_is_missing_or_holds_no_passages_is_told(command: Callable[..., Any], trace: Path) -> None:
    missing = command("evaluate", trace, *JUDGE, "--corpus", "none.jsonl")
    wrong = command("evaluate", trace, *JUDGE, "--corpus", trace)

    assert (missing.exit_code, wrong.exit_code) == (3, 3)
    assert "none.jsonl: there is no such file" in missing.stderr
    assert "trace.jsonl, line 1" in wrong.stderr
