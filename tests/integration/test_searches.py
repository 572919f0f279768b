"""What a framework found is kept beside the passages that it is."""

from __future__ import annotations

import threading
from contextvars import ContextVar

from hypothesis import given
from hypothesis import strategies as st

from rag_cover import Passage
from rag_cover.integration import Search, augment_if_possible, augment_question, augmenter_by
from rag_cover.questions import Question, SubQuestion
from rag_cover.registry import Models
from rag_cover.testing import KeywordScorer

ASKED_BY: ContextVar[str] = ContextVar("ASKED_BY", default="nobody")


def by_length(query: str, _k: int) -> list[tuple[str, str]]:
    """Find each word of a query, with who asked for it."""
    return [(word, ASKED_BY.get()) for word in query.split()]


def searching() -> Search[tuple[str, str]]:
    return Search(by_length, lambda found: Passage(found[0], id=found[0]))


@given(st.lists(st.sampled_from("abcdefg"), max_size=7), st.integers(1, 9))
def test_the_first_k_are_found_as_passages(words: list[str], k: int) -> None:
    search = searching()

    passages = search.retrieve(" ".join(words), k=k)

    assert [passage.text for passage in passages] == words[:k]
    assert {found[0] for found in search.first_found([" ".join(words)]).values()} == set(words[:k])


def test_searches_from_other_threads_run_in_the_context_that_they_were_made_in() -> None:
    token = ASKED_BY.set("somebody")
    search = searching()
    ASKED_BY.reset(token)

    other = threading.Thread(target=search.retrieve, args=("a",), kwargs={"k": 1})
    other.start()
    other.join()

    assert search.first_found(["a", "never asked"]) == {"id:a": ("a", "somebody")}


def test_what_is_kept_are_the_frameworks_own() -> None:
    def split(_question: Question) -> list[SubQuestion]:
        return [SubQuestion("blue sky"), SubQuestion("red sea")]

    search = searching()
    models = Models(judge=KeywordScorer(), decomposer=split)
    augmenter = augmenter_by(
        search, models, mode="retrieval", k=9, depth=None, max_tokens=None, max_calls=None, rounds=1, feedback=0, threshold=None
    )

    made = augment_question(augmenter, search, "sky or sea")

    assert {word for word, _ in made.kept} == {"sky", "or", "sea", "blue", "red"}
    assert made.sources == made.kept
    assert augment_if_possible(augmenter, search, " ", on_error="raise") is None
