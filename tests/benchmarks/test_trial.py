"""The labels of the trial of losses fit its traces and its passages."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from rag_cover.coverage import Loss
from rag_cover.stores import read_passages, read_traces

Import = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def losses(module: Import) -> ModuleType:
    """Return the benchmark."""
    return module("reports.losses")


def test_every_sub_question_of_every_trace_has_a_label(losses: ModuleType) -> None:
    missing = [
        (trace.id, each.text)
        for pipelines in losses.labelled_sets().values()
        for pipeline in pipelines
        for trace in read_traces(pipeline.traces)
        for each in trace.sub_questions or ()
        if (trace.question.id, each.text) not in pipeline.read_labels(trace.pipeline)
    ]

    assert missing == []


def test_labels_name_passages_of_their_corpus(losses: ModuleType) -> None:
    ids = {passage.id for path in losses.TRIAL.rglob("*corpus.jsonl") for passage in read_passages(path)}
    labels = [row for path in losses.TRIAL.rglob("*labels.jsonl") for row in losses.lines(path)]

    assert labels
    assert {name for row in labels for name in row["passages"]} <= ids


def test_the_trial_has_losses_of_each_kind_about_evenly(losses: ModuleType) -> None:
    (trial,) = losses.labelled_sets()["Trial"]
    labels = trial.read_labels("workshop")

    found = [
        losses.find_true_loss(trace, *labels[trace.question.id, each.text])
        for trace in read_traces(trial.traces)
        for each in trace.sub_questions or ()
        if each.role == "core"
    ]

    assert {loss: found.count(loss) for loss in (None, Loss.UNUSED, Loss.DROPPED, Loss.NOT_RETRIEVED)} == {
        None: 48,
        Loss.UNUSED: 17,
        Loss.DROPPED: 15,
        Loss.NOT_RETRIEVED: 15,
    }


def test_a_loss_that_is_not_clear_is_not_named(losses: ModuleType) -> None:
    case = losses.Case("q", Loss.UNUSED, Loss.UNUSED, clear=False)

    assert not case.named
    assert not case.right
