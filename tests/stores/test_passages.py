from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_cover.backends import Backend
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.questions import Passage
from rag_cover.registry import build_retriever
from rag_cover.stores import read_passages
from rag_cover.stores.passages import convert_passages

_LEMON = b'{"text": "Lemons are sour.", "title": "Lemon", "id": "a"}\n'


def _file(folder: Path, content: bytes, name: str = "corpus.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _error(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        list(read_passages(path))
    return caught.value


def test_a_line_is_a_passage_or_its_text_alone(tmp_path: Path) -> None:
    path = _file(tmp_path, _LEMON + b'"Limes are too."\n')

    passages = list(read_passages(path))

    assert passages == [Passage("Lemons are sour.", title="Lemon", id="a"), Passage("Limes are too.")]


@pytest.mark.parametrize(
    ("line", "passage"),
    [
        ('{"_id": "d1", "title": "", "text": "A."}', Passage("A.", id="d1")),
        ('{"title": "T", "text": "A.", "idx": 3}', Passage("A.", id="3", title="T")),
        ('{"id": "d1", "contents": "A."}', Passage("A.", id="d1")),
        ('{"title": "T", "text": ["A.", " B."]}', Passage("A. B.", title="T")),
        ('{"text": "A.", "id": null, "metadata": {"url": "u"}}', Passage("A.", metadata={"url": "u"})),
    ],
)
def test_the_fields_of_published_corpora_are_known(tmp_path: Path, line: str, passage: Passage) -> None:
    path = _file(tmp_path, line.encode())

    passages = list(read_passages(path))

    assert passages == [passage]


def test_one_array_and_gzipped_lines_are_read_alike(tmp_path: Path) -> None:
    array = _file(tmp_path, b'[\n{"text": "A."},\n{"text": "B."}\n]', "corpus.json")
    packed = _file(tmp_path, gzip.compress(b'{"text": "A."}\n\n{"text": "B."}\n'), "corpus.jsonl.gz")

    assert list(read_passages(array)) == list(read_passages(packed)) == [Passage("A."), Passage("B.")]


def test_columns_say_what_the_fields_of_a_corpus_are_called(tmp_path: Path) -> None:
    path = _file(tmp_path, b'{"body": "A.", "heading": "T"}\n')

    passages = list(read_passages(path, columns={"text": "body", "title": "heading"}))

    assert passages == [Passage("A.", title="T")]


def test_a_column_for_a_field_that_passages_do_not_have_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, _LEMON)

    with pytest.raises(InvalidValueError, match="no field 'txt'. Did you mean 'text'"):
        read_passages(path, columns={"txt": "body"})


def test_a_passage_that_repeats_another_is_left_out(tmp_path: Path) -> None:
    path = _file(tmp_path, b'{"text": "A."}\n{"text": "B."}\n{"text": "A."}\n{"text": "A.", "title": "T"}\n')

    passages = list(read_passages(path))

    assert passages == [Passage("A."), Passage("B."), Passage("A.", title="T")]


def test_two_passages_with_one_id_are_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, _LEMON + b"\n" + b'{"text": "B.", "id": "a"}\n')

    error = _error(path)

    assert str(error) == f"{path}, line 3, at $.id: passage id 'a' was given at line 1 already; ids must be unique, or left out"


@pytest.mark.parametrize(
    ("line", "field", "problem"),
    [
        ('{"title": "T"}', "$.text", "this field is missing, and a passage needs it"),
        ('{"text": 4}', "$.text", "expected a string, got the number 4"),
        ('{"text": ["A.", 4]}', "$.text", "expected a string, got a list"),
        ('{"text": "A.", "titel": "T"}', "$", "Did you mean 'title'?"),
        ('{"question": "Why?"}', "$", "unknown field 'question' of Passage"),
        ('{"text": "A.", "contents": "B."}', "$.contents", "two fields hold the text"),
        ('{"text": "A.", "id": true}', "$.id", "expected a string, got true"),
        ('{"text": "\\ud800"}', "$.text", "lone surrogate"),
        ("4", "$", "expected a passage, which is an object with a text, got the number 4"),
        ('{"text": ', None, "not JSON at column"),
    ],
)
def test_a_bad_line_is_told_with_its_place(tmp_path: Path, line: str, field: str | None, problem: str) -> None:
    path = _file(tmp_path, _LEMON + line.encode())

    error = _error(path)

    assert (error.file, error.line, error.field) == (path, 2, field)
    assert problem in error.problem


