"""What the suites are shown on."""

from __future__ import annotations

import pytest

from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.reader import EmbeddedReader
from rag_cover_embedded.weights import FOLDER


@pytest.fixture(scope="session")
def embedded_judge() -> EmbeddedJudge:
    """Return the shipped judge."""
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    return EmbeddedJudge()


@pytest.fixture(scope="session")
def embedded_reader() -> EmbeddedReader:
    """Return the reader of the shipped judge."""
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    return EmbeddedReader()
