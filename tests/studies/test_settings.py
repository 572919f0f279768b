from __future__ import annotations

import pytest

from rag_cover.errors import InputError
from rag_cover.studies.settings import Setting, require_components, setting_of
from rag_cover.traces import Trace


def trace(pipeline: str | None = None, **metadata: object) -> Trace:
    return Trace.model_validate({"question": "Why?", "pipeline": pipeline, "metadata": metadata})


def test_a_setting_is_read_from_metadata() -> None:
    assert setting_of(trace(k=5, reranker="tiny"), ["k", "reranker"]).name == "k=5, reranker=tiny"


def test_a_dotted_name_looks_inside() -> None:
    assert setting_of(trace(retrieval={"k": 5}), ["retrieval.k"]).level("retrieval.k") == 5


def test_the_name_of_the_pipeline_may_carry_the_setting() -> None:
    setting = setting_of(trace("hybrid, k=10; reranker=tiny"), ["k", "reranker"])

    assert (setting.level("k"), setting.level("reranker")) == (10, "tiny")


def test_metadata_is_believed_before_the_name() -> None:
    assert setting_of(trace("k=10", k=5), ["k"]).level("k") == 5


def test_a_number_in_text_is_that_number() -> None:
    assert setting_of(trace(k="5"), ["k"]) == setting_of(trace(k=5), ["k"])


def test_a_component_that_a_trace_does_not_name_is_absent_and_sorts_first() -> None:
    settings = [setting_of(trace(**given), ["k"]) for given in ({"k": 10}, {"k": 2}, {"k": "all"}, {})]

    assert [setting.name for setting in sorted(settings, key=lambda setting: setting.order)] == [
        "k=–", "k=2", "k=10", "k=all",
    ]  # fmt: skip


def test_the_pipeline_itself_is_a_component() -> None:
    assert setting_of(trace("hybrid"), ["pipeline"]) == Setting((("pipeline", "hybrid"),))


def test_a_component_that_no_trace_names_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no trace says under which 'rerankr' .*Did you mean 'reranker'\?"):
        require_components([trace(reranker="tiny")], ["rerankr"])


def test_a_component_that_some_trace_names_is_accepted() -> None:
    require_components([trace(), trace(k=3)], ["k"])
