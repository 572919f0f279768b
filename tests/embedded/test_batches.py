"""The same text gets the same verdict alone, in any batch and in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_cover.backends import ScoringItem
from rag_cover_embedded.judge import EmbeddedJudge

Pair = tuple[int, int]
Judges = Callable[..., EmbeddedJudge]

LONGEST = 8
few = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
several_pairs = st.lists(st.tuples(st.integers(0, 147), st.integers(0, 80)), min_size=2, max_size=LONGEST, unique=True)


@pytest.fixture(scope="module")
def alone(new_judge: Judges) -> EmbeddedJudge:
    return new_judge()


@pytest.fixture(scope="module")
def together(new_judge: Judges) -> EmbeddedJudge:
    return new_judge()


def _items(pairs: Sequence[Pair], asked: Sequence[str], passages: Sequence[str], *references: str) -> list[ScoringItem]:
    """Join passages for some of the pairs, so that a batch holds short and long texts."""
    texts = [passages[text] if question % 3 else " ".join(passages[text : text + 4]) for question, text in pairs]
    return [ScoringItem(asked[question], text, references) for (question, _), text in zip(pairs, texts, strict=True)]


@few
@given(pairs=several_pairs)
@pytest.mark.slow
def test_a_coverage_verdict_does_not_depend_on_its_batch(
    pairs: list[Pair], alone: EmbeddedJudge, together: EmbeddedJudge, asked: list[str], passages: list[str]
) -> None:
    items = _items(pairs, asked, passages)
    together._remembered.clear()

    batch = together.correctness(items)
    single = np.concatenate([alone.correctness([item]) for item in items])

    assert np.abs(batch - single).max() <= 1e-5
    assert together.locate(items) == [alone.locate([item])[0] for item in items]


@pytest.mark.slow
@few
@given(pairs=several_pairs, order=st.randoms(use_true_random=False))
def test_a_coverage_verdict_does_not_depend_on_the_order(
    pairs: list[Pair], order: object, together: EmbeddedJudge, asked: list[str], passages: list[str]
) -> None:
    items = _items(pairs, asked, passages)
    shuffled = list(range(len(items)))
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    together._remembered.clear()
    first = together.correctness(items)
    together._remembered.clear()

    second = together.correctness([items[place] for place in shuffled])

    assert np.abs(second - first[shuffled]).max() <= 1e-5


@few
@given(pairs=several_pairs)
@pytest.mark.slow
def test_correctness_given_references_does_not_depend_on_its_batch(
    pairs: list[Pair], judge: EmbeddedJudge, asked: list[str], passages: list[str]
) -> None:
    items = _items(pairs, asked, passages, "at the flow temperature", "35 °C")

    batch = judge.correctness(items)
    single = np.concatenate([judge.correctness([item]) for item in items])

    assert np.abs(batch - single).max() <= 1e-5


@pytest.mark.slow
@few
@given(pairs=several_pairs)
def test_entailment_does_not_depend_on_its_batch(
    pairs: list[Pair], judge: EmbeddedJudge, asked: list[str], passages: list[str]
) -> None:
    texts = [(item.text, item.question) for item in _items(pairs, asked, passages)]

    batch = judge.entail(texts)
    single = np.concatenate([judge.entail([pair]) for pair in texts])

    assert np.abs(batch - single).max() <= 1e-5


@few
@given(pairs=several_pairs)
@pytest.mark.slow
def test_an_embedding_does_not_depend_on_its_batch(
    pairs: list[Pair], judge: EmbeddedJudge, asked: list[str], passages: list[str]
) -> None:
    texts = [text for item in _items(pairs, asked, passages) for text in (item.question, item.text)]

    batch = judge.embed(texts)
    single = np.concatenate([judge.embed([text]) for text in texts])

    assert np.abs(batch - single).max() <= 1e-5


@pytest.mark.slow
def test_reading_every_window_keeps_that_promise_too(new_judge: Judges, asked: list[str], passages: list[str]) -> None:
    items = _items([(question, question % 81) for question in range(0, 148, 6)], asked, passages)

    batch = new_judge(exhaustive=True).correctness(items)
    alone = new_judge(exhaustive=True)
    single = np.concatenate([alone.correctness([item]) for item in items])

    assert np.abs(batch - single).max() <= 1e-5


def test_nothing_asked_is_nothing_answered(judge: EmbeddedJudge) -> None:
    shapes = [judge.correctness([]).shape, judge.entail([]).shape, judge.embed([]).shape]

    assert shapes == [(0,), (0, 3), (0, 384)]
    assert judge.locate([]) == []