def test_a_bad_item_of_an_array_is_told_with_its_index(tmp_path: Path) -> None:
    path = _file(tmp_path, b'[{"text": "A."}, {"text": 4}]')

    error = _error(path)

    assert (error.line, error.field) == (None, "$[1].text")


@pytest.mark.parametrize("content", [b"", b"\n \n", b"[]"])
def test_a_file_without_passages_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = _file(tmp_path, content)

    error = _error(path)

    assert "holds no passages" in error.problem


def test_a_missing_file_is_told_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_passages(tmp_path / "corpus.jsonl")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, unique=True))
def test_any_text_comes_back_as_it_was_written(tmp_path: Path, texts: list[str]) -> None:
    path = _file(tmp_path, "".join(json.dumps({"text": text}) + "\n" for text in texts).encode())

    assert [passage.text for passage in read_passages(path)] == texts


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[Passage], Path | None]]:
    """Note what a retriever is built from: its passages, and where its index is kept."""
    noted: list[tuple[list[Passage], Path | None]] = []
    backend = Backend("scripted", "", retriever=lambda corpus, index: noted.append((list(corpus), index)))  # type: ignore[arg-type,return-value]
    monkeypatch.setattr("rag_cover.registry.find_backends", lambda: {"scripted": backend})
    return noted


@pytest.mark.parametrize("kind", [Path, str])
def test_a_retriever_over_a_file_is_given_its_passages(
    tmp_path: Path, built: list[tuple[list[Passage], Path | None]], kind: type[Path | str]
) -> None:
    build_retriever("scripted", kind(_file(tmp_path, _LEMON)), index=kind(tmp_path / "index"))

    assert built == [([Passage("Lemons are sour.", title="Lemon", id="a")], tmp_path / "index")]


def test_a_retriever_takes_texts_and_dicts_for_passages(built: list[tuple[list[Passage], Path | None]]) -> None:
    lemon = Passage("Lemons are sour.", title="Lemon", id="a")

    build_retriever("scripted", [lemon, "Salt.", {"contents": "Butter.", "docid": 7, "title": ""}])

    assert built == [([lemon, Passage("Salt."), Passage("Butter.", id="7")], None)]


@pytest.mark.parametrize("given", [None, 3, "Salt.", b"Salt.", Passage("Salt."), {"text": "Salt."}])
def test_what_is_no_list_of_passages_is_refused(given: object) -> None:
    with pytest.raises(
        InvalidValueError, match="passages are given as a list, not as one '(NoneType|int|str|bytes|Passage|dict)'"
    ):
        convert_passages(given)  # type: ignore[arg-type]


def test_a_table_is_no_list_of_its_columns_names() -> None:
    table = pytest.importorskip("pandas").DataFrame([{"text": "Salt."}])

    with pytest.raises(InvalidValueError, match="not as one 'DataFrame'"):
        convert_passages(table)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "at [1]: expected a passage, which is an object with a text, got null"),
        (3, "at [1]: expected a passage, which is an object with a text, got the number 3"),
        ({"text": 3}, "at [1].text: expected a string, got the number 3"),
        ({"txt": "Salt."}, "at [1]: unknown field 'txt' of Passage. Did you mean 'text'?"),
        ({"title": "Salt"}, "at [1].text: this field is missing, and a passage needs it"),
    ],
)
def test_what_is_no_passage_is_told_with_its_place(given: object, said: str) -> None:
    with pytest.raises(InputError) as refused:
        list(convert_passages(["Salt.", given]))  # type: ignore[list-item]

    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("index", [3, "", " ", b"index"])
def test_an_index_that_is_no_path_is_refused(built: list[tuple[list[Passage], Path | None]], index: object) -> None:
    with pytest.raises(InvalidValueError, match="index is the path of a folder"):
        build_retriever("scripted", ["Salt."], index=index)  # type: ignore[arg-type]

    assert built == []
