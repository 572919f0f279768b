"""Documents as passages, and back."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document

from rag_cover import Passage
from rag_cover.errors import InvalidValueError
from rag_cover_langchain import document_of, passage_of


def test_a_passage_goes_to_a_document_and_back() -> None:
    passage = Passage(text="Blue light scatters.", id="rayleigh", title="Sky", score=0.25, metadata={"page": 3})

    document = document_of(passage)

    assert document.metadata == {"page": 3, "title": "Sky", "relevance_score": 0.25}
    assert passage_of(document) == passage.model_copy(update={"metadata": document.metadata})


@pytest.mark.parametrize("score", [math.nan, math.inf, "high", True, None])
def test_what_is_no_finite_number_is_no_score(score: object) -> None:
    document = Document("Blue light scatters.", metadata={"relevance_score": score})

    assert passage_of(document).score is None


def test_a_text_is_no_document() -> None:
    with pytest.raises(InvalidValueError, match="'str' is no document; give a Document of LangChain"):
        passage_of("Blue light scatters.")  # type: ignore[arg-type]


def test_metadata_that_is_not_json_is_written_out() -> None:
    document = Document("Blue light scatters.", metadata={"path": {1, 2}, "title": "  "})

    passage = passage_of(document)

    assert isinstance(passage.metadata["path"], str | list | tuple)
    assert passage.title is None
