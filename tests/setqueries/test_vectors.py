"""Every metric and threshold case of vectors/quest.json: gold and predicted titles in; scores, averages, thresholds out.

The vectors are those of the paper's own evaluation. Its BM25 cases are of a retriever, and checked where there is one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries.metrics import (
    GRID,
    RANKS,
    Averages,
    Mean,
    average,
    average_scores,
    best_threshold,
    candidates_above,
    mrecall_at_k,
    recall_at_k,
    set_scores,
)

VECTORS = json.loads((Path(__file__).parent / "vectors" / "quest.json").read_text(encoding="utf-8"))
TOLERANCE = VECTORS["meta"]["tolerance"]
PRINTED = 0.0005 + TOLERANCE  # the table of thresholds is printed with three digits

Case = dict[str, Any]

each_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["name"]) for case in VECTORS["metric_cases"] if "per_example" in case]
)
each_wrong_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["name"]) for case in VECTORS["metric_cases"] if "run_eval_error" in case]
)
each_fit = pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in VECTORS["threshold_cases"]])


def side_by_side(case: Case) -> list[tuple[list[str], list[str]]]:
    """Pair gold with predicted titles; a query predicted twice has what was predicted last."""
    predicted = {each["query"]: each["docs"] for each in case["pred"]}
    return [(each["docs"], predicted[each["query"]]) for each in case["gold"]]


def templates_of(case: Case) -> list[str | None]:
    return [each["template"] for each in case["gold"]]


def as_written(averages: Averages[Mean]) -> dict[str, dict[str, float]]:
    """Write averages as the vectors do: over all queries, and under each template's name."""
    assert averages.overall is not None
    named = {"all": averages.overall} | {str(template): mean for template, mean in averages.by_template.items()}
    return {name: {"n": mean.n, "value": mean.value} for name, mean in named.items()}


def assert_written(found: Mapping[str, dict[str, float]], expected: Mapping[str, dict[str, float]]) -> None:
    assert found.keys() == expected.keys()
    for name, mean in expected.items():
        assert found[name] == pytest.approx(mean, abs=TOLERANCE, rel=0)


@each_case
def test_each_querys_scores_are_those_of_the_vectors(case: Case) -> None:
    expected = case["per_example"]

    scores = [set_scores(gold, predicted) for gold, predicted in side_by_side(case)]

    assert [each.precision for each in scores] == pytest.approx(expected["P"], abs=TOLERANCE, rel=0)
    assert [each.recall for each in scores] == pytest.approx(expected["R"], abs=TOLERANCE, rel=0)
    assert [each.f1 for each in scores] == pytest.approx(expected["F1"], abs=TOLERANCE, rel=0)


@each_case
@pytest.mark.parametrize("k", RANKS)
def test_each_querys_recall_at_each_rank_is_that_of_the_vectors(case: Case, k: int) -> None:
    expected = case["per_example"]

    recalls = [recall_at_k(gold, ranked, k=k) for gold, ranked in side_by_side(case)]
    mrecalls = [mrecall_at_k(gold, ranked, k=k) for gold, ranked in side_by_side(case)]

    assert recalls == pytest.approx(expected[f"recall@{k}"], abs=TOLERANCE, rel=0)
    assert mrecalls == pytest.approx(expected[f"mrecall@{k}"], abs=TOLERANCE, rel=0)


@each_case
def test_average_scores_overall_and_by_template_are_those_of_the_vectors(case: Case) -> None:
    expected, templates = case["run_eval"], templates_of(case)

    averages = average_scores([set_scores(*each) for each in side_by_side(case)], templates)

    assert averages.overall is not None
    named = {"all": averages.overall} | {str(template): mean for template, mean in averages.by_template.items()}
    for name, of in (("Avg. Precision", "precision"), ("Avg. Recall", "recall"), ("Avg. F1", "f1")):
        found = {group: {"n": mean.n, "value": getattr(mean, of)} for group, mean in named.items()}
        assert_written(found, expected[name])


@each_case
@pytest.mark.parametrize("k", RANKS)
def test_average_recall_at_each_rank_is_that_of_the_vectors(case: Case, k: int) -> None:
    expected, templates = case["analyze_retriever"], templates_of(case)

    recall = average([recall_at_k(*each, k=k) for each in side_by_side(case)], templates)
    mrecall = average([mrecall_at_k(*each, k=k) for each in side_by_side(case)], templates)

    assert_written(as_written(recall), expected[f"Avg. Recall@{k}"])
    assert_written(as_written(mrecall), expected[f"MRecall@{k}"])


@each_wrong_case
def test_what_the_vectors_refuse_is_refused(case: Case) -> None:
    ((gold, predicted),) = side_by_side(case)

    with pytest.raises(InvalidValueError, match="without gold titles"):
        set_scores(gold, predicted)
    with pytest.raises(InvalidValueError, match="without gold titles"):
        recall_at_k(gold, predicted, k=20)
    with pytest.raises(InvalidValueError, match="without gold titles"):
        mrecall_at_k(gold, predicted, k=20)


@each_fit
def test_the_best_threshold_is_that_of_the_vectors(case: Case) -> None:
    threshold, f1 = case["best_threshold_ref"]
    gold, candidates = zip(*side_by_side(case), strict=True)
    probabilities = [[math.exp(each) for each in row] for row in case["logprob_relevant"]]

    fit = best_threshold(gold, candidates, probabilities)

    assert fit.threshold == pytest.approx(threshold, abs=TOLERANCE, rel=0)
    assert fit.scores.f1 == pytest.approx(f1, abs=TOLERANCE, rel=0)
    assert fit.scores.n == len(gold)


@each_fit
def test_every_thresholds_scores_are_those_of_the_vectors(case: Case) -> None:
    expected = case["official_table_3dp"]
    gold, candidates = zip(*side_by_side(case), strict=True)
    probabilities = [[math.exp(each) for each in row] for row in case["logprob_relevant"]]

    tried = best_threshold(gold, candidates, probabilities).tried

    assert [f"{threshold:.2f}" for threshold in tried] == list(expected) == [f"{threshold:.2f}" for threshold in GRID]
    for threshold, scores in tried.items():
        found = {"f1": scores.f1, "precision": scores.precision, "recall": scores.recall}
        assert found == pytest.approx(expected[f"{threshold:.2f}"], abs=PRINTED, rel=0)


@each_fit
def test_what_is_kept_at_a_threshold_is_that_of_the_vectors(case: Case) -> None:
    _, candidates = zip(*side_by_side(case), strict=True)
    probabilities = [[math.exp(each) for each in row] for row in case["logprob_relevant"]]

    kept = [candidates_above(some, likely, threshold=0.9) for some, likely in zip(candidates, probabilities, strict=True)]

    assert kept == list(case["kept_at_0.9"].values())
