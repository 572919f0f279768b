"""A component study in the terminal and as a page."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rag_cover.measures import TraceResult
from rag_cover.reports import study_table, write_study
from rag_cover.reports.frontiers import HEIGHT, WIDTH, plot_of, ticks_between
from rag_cover.reports.study import study_view
from rag_cover.studies import Study, study_components
from rag_cover.traces import Trace

Make = Callable[..., TraceResult]


def trace(number: int, k: int, reranker: str) -> Trace:
    return Trace.model_validate(
        {
            "question": {"text": f"Why {number}?", "id": str(number)},
            "steps": [{"passages": ["word " * 10 * k]}],
            "metadata": {"k": k, "reranker": reranker},
        }
    )


@pytest.fixture
def study(make_utility: Make) -> Study:
    results = [
        make_utility(
            trace(number, k, reranker), 0.1, 0.2 + 0.1 * (reranker == "tiny") + (k == 8) * (-0.45 if number == 0 else 0.2)
        )
        for number in range(8)
        for k in (2, 8)
        for reranker in ("none", "tiny")
    ]
    return study_components(results, by=["k", "reranker"])


def printed(study: Study, *, limit: int = 10, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=80).print(study_table(study, limit=limit))
    stream.seek(0)
    return stream.read()


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_terminal_opens_with_the_setting_that_is_worth_most(study: Study) -> None:
    shown = words(printed(study))

    assert "Retrieval is worth most with k=8, reranker=tiny: +0.42 (95% interval" in shown
    assert "k=2, reranker=tiny gives +0.30 with the shortest prompt" in shown
    assert "k 2 → 8 +0.12 unclear" in shown
    assert "reranker none → tiny +0.10 better" in shown


def test_the_questions_that_settings_hurt_come_worst_first(study: Study) -> None:
    view = study_view(study)

    assert [(row.setting, row.change) for row in view.hurt] == [
        ("k=8, reranker=none", "\N{MINUS SIGN}0.45"),
        ("k=8, reranker=tiny", "\N{MINUS SIGN}0.35"),
    ]
    assert view.hurt[0].utilities == "+0.20 → \N{MINUS SIGN}0.25"


def test_what_is_not_shown_is_counted(study: Study) -> None:
    assert "… and 1 more" in printed(study, limit=1)


def test_it_fits_80_columns_and_goes_to_plain_terminals(study: Study) -> None:
    assert max(map(len, printed(study).splitlines())) <= 80
    assert printed(study, encoding="ascii").isascii()


def test_every_setting_is_a_point_and_the_frontier_a_line_through_its_own(study: Study) -> None:
    plot = plot_of(study)

    assert [point.on_frontier for point in plot.points] == [False, True, False, True]
    assert plot.line == " ".join(f"{point.x},{point.y}" for point in plot.points if point.on_frontier)
    assert all(0 <= point.x <= WIDTH and 0 <= point.high <= point.y <= point.low <= HEIGHT for point in plot.points)


def test_more_worth_is_higher_and_more_words_are_further_right(study: Study) -> None:
    first, second, third, _ = plot_of(study).points

    assert second.y < first.y
    assert third.x > first.x


def test_harm_is_drawn_below_a_line_at_zero(make_utility: Make) -> None:
    results = [make_utility(trace(0, k, "none"), 0.5, -0.1 * k / 2) for k in (2, 8)]

    plot = plot_of(study_components(results, by=["k"]))

    assert plot.zero is not None
    assert all(point.y > plot.zero for point in plot.points)


@given(st.floats(-1, 1), st.floats(1e-3, 2e5))
def test_ticks_reach_over_both_ends_in_equal_steps_and_not_in_many(low: float, span: float) -> None:
    ticks = ticks_between(low, low + span)

    steps = [after - before for before, after in pairwise(ticks)]
    assert ticks[0] <= low + 1e-6 * span
    assert ticks[-1] >= low + span - 1e-6 * span
    assert all(math.isclose(step, steps[0], rel_tol=1e-6, abs_tol=1e-9) for step in steps)
    assert 2 <= len(ticks) <= 8


def test_the_page_is_complete_and_says_in_words_what_it_draws(tmp_path: Path, study: Study) -> None:
    write_study(tmp_path / "study.html", study)
    page = (tmp_path / "study.html").read_text(encoding="utf-8")

    assert "k=8, reranker=tiny: +0.42 at 80 words, on the frontier" in page
    assert len(re.findall(r'<g class="point', page)) == 4
    assert set(re.findall(r'href="#(\w+)"', page)) <= set(re.findall(r'id="(\w+)"', page))
    assert "http:" not in page
    assert "https:" not in page
    assert "style=" not in page


def test_hostile_names_of_settings_add_no_markup(tmp_path: Path, make_utility: Make) -> None:
    hostile = "<script>alert(1)</script>"
    results = [make_utility(trace(0, k, hostile), 0.5, 0.1 / k) for k in (2, 8)]

    study = study_components(results, by=["k", "reranker"])
    write_study(tmp_path / "study.html", replace(study, notes=(hostile,)))

    assert (tmp_path / "study.html").read_text(encoding="utf-8").count("<script>") == 1


def test_a_notebook_shows_the_page_in_a_frame(study: Study) -> None:
    shown = study._repr_html_()

    assert shown.startswith('<iframe sandbox=""')
    assert "What each setting is worth" in shown
    assert len(repr(study)) <= 300
