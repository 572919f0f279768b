from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from rag_cover.errors import IncomparableError, InputError, InvalidValueError
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.studies import Setting, study_components
from rag_cover.traces import Trace

Make = Callable[..., TraceResult]


def trace(question: int, words: int = 4, **metadata: Any) -> Trace:
    return Trace.model_validate(
        {
            "question": {"text": f"Why {question}?", "id": str(question)},
            "steps": [{"passages": ["word " * words]}],
            "metadata": metadata,
        }
    )


@pytest.fixture
def grid(make_utility: Make) -> list[TraceResult]:
    """Make six questions under k in (2, 8) and two rerankers: 8 adds 0.2, the reranker 0.1, but question 0 is hurt by 8."""
    return [
        make_utility(trace(number, words=4 * k, k=k, reranker=reranker), 0.1, worth)
        for number in range(6)
        for k in (2, 8)
        for reranker in ("none", "tiny")
        for worth in [0.2 + 0.1 * (reranker == "tiny") + (k == 8) * (-0.25 if number == 0 else 0.2)]
    ]


def test_every_setting_gets_its_mean_over_questions(grid: list[TraceResult]) -> None:
    study = study_components(grid, by=["k", "reranker"])

    means = {figures.setting.name: round(figures.utility.estimate, 6) for figures in study.settings}
    assert means == {
        "k=2, reranker=none": 0.2,
        "k=2, reranker=tiny": 0.3,
        "k=8, reranker=none": 0.325,
        "k=8, reranker=tiny": 0.425,
    }
    assert (study.questions, study.left_out, study.unit) == (6, 0, "words")
    assert [figures.length.estimate for figures in study.settings] == [8, 8, 32, 32]


def test_the_frontier_leaves_out_what_costs_the_same_and_gives_less(grid: list[TraceResult]) -> None:
    study = study_components(grid, by=["k", "reranker"])

    assert [figures.setting.name for figures in study.frontier] == ["k=2, reranker=tiny", "k=8, reranker=tiny"]


def test_effects_are_of_one_component_all_else_equal(grid: list[TraceResult]) -> None:
    study = study_components(grid, by=["k", "reranker"])

    effects = {(effect.component, effect.reference, effect.level): effect for effect in study.effects}
    assert effects["k", 2, 8].difference.interval.estimate == pytest.approx(0.125)
    assert effects["reranker", "none", "tiny"].difference.interval.estimate == pytest.approx(0.1)
    assert {effect.pairs for effect in study.effects} == {2}


def test_an_effect_that_cannot_be_told_apart_is_named_and_has_no_number(make_utility: Make) -> None:
    settings = [(2, "none"), (8, "tiny")]
    results = [make_utility(trace(0, k=k, reranker=reranker), 0.0, 0.1 * k) for k, reranker in settings]

    study = study_components(results, by=["k", "reranker"])

    assert study.effects == ()
    assert [note.partition(" cannot")[0] for note in study.notes] == ["The effect of k=8", "The effect of reranker=tiny"]


def test_the_questions_that_a_setting_hurts_come_worst_first_with_both_utilities(grid: list[TraceResult]) -> None:
    study = study_components(grid, by=["k", "reranker"])

    hurt = {figures.setting.name: figures.hurt for figures in study.settings}["k=8, reranker=none"]
    assert [each.question for each in hurt] == ["Why 0?"]
    assert (hurt[0].baseline, hurt[0].utility, hurt[0].change) == pytest.approx((0.2, -0.05, -0.25))
    assert [figures.below_zero for figures in study.settings] == [0, 0, 1, 0]


def test_a_change_within_the_margin_hurts_nobody(grid: list[TraceResult]) -> None:
    wide, narrow = (study_components(grid, by=["k"], margin=margin).settings[1].hurt for margin in (0.25, 0.24))

    assert (len(wide), len(narrow)) == (0, 1)


def test_a_margin_out_of_range_is_refused(grid: list[TraceResult]) -> None:
    with pytest.raises(InvalidValueError, match=r"margin is -0\.1"):
        study_components(grid, by=["k"], margin=-0.1)


def test_one_text_is_no_list_of_components(grid: list[TraceResult]) -> None:
    with pytest.raises(InvalidValueError, match=r"give a list: by=\['k'\]"):
        study_components(grid, by="k")


