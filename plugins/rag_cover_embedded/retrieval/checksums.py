"""Whether files hold what was written: a CRC-32 of each block of 256 KiB, of which all are compared, or a sample.

A wrong byte, or up to 32 wrong bits in a row, always changes a block's CRC-32 (Peterson & Brown, Proc. IRE 1961). It tells
damage, not forgery.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

__all__ = ["BLOCK", "checksums_of", "compare_checksums", "sample_checksums"]

BLOCK = 1 << 18
READ_IN_FULL = 64_000_000
"""Bytes that a sample reads in full, the smallest files first: about 0.03 s where the system has them in memory."""
SAMPLED = 16
"""Blocks that a sample reads of each file beyond these."""
_DIGITS = 8  # of a CRC-32 in hexadecimal


def checksums_of(folder: Path) -> dict[str, str]:
    """Compute each file's checksums by its name: those of its blocks in their order, eight hexadecimal digits each."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return {path.name: "".join(_read_blocks(path, range(_count_blocks(path)))) for path in files}


def compare_checksums(folder: Path, checksums: Mapping[str, str]) -> None:
    """Compare every byte of a folder's files with their checksums.

    Raises:
        ValueError: a file is missing, or holds something else than was written.
    """
    for path in _paths(folder, checksums):
        _compare(path, checksums[path.name], range(_count_blocks(path)))


def sample_checksums(folder: Path, checksums: Mapping[str, str]) -> None:
    """Compare files with their checksums: in full up to 64 MB together, of each larger one 16 blocks, first and last included.

    Raises:
        ValueError: a file is missing, or one of the blocks holds something else than was written.
    """
    left = READ_IN_FULL
    for size, path in sorted((path.stat().st_size, path) for path in _paths(folder, checksums)):
        left -= size
        blocks = range(_count_blocks(path))
        _compare(path, checksums[path.name], blocks if left >= 0 else _spread(len(blocks), SAMPLED))


def _paths(folder: Path, checksums: Mapping[str, str]) -> list[Path]:
    """Return the files that have checksums; a file that something else put there is left alone."""
    paths = [path for path in folder.iterdir() if path.name in checksums]
    if missing := checksums.keys() - {path.name for path in paths}:
        message = f"{min(missing)} is missing"
        raise ValueError(message)
    return paths


def _compare(path: Path, checksums: str, blocks: Iterable[int]) -> None:
    """Compare blocks of a file, whose size is told by their number and by its last block."""
    wanted = [checksums[start : start + _DIGITS] for start in range(0, len(checksums), _DIGITS)]
    if len(wanted) != _count_blocks(path) or any(
        found != wanted[block] for block, found in zip(blocks, _read_blocks(path, blocks), strict=True)
    ):
        message = f"{path.name} does not hold what was written"
        raise ValueError(message)


def _read_blocks(path: Path, blocks: Iterable[int]) -> Iterator[str]:
    with path.open("rb", buffering=0) as file:
        for block in blocks:
            file.seek(block * BLOCK)
            yield f"{zlib.crc32(file.read(BLOCK)):0{_DIGITS}x}"


def _count_blocks(path: Path) -> int:
    return -(-path.stat().st_size // BLOCK)


def _spread(count: int, most: int) -> list[int]:
    """Choose numbers below a count at even distances, first and last included.

    >>> _spread(9, 3), _spread(2, 3)
    ([0, 4, 8], [0, 1])
    """
    return list(range(count)) if count <= most else [number * (count - 1) // (most - 1) for number in range(most)]
