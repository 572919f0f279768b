"""The index in a folder: found again, refused where it is another's, never read where it is half written."""

from __future__ import annotations

import errno
import json
import os
import pickletools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag_cover.errors import CorruptFileError, StoreError
from rag_cover.questions import Passage
from rag_cover_embedded.retrieval import EmbeddedRetriever
from rag_cover_embedded.retrieval.encoding import Encoder
from rag_cover_embedded.retrieval.index import corpus_digest
from rag_cover_embedded.retrieval.keywords import Keywords

pytestmark = pytest.mark.usefixtures("judge")  # skips where there are no weights, and keeps the network open between tests

RIVERS = (
    Passage("The river Moselle runs through the town of Zell.", id="zell"),
    Passage("Salt and butter taste good with it.", title="Sweetcorn"),
    Passage("", title="?"),
)
QUERY = "Which river runs through Zell?"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "index"


@pytest.fixture
def built(index: Path) -> Path:
    EmbeddedRetriever(RIVERS, index)
    return index


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many pieces the encoder reads at each call."""
    noted: list[int] = []
    read = Encoder.read

    def noting(self: Encoder, pieces: list[np.ndarray]) -> object:
        noted.append(len(pieces))
        return read(self, pieces)

    monkeypatch.setattr(Encoder, "read", noting)
    return noted


def test_an_index_in_a_folder_finds_what_one_in_memory_finds(index: Path) -> None:
    in_memory = EmbeddedRetriever(RIVERS).retrieve(QUERY, k=3)

    assert EmbeddedRetriever(RIVERS, index).retrieve(QUERY, k=3) == in_memory
    assert EmbeddedRetriever(RIVERS, index).retrieve(QUERY, k=3) == in_memory


def test_an_index_is_built_once(built: Path, reading: list[int]) -> None:
    EmbeddedRetriever(RIVERS, built)

    assert reading == []


def test_an_index_is_memory_mapped(built: Path) -> None:
    vectors = EmbeddedRetriever(RIVERS, built)._indexed.index.vectors

    assert isinstance(vectors.signs.base, np.memmap)
    assert isinstance(vectors.embeddings.base, np.memmap)


def test_an_index_holds_arrays_and_json_and_no_pickle(built: Path) -> None:
    files = [path for path in built.rglob("*") if path.is_file()]

    assert {path.suffix for path in files} == {".npy", ".json"}
    for path in files:
        if path.suffix == ".npy":
            assert not np.load(path, allow_pickle=False).dtype.hasobject
        else:
            json.loads(path.read_text(encoding="utf-8"))
            with pytest.raises(ValueError, match="opcode"):
                list(pickletools.genops(path.read_bytes()))


def test_ids_scores_and_metadata_may_change_under_an_index(built: Path, reading: list[int]) -> None:
    renamed = [passage.model_copy(update={"id": f"new {number}"}) for number, passage in enumerate(RIVERS)]

    found = EmbeddedRetriever(renamed, built).retrieve(QUERY, k=1)

    assert found[0].id == "new 0"
    assert reading == [1]  # the query


@pytest.mark.parametrize(
    ("other", "encoded"),
    [
        pytest.param(RIVERS[:2], 0, id="fewer passages"),
        pytest.param((RIVERS[1], RIVERS[0], RIVERS[2]), 0, id="another order"),
        pytest.param((*RIVERS, Passage(RIVERS[0].text)), 0, id="one text twice"),
        pytest.param((RIVERS[0], Passage(RIVERS[1].text, title="Corn"), RIVERS[2]), 1, id="another title"),
        pytest.param((RIVERS[1], Passage("The river Saar.", id="saar"), RIVERS[2]), 1, id="another text"),
    ],
)
def test_the_index_of_a_changed_corpus_is_updated_and_only_what_is_new_is_encoded(
    built: Path, reading: list[int], other: tuple[Passage, ...], encoded: int
) -> None:
    updated = EmbeddedRetriever(other, built)
    assert sum(reading) == encoded

    again = EmbeddedRetriever(other, built)
    assert sum(reading) == encoded

    anew = EmbeddedRetriever(other)
    assert updated.retrieve(QUERY, k=4) == again.retrieve(QUERY, k=4) == anew.retrieve(QUERY, k=4)
    assert len(list(built.iterdir())) == 2  # index.json, and the files that it names


def test_the_index_of_a_corpus_that_shares_nothing_is_refused(built: Path) -> None:
    with pytest.raises(StoreError, match="another corpus.*Delete it") as refused:
        EmbeddedRetriever([Passage("Glaciers carve valleys.")], built)

    assert str(built) in str(refused.value)
    assert EmbeddedRetriever(RIVERS, built).retrieve(QUERY, k=1)[0].id == "zell"


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        pytest.param((Encoder, "read"), KeyboardInterrupt, id="while it encodes"),
        pytest.param((np, "save"), KeyboardInterrupt, id="while it writes"),
        pytest.param((Path, "replace"), KeyboardInterrupt, id="before it is named"),
        pytest.param((Path, "replace"), OSError, id="by an error"),
    ],
)
def test_an_update_that_breaks_off_leaves_the_old_index(
    built: Path, monkeypatch: pytest.MonkeyPatch, broken: tuple[object, str], error: type[BaseException]
) -> None:
    def interrupted(*_: object, **__: object) -> object:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(*broken, interrupted)
        with pytest.raises((KeyboardInterrupt, StoreError)):
            EmbeddedRetriever((*RIVERS, Passage("Glaciers carve valleys.")), built)

    assert len(list(built.iterdir())) == 2
    monkeypatch.setattr(Encoder, "pieces", interrupted)
    EmbeddedRetriever(RIVERS, built)


def test_who_has_an_index_open_keeps_it_while_it_is_updated(built: Path) -> None:
    retriever = EmbeddedRetriever(RIVERS, built)
    before = retriever.retrieve(QUERY, k=3)

    EmbeddedRetriever(RIVERS[1:], built)

    assert retriever.retrieve(QUERY, k=3) == before


def test_an_index_that_is_replaced_while_it_is_opened_is_opened_again(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = Keywords.open

    def overtaken(folder: Path) -> Keywords:
        monkeypatch.setattr(Keywords, "open", reads)
        EmbeddedRetriever(RIVERS[::-1], built)
        return reads(folder)

    monkeypatch.setattr(Keywords, "open", overtaken)

    assert EmbeddedRetriever(RIVERS, built).retrieve(QUERY, k=1)[0].id == "zell"


def test_an_index_that_names_files_elsewhere_is_refused_and_they_are_left_alone(built: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("precious", encoding="utf-8")
    about = json.loads((built / "index.json").read_text(encoding="utf-8"))
    (built / "index.json").write_text(json.dumps(about | {"files": str(tmp_path)}), encoding="utf-8")

    with pytest.raises(CorruptFileError, match="damaged"):
        EmbeddedRetriever(RIVERS[1:], built)

    assert precious.exists()


@pytest.mark.parametrize("part", ["format", "encoder"])
def test_the_index_of_another_encoder_or_version_is_refused(built: Path, part: str) -> None:
    about = json.loads((built / "index.json").read_text(encoding="utf-8"))
    (built / "index.json").write_text(json.dumps(about | {part: "another"}), encoding="utf-8")

    with pytest.raises(StoreError, match=f"another {part}.*Delete it"):
        EmbeddedRetriever(RIVERS, built)


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious", encoding="utf-8")

    with pytest.raises(StoreError, match="no index"):
        EmbeddedRetriever(RIVERS, tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("precious", encoding="utf-8")

    with pytest.raises(StoreError, match="no index"):
        EmbeddedRetriever(RIVERS, tmp_path / "index")


def test_an_empty_folder_is_filled(index: Path) -> None:
    index.mkdir(parents=True)

    assert EmbeddedRetriever(RIVERS, index).retrieve(QUERY, k=1)[0].id == "zell"


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("index.json", lambda path: path.write_text("{", encoding="utf-8")),
        ("signs.npy", _truncate),
        ("signs.npy", lambda path: np.save(path, np.zeros((3, 48), np.uint8))),
        ("embeddings.npy", lambda path: np.save(path, np.zeros((1, 384), np.float32))),
        ("owners.npy", Path.unlink),
        ("bounds.npy", lambda path: path.write_bytes(b"no array")),
        ("frequencies.npy", lambda path: np.save(path, np.array([{}]), allow_pickle=True)),
        ("ids.npy", _truncate),
        ("rounded.npy", lambda path: np.save(path, np.zeros((384, 1), np.int8))),
        ("scales.npy", lambda path: np.save(path, np.zeros(1, np.float32))),
        ("digests.npy", lambda path: np.save(path, np.zeros((2, 16), np.uint8))),
        ("weights.npy", _truncate),
        ("lengths.npy", lambda path: np.save(path, np.zeros(2, np.int32))),
        ("starts.npy", lambda path: np.save(path, np.zeros(0, np.int64))),
        ("words.json", lambda path: path.write_text("", encoding="utf-8")),
    ],
)
def test_a_damaged_index_is_refused(built: Path, name: str, spoil: Callable[[Path], object]) -> None:
    spoil(next(built.rglob(name)))

    with pytest.raises(CorruptFileError, match="damaged.*Delete it"):
        EmbeddedRetriever(RIVERS, built)


def _spoil_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 0x55
    path.write_bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "bounds.npy",
        "counts.npy",
        "digests.npy",
        "embeddings.npy",
        "frequencies.npy",
        "ids.npy",
        "lengths.npy",
        "owners.npy",
        "passages.npy",
        "rounded.npy",
        "scales.npy",
        "signs.npy",
        "starts.npy",
        "weights.npy",
        "words.json",
    ],
)
def test_one_wrong_byte_in_any_file_is_found(built: Path, name: str) -> None:
    _spoil_a_byte(next(built.rglob(name)))

    with pytest.raises(CorruptFileError, match=f"damaged .{name}.*Delete it"):
        EmbeddedRetriever(RIVERS, built)


def test_what_a_sample_misses_is_found_before_the_index_is_changed_or_when_it_is_verified(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_cover_embedded.retrieval.index.sample_checksums", lambda *_: None)
    sound = EmbeddedRetriever(RIVERS, built)
    sound.verify()
    before = sound.fingerprint
    _spoil_a_byte(next(built.rglob("embeddings.npy")))

    with pytest.raises(CorruptFileError, match="damaged .embeddings"):
        sound.verify()
    with pytest.raises(CorruptFileError, match="damaged .embeddings"):
        sound.add([Passage("Glaciers carve valleys.")])
    with pytest.raises(CorruptFileError, match="damaged .embeddings"):
        EmbeddedRetriever(RIVERS[1:], built)
    assert sound.fingerprint == before


def _without_checksums(index: Path) -> None:
    about = json.loads((index / "index.json").read_text(encoding="utf-8"))
    del about["checksums"]
    (index / "index.json").write_text(json.dumps(about), encoding="utf-8")


def test_an_index_without_checksums_is_opened_and_has_them_from_its_next_change_on(built: Path) -> None:
    _without_checksums(built)
    older = EmbeddedRetriever(RIVERS, built)

    with pytest.raises(StoreError, match="without checksums. Delete it"):
        older.verify()
    older.add([Passage("Glaciers carve valleys.")])

    older.verify()


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("owners.npy", [0, 7]),
        ("owners.npy", [1, 0]),
        ("owners.npy", [-1, 0]),
        ("bounds.npy", [0, 99, 14]),
        ("ids.npy", [60_000] * 14),
        ("passages.npy", [3]),
        ("passages.npy", [-1]),
        ("starts.npy", [0, 9]),
    ],
)
def test_places_out_of_bounds_are_found_without_checksums_too(built: Path, name: str, places: list[int]) -> None:
    path = next(built.rglob(name))
    numbers = np.load(path)
    numbers[: len(places)] = places[: len(numbers)]
    np.save(path, numbers)
    _without_checksums(built)

    with pytest.raises(CorruptFileError, match="damaged .*fit together"):
        EmbeddedRetriever(RIVERS, built)


@pytest.mark.parametrize("checksums", [[], 3, {"owners.npy": 3}])
def test_checksums_that_are_none_are_damage(built: Path, checksums: object) -> None:
    about = json.loads((built / "index.json").read_text(encoding="utf-8"))
    (built / "index.json").write_text(json.dumps(about | {"checksums": checksums}), encoding="utf-8")

    with pytest.raises(CorruptFileError, match="damaged.*checksums"):
        EmbeddedRetriever(RIVERS, built)


def test_a_build_that_breaks_off_leaves_nothing(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Encoder, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            EmbeddedRetriever(RIVERS, index)

    assert list(index.parent.iterdir()) == []
    assert EmbeddedRetriever(RIVERS, index).retrieve(QUERY, k=1)[0].id == "zell"


def test_of_two_builders_of_one_index_the_slower_takes_the_others(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Encoder.read

    def overtaken(self: Encoder, pieces: list[np.ndarray]) -> object:
        monkeypatch.setattr(Encoder, "read", read)
        EmbeddedRetriever(RIVERS, index)
        return read(self, pieces)

    monkeypatch.setattr(Encoder, "read", overtaken)

    found = EmbeddedRetriever(RIVERS, index).retrieve(QUERY, k=1)

    assert found[0].id == "zell"
    assert [path.name for path in index.parent.iterdir()] == ["index"]


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(StoreError, match="cannot be written"):
        EmbeddedRetriever(RIVERS, tmp_path / "file" / "index")


def test_a_disk_without_room_says_so_and_keeps_nothing(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)

    with pytest.raises(StoreError, match="No space left"):
        EmbeddedRetriever(RIVERS, index)

    assert list(index.parent.iterdir()) == []


def test_nothing_is_written_to_the_error_stream(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    EmbeddedRetriever(RIVERS, index)

    assert capsys.readouterr() == ("", "")


def test_corpora_that_are_searched_differently_have_different_digests() -> None:
    many = [Passage(f"text {number}", title="Łódź") for number in range(300)]
    corpora = [
        [Passage("bc", title="a")],
        [Passage("c", title="ab")],
        [Passage("abc")],
        [Passage("abc"), Passage("")],
        [Passage(""), Passage("abc")],
        [Passage("\ud800")],
        [Passage("\udfff")],
        many,
        [*many[:255], many[256], many[255], *many[257:]],
    ]

    digests = [corpus_digest(corpus) for corpus in corpora]

    assert len(set(digests)) == len(corpora)
    assert corpus_digest([passage.model_copy(update={"id": "another"}) for passage in many]) == digests[-2]
