"""Every number of vectors/coverage.json: tables in, metrics, ratings, positions and win rates out, exact to 1e-9."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rag_cover.coverage import (
    METRICS,
    CoverageMetrics,
    CoverageRow,
    CoverageTable,
    Scenarios,
    addressing_position,
    coverage_metrics,
    pairwise_accuracy,
    per_question,
    rating,
    statistics_of,
    win_rate,
)
from rag_cover.questions import Role

VECTORS = json.loads((Path(__file__).parent / "vectors" / "coverage.json").read_text(encoding="utf-8"))
CASES = [pytest.param(case, id=case["name"]) for case in VECTORS["cases"]]
CELLS = {"a_r": "answered_retrieved", "a_nr": "answered_only", "na_r": "retrieved_only", "na_nr": "neither"}


@pytest.mark.parametrize("case", CASES)
def test_pooled_metrics_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    tables = tables_of(case)

    metrics = coverage_metrics(tables, average="pooled")

    assert_metrics(metrics, case["expected_micro"])


@pytest.mark.parametrize("case", CASES)
def test_metrics_by_question_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    tables = tables_of(case)

    metrics = coverage_metrics(tables, average="question")

    assert_metrics(metrics, case["expected_macro"])


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("case", CASES)
def test_named_metrics_of_summed_statistics_are_those_of_the_vectors(case: dict[str, Any], average: str) -> None:
    sums = [statistics_of(table) for table in tables_of(case)]

    total = sum(per_question(sums) if average == "macro" else sums)

    expected = case[f"expected_{average}"]
    assert value_of("core_coverage", total) == close(expected["m1"]["core"])
    assert value_of("background_coverage", total) == close(expected["m1"]["background"])
    assert value_of("follow_up_coverage", total) == close(expected["m1"]["follow-up"])
    assert value_of("core_retrieved", total) == close(expected["m2"]["core"])
    assert value_of("background_retrieved", total) == close(expected["m2"]["background"])
    assert value_of("follow_up_retrieved", total) == close(expected["m2"]["follow-up"])
    assert value_of("core_use", total) == close(expected["m3"])
    assert value_of("retrieval_headroom", total) == close(expected["m4"])
    assert value_of("frequency_gap", total) == close(expected["m5"])
    assert value_of("order_alignment", total) == close(expected["m6"])
    ratings = [each for each in case["ratings"] if each is not None]
    assert value_of("rating", total) == close(sum(ratings) / len(ratings) if ratings else None)


@pytest.mark.parametrize("case", CASES)
def test_ratings_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    tables = tables_of(case)

    ratings = [rating(table) for table in tables]

    assert ratings == [close(each) for each in case["ratings"]]


@pytest.mark.parametrize("case", CASES)
def test_coverage_rates_of_single_tables_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    tables = tables_of(case)

    rates = [coverage_metrics([table]).answered for table in tables]

    for rate, expected in zip(rates, case["coverage_rates"], strict=True):
        assert {role: rate[role] for role in Role} == {role: close(expected[role]) for role in Role}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["notes"] or "empty") for case in VECTORS["addressing_position"]])
def test_positions_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    answer, fragment = case["answer"], case["fragment"]

    position = addressing_position(answer, fragment)

    assert position == close(case["position"])


def test_pairwise_accuracy_is_that_of_the_vectors() -> None:
    pairs = [(pair["A"], pair["B"], pair["gold"]) for pair in VECTORS["pairwise"]["pairs"]]

    accuracy = pairwise_accuracy(pairs)

    assert accuracy == close(VECTORS["pairwise"]["accuracy"])


def test_the_win_rate_is_that_of_the_vectors() -> None:
    judgements = VECTORS["win_rate"]["judgements"]

    rate = win_rate(judgements)

    assert rate == close(VECTORS["win_rate"]["value"])


def tables_of(case: dict[str, Any]) -> list[CoverageTable]:
    return [CoverageTable(tuple(map(row_of, question["subquestions"]))) for question in case["questions"]]


def row_of(row: dict[str, Any]) -> CoverageRow:
    return CoverageRow(Role(row["type"]), row["answered"], tuple(row["chunks"]), row["position"])


def assert_metrics(metrics: CoverageMetrics, expected: dict[str, Any]) -> None:
    for role in Role:
        assert_scenarios(metrics.scenarios[role], expected["scenarios"][role])
        assert metrics.answered[role] == close(expected["m1"][role])
        assert metrics.retrieved[role] == close(expected["m2"][role])
    assert metrics.core_use == close(expected["m3"])
    assert metrics.retrieval_headroom == close(expected["m4"])
    assert metrics.frequency_gap == close(expected["m5"])
    assert metrics.order_alignment == close(expected["m6"])


def assert_scenarios(scenarios: Scenarios | None, expected: Mapping[str, float] | None) -> None:
    assert (scenarios is None) == (expected is None)
    if scenarios is not None and expected is not None:
        assert {cell: getattr(scenarios, name) for cell, name in CELLS.items()} == close(expected)


def close(expected: Any) -> Any:
    return None if expected is None else pytest.approx(expected, abs=VECTORS["meta"]["tolerance"])


def value_of(name: str, total: Any) -> float | None:
    value = float(METRICS[name].statistic(total))
    return None if value != value else value  # noqa: PLR0124 - only NaN differs from itself
