"""Kept cases of `robustness.fuzzing`: ``fuzz_corpus/TARGET/CASE/FILE.case``, each fed again as it is."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.support.fuzz_workers import case_for, ending_of, long_cases

__all__ = ["CORPUS", "grow", "keep_case", "list_cases", "replay"]

CORPUS = Path(__file__).resolve().parents[1] / "robustness" / "fuzz_corpus"

_ENDING = ".case"
_LARGEST = 2_000  # bytes of a case that is kept for what is said of it
_MOST = 8  # of them for a target


def keep_case(folder: Path, target: str, case: str, name: str, content: bytes) -> None:
    """Keep a case under its target, by its file's name with one more ending: no tool shall take it for what it is called."""
    place = _place(folder, target) / case
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}{_ENDING}").write_bytes(content)


def list_cases(folder: Path, target: str) -> list[Path]:
    """List the kept cases of a target."""
    return sorted(each for each in _place(folder, target).glob(f"*/*{_ENDING}") if each.is_file())


def replay(folder: Path, target: str) -> dict[Path, str]:
    """Feed a target's kept cases again; return what became of each."""
    with tempfile.TemporaryDirectory() as place:
        return {each: ending_of(target, each.stem, each.read_bytes(), Path(place)).kind for each in list_cases(folder, target)}


def grow(folder: Path, target: str, seed: int, cases: int) -> int:
    """Keep small cases of which something is said that is said of no kept one; return how many."""
    with tempfile.TemporaryDirectory() as place:
        kept = [(each.stem, each.read_bytes()) for each in list_cases(folder, target)]
        known = {_pattern(ending_of(target, *each, Path(place)).words) for each in kept}
        before = len(known)
        for number, (name, content) in _small_cases(target, seed, cases):
            if len(known) >= _MOST:
                break
            pattern = _pattern(ending_of(target, name, content, Path(place)).words)
            if pattern not in known:
                known.add(pattern)
                keep_case(folder, target, f"{seed}-{number}", name, content)
    return len(known) - before


def _small_cases(target: str, seed: int, cases: int) -> Iterator[tuple[int, tuple[str, bytes]]]:
    for number in range(long_cases(target), long_cases(target) + cases):
        name, content = case_for(target, number, seed)
        if len(content) <= _LARGEST:
            yield number, (name, content)


def _pattern(words: str) -> str:
    """Write what was said without the case's own words: quoted ones, numbers and paths.

    >>> _pattern("InputError: x/rows.csv, line 12: 'a' is no number") == _pattern("InputError: y.csv, line 3: 'b' is no number")
    True
    """
    said = re.sub(r"\S*/\S*|\S+\.\w+(?=[,:])", "…", words)
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d[\d,.]*", "…", said)[:60]


def _place(folder: Path, target: str) -> Path:
    return folder / re.sub(r"\W+", "_", target)
