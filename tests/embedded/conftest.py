"""The shipped judge, and real sentences for it to read: the demo's."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from rag_cover import demo
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.weights import FOLDER

Judges = Callable[..., EmbeddedJudge]


@pytest.fixture(scope="session")
def new_judge() -> Judges:
    """Open the shipped judge anew, so that it remembers nothing."""
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    return EmbeddedJudge


@pytest.fixture(scope="session")
def judge(new_judge: Judges) -> EmbeddedJudge:
    """Return the shipped judge; tests that use it must not care what it remembers."""
    return new_judge()


@pytest.fixture(scope="session")
def passages() -> list[str]:
    """Return the 81 passages of the demo's corpus."""
    lines = demo.corpus_path().read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


@pytest.fixture(scope="session")
def asked() -> list[str]:
    """Return the 148 sub-questions of the demo."""
    lines = demo.labels_path().read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["sub_question"] for line in lines]
