"""Training files: what an example is, and where a bad one stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_cover.errors import InputError
from rag_cover_transformers.encodings import TextEncoder
from rag_cover_transformers.geneval.layout import InputLayout
from rag_cover_transformers.training.examples import encode_examples, read_examples

GOOD: dict[str, Any] = {"question": "Who wrote the novel Emma?", "text": "Jane Austen did.", "correct": True}


def _written(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in (GOOD, GOOD | {"correct": 0}, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "where", "problem"),
    [
        ("{", "line 3", "no JSON"),
        ("[1]", "line 3", "an example is an object, not list"),
        (GOOD | {"corect": True}, "line 3, at corect", "Did you mean 'correct'?"),
        ({"question": "Who?", "correct": True}, "line 3, at text", "is missing"),
        (GOOD | {"question": " "}, "line 3, at question", "not blank"),
        (GOOD | {"correct": "yes"}, "line 3, at correct", 'is true or false, not "yes"'),
        (GOOD | {"references": "Austen"}, "line 3, at references", "is a list of texts"),
        (GOOD | {"references": ["Austen", 7]}, "line 3, at references[1]", "not 7"),
        (GOOD | {"relevant": ["novel", "Persuasion"]}, "line 3, at relevant[1]", "does not stand in the question"),
    ],
)
def test_a_bad_line_names_file_line_and_field(tmp_path: Path, row: object, where: str, problem: str) -> None:
    path = _written(tmp_path / "data.jsonl", row)

    with pytest.raises(InputError) as refused:
        read_examples(path)

    assert str(refused.value).startswith(f"{path}, {where}: ")
    assert problem in str(refused.value)


def test_a_file_that_is_absent_or_of_one_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps(GOOD) + "\n", encoding="utf-8")

    with pytest.raises(InputError, match="cannot be read"):
        read_examples(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="at least one that is correct and one that is not"):
        read_examples(tmp_path / "one.jsonl")


def test_relevant_words_share_one_among_their_tokens(tmp_path: Path, bert_tokenizer: Any) -> None:
    path = _written(tmp_path / "data.jsonl", GOOD | {"relevant": ["novel", "EMMA"]})
    layout = InputLayout(TextEncoder(bert_tokenizer, 64))

    *_, target = encode_examples(layout, path, read_examples(path))

    assert target.relevant is not None
    ids = target.laid.encoded.ids[target.laid.question]
    touched = bert_tokenizer.decode(ids[target.relevant > 0])
    assert touched.replace(" ", "") == "novelemma"
    assert target.relevant.sum() == pytest.approx(1)
    assert len(np.unique(target.relevant[target.relevant > 0])) == 1


def test_a_text_too_long_for_one_input_is_refused_by_line(tmp_path: Path, bert_tokenizer: Any) -> None:
    path = _written(tmp_path / "data.jsonl", GOOD | {"text": "Jane Austen did. " * 50})
    layout = InputLayout(TextEncoder(bert_tokenizer, 64))

    with pytest.raises(InputError, match=r"line 3, at text: .*an example fills one"):
        encode_examples(layout, path, read_examples(path))
