"""What retrieval was worth over a data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rag_cover.belief.summary import UtilityGroup, UtilitySummary, own_name, retriever_name
from rag_cover.measures import TraceResult
from rag_cover.summaries import summarise
from rag_cover.traces import RetrievalStep, Trace

Make = Callable[..., TraceResult]


def trace(question: str, *kinds: str, **fields: Any) -> Trace:
    steps = [{"kind": kind, "passages": ["a passage"]} for kind in kinds]
    return Trace.model_validate({"question": {"text": "Why?", "id": question}, "steps": steps, **fields})


def summed(*results: TraceResult, **options: Any) -> UtilitySummary:
    summary = summarise(results, judge="", **options).utility
    assert summary is not None
    return summary


def by_name(groups: tuple[UtilityGroup, ...]) -> dict[str, float]:
    return {group.name: round(group.marginal.estimate, 9) for group in groups}


def test_steps_are_grouped_by_position_and_kind(make_utility: Make) -> None:
    summary = summed(
        make_utility(trace("1", "retrieve", "rerank"), 0.0, 0.5, 0.25),
        make_utility(trace("2", "retrieve", "retrieve"), 0.0, 0.25, -0.25),
    )

    assert by_name(summary.by_position) == {"1. retrieve": 0.375, "2. rerank": 0.25, "2. retrieve": -0.25}
    assert [(group.n, group.hurt, group.clearly_hurt) for group in summary.by_position] == [(2, 0, 0), (1, 0, 0), (1, 1, 1)]


def test_a_harm_within_the_noise_is_not_clear(make_utility: Make) -> None:
    (group,) = summed(make_utility(trace("1", "retrieve"), 0.5, -0.25, half_width=0.5)).by_position

    assert (group.hurt, group.clearly_hurt) == (1, 0)


def test_the_tenth_step_comes_after_the_ninth(make_utility: Make) -> None:
    (tenth,) = summed(make_utility(trace("1", *["retrieve"] * 10), 0.0, *[0.0625] * 10)).by_position[9:]

    assert tenth.name == "10. retrieve"


def test_a_question_asked_twice_is_one_cluster(make_utility: Make) -> None:
    total = summed(*(make_utility(trace("1", "retrieve"), 0.0, worth) for worth in (0.25, 0.75))).total

    assert (total.estimate, total.lower, total.n) == (0.5, None, 1)


def test_types_of_questions_are_those_of_the_metadata_named(make_utility: Make) -> None:
    results = [
        make_utility(trace(str(number), "retrieve", metadata={"hops": hops}), 0.0, worth)
        for number, (hops, worth) in enumerate([(1, 0.5), (2, 0.25), (2, 0.75)])
    ]

    assert by_name(summed(*results, query_type="hops").by_query_type) == {"1": 0.5, "2": 0.5}
    assert summed(*results).by_query_type == ()


@pytest.mark.parametrize(
    ("metadata", "step_id", "name"),
    [
        ({"retriever": "dense"}, "", "dense"),
        ({"retriever": {"first": "dense"}}, "first", "dense"),
        ({"retriever": {"second": "dense"}}, "first", "first"),
        ({}, "bm25", "bm25"),
        ({}, "", "retrieve"),
    ],
)
def test_a_retriever_is_named_by_metadata_else_by_the_step(metadata: dict[str, Any], step_id: str, name: str) -> None:
    asked = Trace(question="Why?", steps=(RetrievalStep(id=step_id),), metadata=metadata)

    assert retriever_name(asked, asked.steps[0]) == name


def test_rerankers_are_no_retrievers(make_utility: Make) -> None:
    assert by_name(summed(make_utility(trace("1", "retrieve", "rerank"), 0.0, 0.5, 0.25)).by_retriever) == {"retrieve": 0.5}


def test_a_step_numbered_by_its_position_has_no_name() -> None:
    assert [own_name(step_id) for step_id in ("step-1", "step-12'", "step-one")] == ["", "", "step-one"]


def test_utility_and_steps_that_hurt_are_metrics_with_intervals(make_utility: Make) -> None:
    results = [
        make_utility(trace(str(number), "retrieve", "rerank"), 0.25, 0.5, worth) for number, worth in enumerate((0.25, -0.25))
    ]

    metrics = summarise(results, judge="").metrics

    utility, hurting = metrics["utility"].interval, metrics["hurting_steps"].interval
    assert utility is not None
    assert hurting is not None
    assert (utility.estimate, utility.lower, utility.upper, utility.n) == (0.5, -1.0, 1.0, 2)  # two questions leave it open
    assert hurting.estimate == 0.25


def test_what_was_not_asked_for_is_not_among_the_metrics() -> None:
    summary = summarise([TraceResult(trace("1"))], judge="")

    assert summary.utility is None
    assert "utility" not in summary.metrics


def test_traces_are_grouped_by_the_gold_string(make_utility: Make) -> None:
    def asked(question: str, text: str) -> Trace:
        steps = [{"kind": "retrieve", "passages": [text]}]
        return Trace.model_validate({"question": {"text": question, "references": ["The Paris"]}, "steps": steps})

    summary = summed(
        make_utility(asked("1?", "It is paris."), 0.0, 0.5),
        make_utility(asked("2?", "Parisians live there."), 0.0, 0.25),
        make_utility(trace("3", "retrieve"), 0.0, 1.0),
    )

    assert by_name(summary.by_gold_string) == {"there, word for word": 0.5, "not there": 0.25}
