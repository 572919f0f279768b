"""Models that are opened when they are first needed, by whoever holds them, wherever."""

from __future__ import annotations

import copy
import pickle

from rag_cover import Models
from rag_cover.integration import LazyModels
from rag_cover.testing import KeywordScorer


def test_they_are_opened_once() -> None:
    lazy = LazyModels(Models(judge="embedded"), ["scorer"])

    assert lazy.get() is lazy.get()


def test_a_pickle_holds_what_was_named_and_not_what_is_open() -> None:
    lazy = LazyModels(Models(judge="embedded"), ["scorer"])
    opened = lazy.get().judge

    again = pickle.loads(pickle.dumps(lazy))  # noqa: S301  # our own

    assert type(again.get().judge) is type(opened)


def test_whoever_is_copied_shares_what_is_open() -> None:
    lazy = LazyModels(Models(judge=KeywordScorer()), ["scorer"])

    assert copy.deepcopy([lazy])[0].get() is lazy.get()
