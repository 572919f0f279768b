"""Choosing among what was retrieved, in pipelines that go on where a model fails."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from rag_cover import Models
from rag_cover.errors import BackendNotFoundError, InvalidValueError, ModelFailedError
from rag_cover.integration import LazyModels, OnRerankError, rerank_or_keep
from rag_cover.testing import KeywordScorer

CALLED = ("Chooser", "texts")


def last_first(texts: Sequence[str], _question: str, _models: Models) -> list[str]:
    return list(reversed(texts))


def broken(_texts: Sequence[str], _question: str, _models: Models) -> list[str]:
    message = "the judge's server is down"
    raise ModelFailedError(message)


def judged(name: str | KeywordScorer | None = None) -> LazyModels:
    return LazyModels(Models(judge=name or KeywordScorer()), ["scorer"])


def test_what_is_chosen_is_returned() -> None:
    assert rerank_or_keep(last_first, ["a", "b"], "Why?", judged(), called=CALLED, on_error="raise", most=1) == ["b", "a"]


def test_of_nothing_nothing_is_chosen_and_no_model_opened() -> None:
    assert rerank_or_keep(last_first, [], "Why?", judged("embedded:nobody"), called=CALLED, on_error="raise") == []


def test_where_a_model_fails_the_first_are_kept_and_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        kept = rerank_or_keep(broken, ["a", "b", "c"], "Why?", judged(), called=CALLED, on_error="keep", most=2)

    assert kept == ["a", "b"]
    assert caplog.messages == ["Chooser left 3 texts in the retriever's order: ModelFailedError: the judge's server is down"]


@pytest.mark.parametrize("on_error", ["keep", "raise"])
def test_a_model_that_cannot_be_opened_is_always_an_error(on_error: OnRerankError) -> None:
    with pytest.raises(BackendNotFoundError, match="nobody"):
        rerank_or_keep(last_first, ["a"], "Why?", judged("nobody"), called=CALLED, on_error=on_error)


def test_a_blank_question_is_an_error_where_errors_are_raised() -> None:
    with pytest.raises(InvalidValueError, match="the question is blank"):
        rerank_or_keep(last_first, ["a"], " ", judged(), called=CALLED, on_error="raise")
