"""What a pipeline is to be asked: a text in place of a list of questions, or of a file, is told from a path."""

from __future__ import annotations

import pytest

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.integration.datasets import Dataset


@pytest.mark.parametrize("text", ["Is there wifi?", "opening hours of the museum"])
def test_one_question_is_no_file(text: str) -> None:
    with pytest.raises(
        InvalidValueError, match=f"questions is one text, '{text[:5]}.*; give a list of questions, or the path of a file"
    ):
        Dataset(text)


@pytest.mark.parametrize("path", ["no/such/questions.jsonl", "my own questions.jsonl", "questions"])
def test_a_path_stays_one(path: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        Dataset(path)
