"""Negatives that share few words: made of others' texts."""

from __future__ import annotations

import random
from operator import itemgetter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rag_cover_embedded.training.unrelated import others

rows = st.lists(st.sampled_from("abc"), max_size=12).map(
    lambda groups: [{"number": number, "group": group} for number, group in enumerate(groups)]
)


@given(rows, st.integers(0, 99))
def test_a_row_is_paired_with_another_one_of_its_group(found: list[dict[str, Any]], seed: int) -> None:
    pairs = list(others(found, itemgetter("group"), random.Random(seed)))

    assert all(row["group"] == other["group"] and row["number"] != other["number"] for row, other in pairs)


def test_a_row_that_is_alone_in_its_group_has_no_other() -> None:
    assert not list(others([{"group": "a"}, {"group": "b"}], itemgetter("group"), random.Random(0)))


def test_most_rows_of_a_large_group_find_another() -> None:
    found = [{"group": "a", "number": number} for number in range(100)]

    assert len(list(others(found, itemgetter("group"), random.Random(0)))) > 90