def test_the_p_values_of_all_settings_are_corrected_together(grid: list[TraceResult]) -> None:
    against = [figures.against_baseline for figures in study_components(grid, by=["k", "reranker"]).settings]

    assert against[0] is None
    assert all(each.adjusted_p_value >= each.p_value for each in against[1:] if each)
    assert max(each.adjusted_p_value / each.p_value for each in against[1:] if each) == pytest.approx(3, abs=0.2)


def test_another_baseline_may_be_named(grid: list[TraceResult]) -> None:
    baseline = Setting((("k", 8), ("reranker", "none")))

    study = study_components(grid, by=["k", "reranker"], baseline=baseline)

    assert study.baseline == baseline
    assert [figures.setting for figures in study.settings if figures.against_baseline is None] == [baseline]


def test_a_baseline_that_was_not_run_is_refused(grid: list[TraceResult]) -> None:
    with pytest.raises(IncomparableError, match=r"under the baseline k=5\. There are: k=2; k=8"):
        study_components(grid, by=["k"], baseline=Setting((("k", 5),)))


def test_questions_that_a_setting_lacks_are_left_out_of_all_and_counted(grid: list[TraceResult]) -> None:
    lacking = [result for result in grid if not (result.trace.question.id == "0" and result.trace.metadata["k"] == 8)]

    study = study_components(lacking, by=["k"])

    assert (study.questions, study.left_out) == (5, 1)


def test_what_was_not_measured_counts_as_not_run(grid: list[TraceResult]) -> None:
    unmeasured = [replace(grid[0], outcomes={"utility": NotApplicable("no references")}), *grid[1:]]

    assert study_components(unmeasured, by=["k", "reranker"]).left_out == 1


def test_several_runs_of_a_question_are_one_question(grid: list[TraceResult]) -> None:
    once, twice = study_components(grid, by=["k"]), study_components(grid * 2, by=["k"])

    assert once.settings == twice.settings


def test_tokens_are_those_the_pipeline_counted_where_all_traces_say_so(make_utility: Make) -> None:
    results = [make_utility(trace(0, k=k, prompt_tokens=100 * k), 0.0, 0.1) for k in (1, 2)]

    study = study_components(results, by=["k"])

    assert study.unit == "tokens"
    assert [figures.length.estimate for figures in study.settings] == [100, 200]


def test_a_tokeniser_of_ones_own_counts_the_prompt(grid: list[TraceResult]) -> None:
    study = study_components(grid, by=["k"], count_tokens=len)

    assert study.unit == "tokens"
    assert [figures.length.estimate for figures in study.settings] == [40, 160]


@pytest.mark.parametrize(
    ("by", "problem"),
    [(["color"], "no trace says under which 'color'"), (["k", "generator"], "no trace says under which 'generator'")],
)
def test_an_unknown_component_is_refused(grid: list[TraceResult], by: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        study_components(grid, by=by)


def test_a_single_setting_is_no_study(grid: list[TraceResult]) -> None:
    with pytest.raises(IncomparableError, match=r"All traces have the same k \(k=2\)"):
        study_components(_only(grid, k=2), by=["k"])


def test_settings_without_a_common_question_are_refused(make_utility: Make) -> None:
    results = [make_utility(trace(number, k=number), 0.0, 0.1) for number in (1, 2)]

    with pytest.raises(IncomparableError, match="No question was measured under all 2 settings"):
        study_components(results, by=["k"])


def test_utilities_of_two_presets_are_refused(grid: list[TraceResult]) -> None:
    other = grid[0].utility
    assert other is not None
    mixed = [replace(grid[0], outcomes={"utility": replace(other, preset="unbiased")}), *grid[1:]]

    with pytest.raises(IncomparableError, match=r"differ in their preset \(official, unbiased\)"):
        study_components(mixed, by=["k"])


def test_results_without_utilities_are_refused(grid: list[TraceResult]) -> None:
    with pytest.raises(InputError, match="no trace was measured for utility"):
        study_components([replace(result, outcomes={}) for result in grid], by=["k"])


def test_a_study_goes_to_json(grid: list[TraceResult]) -> None:
    document = json.loads(json.dumps(study_components(grid, by=["k", "reranker"]).to_dict(), allow_nan=False))

    assert document["settings"][2]["setting"] == {"k": 8, "reranker": "none"}
    assert document["settings"][2]["hurt"][0]["change"] == pytest.approx(-0.25)


def _only(results: Iterable[TraceResult], k: int) -> list[TraceResult]:
    return [result for result in results if result.trace.metadata["k"] == k]
