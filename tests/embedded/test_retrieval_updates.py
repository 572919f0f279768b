"""Passages added and removed: whatever the detours, the index is that of one built anew."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.errors import DuplicatePassageError, IndexChangedError, InputError, InvalidValueError, PassageNotFoundError
from rag_cover.questions import Passage
from rag_cover_embedded.retrieval import EmbeddedRetriever
from rag_cover_embedded.retrieval import retriever as retriever_module
from rag_cover_embedded.retrieval.encoding import TextPiece, Vectorised
from rag_cover_embedded.retrieval.keywords import Keywords
from rag_cover_embedded.retrieval.vectors import WIDTH, Vectors
from rag_cover_embedded.weights import Weights

_WORDS = ("river", "rivers", "moselle", "zell", "salt", "the", "glacier", "?")
texts = st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join)
passages_drawn = st.lists(st.tuples(texts, st.sampled_from([None, "", "zell", "salt river"])), max_size=6)


class WordEncoder:
    """Reads words of a few letters as tokens with vectors drawn from their spelling, three to a piece."""

    fingerprint = "words"
    vocabulary = 512

    def __init__(self, _weights: object = None) -> None:
        self.passages_read = 0

    def open(self) -> None:
        """Has no files."""

    def pieces(self, passages: Sequence[Passage], first: int = 0) -> Iterator[TextPiece]:
        for number, passage in enumerate(passages, first):
            self.passages_read += 1
            ids = self._ids(f"{passage.title or ''} {passage.text}")
            yield from (TextPiece(number, ids[start : start + 3]) for start in range(0, len(ids), 3))

    def telling(self, ids: np.ndarray) -> np.ndarray:
        return np.ones(len(ids), dtype=np.bool_)

    def read(self, pieces: Sequence[np.ndarray]) -> list[Vectorised]:
        return [self._vectorise(ids) for ids in pieces]

    def query(self, text: str) -> Vectorised | None:
        return self._vectorise(ids) if len(ids := self._ids(text)) else None

    def _ids(self, text: str) -> np.ndarray:
        return np.array([zlib.crc32(word.encode()) % self.vocabulary for word in re.findall(r"\w+", text)], dtype=np.int32)

    def _vectorise(self, ids: np.ndarray) -> Vectorised:
        tokens = np.stack([np.random.default_rng(int(each)).standard_normal(WIDTH) for each in ids]).astype(np.float32)
        mean = tokens.mean(axis=0)
        return Vectorised(ids, tokens, mean / np.linalg.norm(mean))


@pytest.fixture
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    _use_words(monkeypatch)


def _use_words(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(retriever_module, "Encoder", WordEncoder)
    patch.setattr(Weights, "open", lambda: None)


def _same(found: EmbeddedRetriever, anew: EmbeddedRetriever) -> None:
    """Compare everything that two retrievers keep, byte by byte."""
    assert found.fingerprint == anew.fingerprint
    assert found._indexed.passages == anew._indexed.passages
    left, right = found._indexed.index, anew._indexed.index
    assert left.digests.tolist() == right.digests.tolist()
    assert list(left.keywords.words) == list(right.keywords.words)
    arrays = [(Keywords, left.keywords, right.keywords), (Vectors, left.vectors, right.vectors)]
    for kind, one, other in arrays:
        for field in fields(kind)[kind is Keywords :]:
            ours, theirs = getattr(one, field.name), getattr(other, field.name)
            assert ours.dtype == theirs.dtype, field.name
            assert np.array_equal(ours, theirs), field.name


@given(passages_drawn.filter(bool), st.lists(st.tuples(passages_drawn, st.sets(st.integers(0, 12))), max_size=4), st.booleans())
@settings(deadline=None, max_examples=30)
@pytest.mark.slow
def test_what_was_added_and_removed_is_indexed_as_if_built_anew(
    first: list[tuple[str, str | None]],
    steps: list[tuple[list[tuple[str, str | None]], set[int]]],
    is_kept: bool,  # noqa: FBT001  # drawn
) -> None:
    ids = count()

    def named(drawn: Sequence[tuple[str, str | None]]) -> list[Passage]:
        return [Passage(text, title=title, id=str(next(ids))) for text, title in drawn]

    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        _use_words(patch)
        place = Path(folder) / "index" if is_kept else None
        present = named(first)
        retriever = EmbeddedRetriever(present, place)
        for added, removed in steps:
            more = named(added)
            retriever.add(more)
            present += more
            unwanted = [present[number].id or "" for number in removed if number < len(present)][: len(present) - 1]
            retriever.remove(unwanted)
            present = [passage for passage in present if passage.id not in unwanted]

        anew = EmbeddedRetriever(present)
        _same(retriever, anew)
        if place is not None:
            _same(EmbeddedRetriever(present, place), anew)
        for query in ("Which river runs through Zell?", "salt", "the glacier of the moselle"):
            assert retriever.retrieve(query, k=5) == anew.retrieve(query, k=5)


@pytest.mark.usefixtures("_words")
def test_only_what_is_added_is_read() -> None:
    retriever = EmbeddedRetriever([Passage("salt", id="a"), Passage("river", id="b")])
    encoder = retriever._encoder
    assert isinstance(encoder, WordEncoder)
    encoder.passages_read = 0

    retriever.add([Passage("zell", id="c"), Passage("river", id="d")])
    retriever.remove(["a", "c"])

    assert encoder.passages_read == 1  # the other one's text is there already
    assert [passage.id for passage in retriever.retrieve("river", k=3)] == ["b", "d"]


@pytest.mark.usefixtures("_words")
def test_ids_that_are_taken_are_named_and_nothing_is_added() -> None:
    retriever = EmbeddedRetriever([Passage("salt", id="a"), Passage("river", id="b")])
    before = retriever.fingerprint

    with pytest.raises(DuplicatePassageError, match="'b' or 'c'") as refused:
        retriever.add([Passage("zell", id="b"), Passage("x", id="c"), Passage("y", id="c"), Passage("z"), Passage("z")])

    assert refused.value.ids == ("b", "c")
    assert retriever.fingerprint == before


@pytest.mark.usefixtures("_words")
def test_unknown_ids_are_named_and_nothing_is_removed() -> None:
    retriever = EmbeddedRetriever([Passage("salt", id="a"), Passage("river")])
    before = retriever.fingerprint

    with pytest.raises(PassageNotFoundError, match="'z' or 'y'") as refused:
        retriever.remove(["a", "z", "y", "z"])

    assert refused.value.ids == ("z", "y")
    assert retriever.fingerprint == before


@pytest.mark.usefixtures("_words")
def test_the_last_passage_is_not_removed() -> None:
    retriever = EmbeddedRetriever([Passage("salt", id="a")])

    with pytest.raises(InvalidValueError, match="at least one passage"):
        retriever.remove("a")


@pytest.mark.usefixtures("_words")
def test_a_corpus_with_one_id_twice_is_refused_as_an_addition_is() -> None:
    with pytest.raises(DuplicatePassageError, match="'a'.*an id of its own") as refused:
        EmbeddedRetriever([Passage("salt", id="a"), Passage("river"), Passage("river"), Passage("zell", id="a")])

    assert refused.value.ids == ("a",)


@pytest.mark.usefixtures("_words")
def test_texts_and_dicts_are_added_as_passages() -> None:
    retriever = EmbeddedRetriever([Passage("salt", id="a")])

    retriever.add(["river", {"contents": "zell", "_id": 3}])
    retriever.remove("3")

    assert retriever._indexed.passages == (Passage("salt", id="a"), Passage("river"))


@pytest.mark.usefixtures("_words")
@pytest.mark.parametrize("given", ["river", Passage("river"), {"text": "river"}, None, 3, ["river", None]])
def test_what_cannot_be_added_is_refused_and_nothing_is_added(given: object) -> None:
    retriever = EmbeddedRetriever([Passage("salt", id="a")])
    before = retriever.fingerprint

    with pytest.raises((InvalidValueError, InputError), match="passage"):
        retriever.add(given)  # type: ignore[arg-type]

    assert retriever.fingerprint == before


@pytest.mark.usefixtures("_words")
@pytest.mark.parametrize("given", [None, 3, ["a", 3], [Passage("salt", id="a")], Passage("salt", id="a"), {"id": "a"}])
def test_passages_are_removed_by_their_ids_alone(given: object) -> None:
    retriever = EmbeddedRetriever([Passage("salt", id="a"), Passage("river", id="b")])

    with pytest.raises(InvalidValueError, match="removed by the ids"):
        retriever.remove(given)  # type: ignore[arg-type]

    retriever.remove("a")
    assert retriever._indexed.passages == (Passage("river", id="b"),)


@pytest.mark.usefixtures("_words")
def test_a_change_of_an_index_that_another_retriever_changed_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    salt, river, zell = Passage("salt", id="a"), Passage("river", id="b"), Passage("zell", id="c")
    first, second = (EmbeddedRetriever([salt], tmp_path / "index") for _ in range(2))
    first.add([river])
    before = second.fingerprint

    with pytest.raises(IndexChangedError, match="changed by another retriever"):
        second.add([zell])
    with pytest.raises(IndexChangedError, match="changed by another retriever"):
        second.verify()

    assert second.fingerprint == before
    _same(EmbeddedRetriever([salt, river], tmp_path / "index"), first)
    first.remove(["a"])
    assert len(list((tmp_path / "index").iterdir())) == 2  # index.json, and the files that it names


@pytest.mark.usefixtures("_words")
def test_a_change_that_is_overtaken_while_it_is_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    salt, river, zell = Passage("salt", id="a"), Passage("river", id="b"), Passage("zell", id="c")
    first, second = (EmbeddedRetriever([salt], tmp_path / "index") for _ in range(2))
    read = WordEncoder.read

    def overtaken(self: WordEncoder, pieces: Sequence[np.ndarray]) -> list[Vectorised]:
        monkeypatch.setattr(WordEncoder, "read", read)
        first.add([river])
        return read(self, pieces)

    monkeypatch.setattr(WordEncoder, "read", overtaken)

    with pytest.raises(IndexChangedError):
        second.add([zell])

    _same(EmbeddedRetriever([salt, river], tmp_path / "index"), first)
    assert len(list((tmp_path / "index").iterdir())) == 2


@pytest.mark.usefixtures("_words")
def test_a_corpus_that_is_indexed_anew_while_another_changes_the_index_is_the_one_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    salt, river, zell = Passage("salt", id="a"), Passage("river", id="b"), Passage("zell", id="c")
    first = EmbeddedRetriever([salt], tmp_path / "index")
    read = WordEncoder.read

    def overtaken(self: WordEncoder, pieces: Sequence[np.ndarray]) -> list[Vectorised]:
        monkeypatch.setattr(WordEncoder, "read", read)
        first.add([river])
        return read(self, pieces)

    monkeypatch.setattr(WordEncoder, "read", overtaken)

    _same(EmbeddedRetriever([salt, zell], tmp_path / "index"), EmbeddedRetriever([salt, zell]))


@pytest.mark.usefixtures("_words")
def test_the_words_statistics_follow_the_corpus() -> None:
    retriever = EmbeddedRetriever([Passage("moselle river", id="a"), Passage("moselle zell salt salt", id="b")])
    rare = retriever._indexed.index.keywords.scores("river")[0]

    retriever.add([Passage("river", id="c"), Passage("river", id="d")])

    assert 0 < retriever._indexed.index.keywords.scores("river")[0] < rare


@pytest.mark.usefixtures("_words")
def test_queries_meanwhile_see_the_corpus_before_or_after() -> None:
    retriever = EmbeddedRetriever([Passage("river", id="a")])
    seen: set[tuple[str | None, ...]] = set()

    def ask() -> None:
        for _ in range(60):
            seen.add(tuple(passage.id for passage in retriever.retrieve("river", k=4)))

    asking = Thread(target=ask)
    asking.start()
    retriever.add([Passage("river zell", id="b"), Passage("salt", id="c")])
    asking.join()

    assert seen <= {("a",), ("a", "b", "c")}
