"""``attach`` takes the same options in both adapters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from rag_cover.errors import UnknownOptionError
from rag_cover.recording import Recording, RecordingOptions
from rag_cover.testing import KeywordScorer

OWN = {"rag_cover_langchain": ("handler", "only_retrieval", "run_filter", "feedback"), "rag_cover_llama_index": ("dispatcher",)}
NEEDED = {"rag_cover_langchain": "langchain_core", "rag_cover_llama_index": "llama_index.core"}


def _attach_of(adapter: str) -> Callable[..., Recording]:
    pytest.importorskip(NEEDED[adapter], reason=f"needs the extra of {adapter}")
    attach: Callable[..., Recording] = getattr(__import__(adapter), "attach")  # noqa: B009  # a module of any name
    return attach


@pytest.fixture(params=sorted(OWN))
def adapter(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _options(adapter: str) -> dict[str, inspect.Parameter]:
    parameters = dict(inspect.signature(_attach_of(adapter)).parameters)
    return {name: parameter for name, parameter in parameters.items() if name not in OWN[adapter]}


def test_both_adapters_take_the_same_options_with_the_same_types_and_defaults() -> None:
    assert _options("rag_cover_langchain") == _options("rag_cover_llama_index")


def test_the_defaults_shown_are_those_of_a_recording(adapter: str) -> None:
    recording = inspect.signature(Recording).parameters

    shown = {name: parameter.default for name, parameter in _options(adapter).items() if name in recording}

    assert shown == {name: recording[name].default for name in RecordingOptions.__annotations__}


def test_every_option_is_documented(adapter: str) -> None:
    documented = inspect.getdoc(_attach_of(adapter)) or ""

    for name in (*_options(adapter), *OWN[adapter]):
        assert f"\n    {name}: " in documented


def test_options_reach_the_recording(adapter: str) -> None:
    seen: list[Any] = []

    with _attach_of(adapter)(measures=["coverage"], judge=KeywordScorer(), on_result=seen.append) as recording:
        evaluation = recording.evaluation

    assert evaluation.measures == ("coverage",)


def test_an_unknown_option_is_refused_with_the_nearest_one(adapter: str) -> None:
    with pytest.raises(UnknownOptionError, match=r"takes no option 'mesures'. Did you mean 'measures'\?") as refused:
        _attach_of(adapter)(mesures=["coverage"])

    assert isinstance(refused.value, TypeError)
