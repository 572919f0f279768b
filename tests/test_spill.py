from __future__ import annotations

import sqlite3
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.errors import StoreError
from rag_cover.spill import SpillingDict

NAMES = st.text(st.characters(exclude_categories=()), max_size=2)


@given(calls=st.lists(st.tuples(st.booleans(), NAMES, st.integers(1, 9))), held=st.integers(0, 3))
def test_a_roll_remembers_what_a_dict_does_however_little_of_it_is_in_memory(
    calls: list[tuple[bool, str, int]], held: int
) -> None:
    roll, known = SpillingDict[int](held=held), dict[str, int]()

    for replaces, name, entry in calls:
        if replaces:
            roll[name] = known[name] = entry
        else:
            assert roll.setdefault(name, entry) == known.setdefault(name, entry)

    assert {name: roll.get(name) for _, name, _ in calls} == known
    assert roll.get("none of them") is None


def test_memory_is_bounded_whatever_the_number_of_names() -> None:
    tracemalloc.start()

    roll = SpillingDict[int](held=1_000)
    for number in range(20_500):
        roll[f"trace-{number:09d}"] = number + 1

    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 300_000  # a dict of them takes more than 2,000,000
    assert roll.get("trace-000000000") == 1


def test_a_temporary_file_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: str, **_options: object) -> sqlite3.Connection:
        message = "database or disk is full"
        raise sqlite3.OperationalError(message)

    monkeypatch.setattr(sqlite3, "connect", full)
    roll = SpillingDict[str](held=0)

    with pytest.raises(StoreError, match=r"temporary file \(database or disk is full\); free some space"):
        roll["a"] = "b"
