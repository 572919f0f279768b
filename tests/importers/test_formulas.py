"""Cells that a spreadsheet would run: escaped, and read back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.importers.tabular_files import escape_formula, unescape_formula


@given(st.text(alphabet="'=+-@\t a1"))
def test_an_escaped_cell_runs_nothing_and_comes_back(cell: str) -> None:
    escaped = escape_formula(cell)

    assert not escaped.startswith(("=", "+", "-", "@", "\t"))
    assert unescape_formula(escaped) == cell
