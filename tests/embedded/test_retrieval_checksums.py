"""Files compared with the checksums that they were written with: every byte, or a sample that is quick."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_cover_embedded.retrieval import checksums
from rag_cover_embedded.retrieval.checksums import checksums_of, compare_checksums, sample_checksums


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "BLOCK", 10)
    monkeypatch.setattr(checksums, "READ_IN_FULL", 100)
    monkeypatch.setattr(checksums, "SAMPLED", 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, size in (("large", 95), ("small", 42), ("empty", 0)):
        (tmp_path / name).write_bytes(bytes(range(size)))
    return tmp_path


def _spoil(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x55
    path.write_bytes(content)


def test_what_was_written_is_found_again(folder: Path) -> None:
    written = checksums_of(folder)

    compare_checksums(folder, written)
    sample_checksums(folder, written)
    assert {name: len(each) // 8 for name, each in written.items()} == {"empty": 0, "large": 10, "small": 5}


@pytest.mark.parametrize("place", range(0, 95, 7))
def test_a_wrong_byte_anywhere_is_found_by_a_full_comparison(folder: Path, place: int) -> None:
    written = checksums_of(folder)
    _spoil(folder / "large", place)

    with pytest.raises(ValueError, match="large does not hold what was written"):
        compare_checksums(folder, written)


@pytest.mark.parametrize("place", range(0, 42, 7))
def test_a_sample_reads_small_files_in_full(folder: Path, place: int) -> None:
    written = checksums_of(folder)
    _spoil(folder / "small", place)

    with pytest.raises(ValueError, match="small"):
        sample_checksums(folder, written)


@pytest.mark.parametrize(("place", "is_found"), [(3, True), (15, False), (44, True), (75, False), (94, True)])
def test_a_sample_reads_the_first_the_last_and_blocks_between_of_a_large_file(
    folder: Path, place: int, *, is_found: bool
) -> None:
    written = checksums_of(folder)
    _spoil(folder / "large", place)

    if not is_found:
        sample_checksums(folder, written)
        return
    with pytest.raises(ValueError, match="large"):
        sample_checksums(folder, written)


@pytest.mark.parametrize("size", [0, 10, 90, 94, 96, 110])
def test_another_size_is_found_by_a_sample(folder: Path, size: int) -> None:
    written = checksums_of(folder)
    (folder / "large").write_bytes(bytes(range(size)))

    with pytest.raises(ValueError, match="large"):
        sample_checksums(folder, written)


def test_a_missing_file_is_named_and_a_strange_one_is_left_alone(folder: Path) -> None:
    written = checksums_of(folder)
    (folder / ".DS_Store").write_bytes(b"a system's own")
    sample_checksums(folder, written)
    (folder / "small").unlink()

    with pytest.raises(ValueError, match="small is missing"):
        sample_checksums(folder, written)
