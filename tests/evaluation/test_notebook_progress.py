"""A bar below a notebook's cell, and nothing in any other program."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rag_cover import Models, Question, SubQuestion, Trace, evaluate
from rag_cover.testing import KeywordScorer

TRACE = Trace(question=Question("What?"), answer="red paint", sub_questions=(SubQuestion("red paint?", role="core"),))


class Cell:
    """What is shown below the cell of a notebook that runs."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def display(self, data: dict[str, str], **_: Any) -> Cell:
        self.lines.append(data["text/plain"])
        return self

    def update(self, data: dict[str, str], **_: Any) -> None:
        self.lines.append(data["text/plain"])


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    shown = Cell()
    monkeypatch.setitem(__import__("sys").modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1)))
    monkeypatch.setitem(__import__("sys").modules, "IPython.display", SimpleNamespace(display=shown.display))
    return shown


def _evaluate(**options: Any) -> None:
    evaluate([TRACE, TRACE], measures=["coverage"], models=Models(judge=KeywordScorer()), **options)


def test_a_notebook_shows_a_bar_that_moves(cell: Cell) -> None:
    _evaluate()

    assert cell.lines[0] == "Measuring"
    assert cell.lines[-1].endswith("2/2")


def test_a_notebook_shows_none_where_none_is_wanted(cell: Cell) -> None:
    _evaluate(progress=False)

    assert cell.lines == []


def test_a_function_of_ones_own_takes_the_bar_s_place(cell: Cell) -> None:
    seen: list[int] = []

    _evaluate(progress=lambda so_far: seen.append(so_far.done))

    assert seen[-1] == 2
    assert cell.lines == []


def test_a_script_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    _evaluate()

    assert capsys.readouterr() == ("", "")
