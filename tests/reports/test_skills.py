"""A skill model in the terminal and as a page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rag_cover.reports import skills_table, write_skills
from rag_cover.reports.frontiers import HEIGHT, WIDTH
from rag_cover.reports.skills import skills_view
from rag_cover.reports.skills_drawings import map_of
from rag_cover.routing import HeldOut, Responses, SkillDescription, SkillRecord, describe_skills
from rag_cover.routing.irt import probabilities
from rag_cover.stats.intervals import Interval

AGENTS = ("small", "large", "specialist")
COSTS = {"small": 1.0, "large": 5.0, "specialist": 2.0}
Describe = Callable[..., SkillDescription]


def record_of(agents: tuple[str, ...] = AGENTS, n: int = 240, *, dimensions: int = 3) -> SkillRecord:
    rng = np.random.default_rng(0)
    relevance = rng.dirichlet(np.full(dimensions, 0.4), n) if dimensions > 1 else np.ones((n, 1))
    difficulty = rng.normal(0, 1.5, (n, dimensions))
    skills = np.array([[0.0] * dimensions, [1.5] * dimensions, [2.5, *[-1.0] * (dimensions - 1)]])[: len(agents)]
    predicted = probabilities((relevance * (skills[:, None, :] - difficulty)).sum(axis=2).T)
    values = (rng.random(predicted.shape) < predicted).astype(float)
    first = relevance.argmax(axis=1) == 0
    texts = [f"{'when did' if first[number] else 'who was'} thing {number} of {'ab'[number % 2]}" for number in range(n)]
    held_out = HeldOut(0.51, 0.62, Interval(0.11, 0.08, 0.14, n), Interval(0.8, 0.77, 0.83, n))
    return SkillRecord("the judge says so", Responses(agents, texts, values), relevance, difficulty, predicted, held_out)


@pytest.fixture(scope="module")
def describe() -> Describe:
    def made(record: SkillRecord | None = None, **options: object) -> SkillDescription:
        record = record or record_of()
        shape = (len(record.responses.agents), record.relevance.shape[1])
        skills = np.arange(np.prod(shape), dtype=float).reshape(shape) / 4
        return describe_skills(record, skills, np.stack([skills - 0.2, skills + 0.2], axis=-1), **options)  # type: ignore[arg-type]

    return made


@pytest.fixture(scope="module")
def description(describe: Describe) -> SkillDescription:
    return describe(costs=COSTS)


def printed(description: SkillDescription, *, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=80).print(skills_table(description))
    stream.seek(0)
    return stream.read()


def page_of(tmp_path: Path, description: SkillDescription) -> str:
    write_skills(tmp_path / "skills.html", description)
    return (tmp_path / "skills.html").read_text(encoding="utf-8")


def test_the_headline_tells_what_choosing_could_bring(description: SkillDescription) -> None:
    values = description.record.responses.values
    view = skills_view(description)

    assert f"succeeds on {values.mean(axis=0).max():.0%} of the questions" in view.headline.before
    assert view.headline.value == f"{values.max(axis=1).mean():.0%}"


def test_the_terminal_shows_agents_dimensions_and_how_sure_it_is(description: SkillDescription) -> None:
    shown = " ".join(printed(description).split())

    assert "specialist" in shown
    assert "Dimension 1" in shown
    assert "asks when: odds ×" in shown
    assert "log-loss is 0.510 nats per response" in shown
    assert "a gain of +0.110 (95% interval +0.080 to +0.140)" in shown
    assert "At equal cost the router gives +" in shown


def test_it_fits_80_columns_and_goes_to_plain_terminals(description: SkillDescription) -> None:
    assert max(map(len, printed(description).splitlines())) <= 80
    assert printed(description, encoding="ascii").isascii()


def test_every_question_is_a_dot_inside_the_map(description: SkillDescription) -> None:
    drawn = map_of(description)

    assert len(drawn.dots) == 240
    assert drawn.left_out == 0
    assert all(0 <= dot.x <= WIDTH and 0 <= dot.y <= HEIGHT for dot in drawn.dots)


def test_of_many_questions_some_are_drawn_and_the_rest_counted(describe: Describe) -> None:
    drawn = map_of(describe(record_of(n=3200)))

    assert len(drawn.dots) <= 1500
    assert len(drawn.dots) + drawn.left_out == 3200


def test_harder_questions_are_further_right_and_higher(description: SkillDescription) -> None:
    first, second = max(description.points, key=lambda point: point.x), min(description.points, key=lambda point: point.x)
    dots = {dot.title.partition(" (")[0]: dot for dot in map_of(description).dots}

    assert dots[first.question].x > dots[second.question].x


def test_a_single_dimension_is_mapped_against_failures(describe: Describe) -> None:
    drawn = map_of(describe(record_of(dimensions=1)))

    assert drawn.y_axis == "share of agents that fail"
    assert drawn.centres == ()


def test_the_page_is_complete_and_says_in_words_what_it_draws(tmp_path: Path, description: SkillDescription) -> None:
    page = page_of(tmp_path, description)

    assert page.count('class="spot') == 240
    assert "What quality costs" in page
    assert "oracle: " in page
    assert set(re.findall(r'href="#(\w+)"', page)) <= set(re.findall(r'id="(\w+)"', page))
    assert "http:" not in page
    assert "https:" not in page
    assert "style=" not in page


def test_without_costs_there_is_no_frontier(tmp_path: Path, describe: Describe) -> None:
    page = page_of(tmp_path, describe())

    assert "What quality costs" not in page
    assert 'data-label="Cost"' not in page


def test_the_best_of_a_group_stands_out(description: SkillDescription) -> None:
    for row in skills_view(description).clusters:
        assert any(best for _, _, best in row.cells)


def test_sparse_responses_leave_the_ends_unknown(tmp_path: Path, describe: Describe) -> None:
    record = record_of()
    values = record.responses.values.copy()
    values[::2, 0] = np.nan
    values[1::2, 1] = np.nan
    sparse = replace(record, responses=Responses(AGENTS, record.responses.questions, values))

    described = describe(sparse, costs=COSTS)

    assert described.frontier is None
    assert skills_view(described).headline.text == "Skills of 3 pipelines from 240 questions"
    assert "What quality costs" not in page_of(tmp_path, described)


def test_hostile_names_and_questions_add_no_markup(tmp_path: Path, describe: Describe) -> None:
    hostile = '<script>alert("1")</script>'
    record = record_of((hostile, "b\u202e", "c"))
    texts = [f"{hostile} {number}" for number in range(240)]
    record = replace(record, responses=Responses(record.responses.agents, texts, record.responses.values), notes=(hostile,))

    page = page_of(tmp_path, describe(record, costs={hostile: 1.0, "b\u202e": 2.0, "c": 3.0}))

    assert page.count("<script>") == 1
    assert "\u202e" not in page


def test_the_same_skills_give_the_same_page(tmp_path: Path, describe: Describe) -> None:
    assert page_of(tmp_path, describe(costs=COSTS)) == page_of(tmp_path, describe(costs=COSTS))
