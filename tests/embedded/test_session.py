"""The network gives a text the same numbers alone, in any batch and behind any padding."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover_embedded.inputs import PAD, Encoded, Task, encode_pairs, encode_texts, open_tokenizer
from rag_cover_embedded.session import Network, RoutedNetwork, Session, feed
from rag_cover_embedded.weights import FOLDER

OUTPUTS = ("tokens", "embedding", "entailment", "answers", "correct", "span", "relevance")
TOLERANCE = 1e-5

Arrays = tuple[NDArray[np.float32], ...]


@pytest.fixture(scope="module")
def session() -> Session:
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    return Session(FOLDER / "judge.onnx", threads=2)


@pytest.fixture(scope="module")
def encoded(asked: list[str], passages: list[str]) -> list[Encoded]:
    """Return real inputs of 4 to 256 tokens, of every task, shuffled."""
    tokenizer = open_tokenizer(FOLDER / "tokenizer.json")
    pairs = [(question, " ".join(passages[place : place + 1 + place % 4])) for place, question in enumerate(asked[:24])]
    found = [each for task in (Task.ANSWERS, Task.CORRECT) for each in encode_pairs(tokenizer, task, pairs)]
    found += encode_pairs(tokenizer, Task.ENTAILMENT, [(second, first) for first, second in pairs])
    found += encode_texts(tokenizer, [*asked[:12], *passages[:12], "?", "a"])
    return [found[place] for place in np.random.default_rng(0).permutation(len(found))]


@pytest.fixture(scope="module")
def alone(session: Session, encoded: list[Encoded]) -> list[Arrays]:
    return [session.run([each], OUTPUTS)[0] for each in encoded]


def _apart(found: Sequence[Arrays], wanted: Sequence[Arrays]) -> float:
    """Return the largest difference of any number."""
    pairs = [pair for one, other in zip(found, wanted, strict=True) for pair in zip(one, other, strict=True)]
    return max(float(np.abs(mine - other).max()) for mine, other in pairs)


@pytest.mark.slow
def test_each_text_gets_its_own_numbers_in_its_own_length(encoded: list[Encoded], alone: list[Arrays]) -> None:
    shapes = [[array.shape for array in arrays] for arrays in alone]

    assert shapes == [[(len(each), 384), (384,), (3,), (1,), (1,), (len(each), 2), (len(each), 1)] for each in encoded]


@pytest.mark.slow
def test_a_text_gets_the_same_numbers_in_a_batch(session: Session, encoded: list[Encoded], alone: list[Arrays]) -> None:
    together = session.run(encoded, OUTPUTS)

    assert _apart(together, alone) <= TOLERANCE


@pytest.mark.parametrize(("threads", "batch_tokens"), [(1, 256), (1, 100_000), (3, 1_000)])
@pytest.mark.slow
def test_neither_threads_nor_the_size_of_batches_matter(
    encoded: list[Encoded], alone: list[Arrays], threads: int, batch_tokens: int
) -> None:
    other = Session(FOLDER / "judge.onnx", threads=threads, batch_tokens=batch_tokens)

    together = other.run(encoded, OUTPUTS)

    assert _apart(together, alone) <= TOLERANCE


@pytest.mark.parametrize("padding", [1, 7, 64])
@pytest.mark.slow
def test_a_text_gets_the_same_numbers_behind_any_padding(
    session: Session, encoded: list[Encoded], alone: list[Arrays], padding: int
) -> None:
    for each, wanted in list(zip(encoded, alone, strict=True))[::8]:
        padded = feed([each])
        for name in ("ids", "segments", "mask"):
            padded[name] = np.pad(padded[name], ((0, 0), (0, padding)), constant_values=PAD)
        arrays = session._session.run(list(OUTPUTS), padded)

        found = tuple(array[0, : len(each)] if array.ndim == 3 else array[0] for array in arrays)

        assert _apart([found], [wanted]) <= TOLERANCE


@pytest.mark.slow
def test_tokens_of_texts_that_stay_below_their_least_logit_are_left_out(session: Session, encoded: list[Encoded]) -> None:
    chosen = [replace(each, least=0.0) for each in encoded]

    found = session.run(chosen, ("answers", "replies", "span", "embedding"))

    for each, (answers, replies, span, embedding) in zip(chosen, found, strict=True):
        is_whole = max(answers[0], replies[0]) >= 0
        assert len(span) == (len(each) if is_whole else 0)
        assert len(embedding) == (384 if is_whole else 0)
    assert {len(span) > 0 for _, _, span, _ in found} == {False, True}


def test_every_text_is_in_one_batch_and_batches_are_small(session: Session, encoded: list[Encoded]) -> None:
    batches = session._batches(encoded)

    assert sorted(row for rows in batches for row in rows) == list(range(len(encoded)))
    assert all(len(rows) == 1 or sum(len(encoded[row]) for row in rows) <= 512 for rows in batches)


def test_few_texts_are_shared_among_the_threads(session: Session, encoded: list[Encoded]) -> None:
    alike = [encoded[0]] * 4

    assert [len(rows) for rows in session._batches(alike)] == [2, 2]


def test_nothing_in_is_nothing_out(session: Session) -> None:
    assert session.run([], OUTPUTS) == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_goes_on_judging(session: Session, encoded: list[Encoded], alone: list[Arrays]) -> None:
    session.run(encoded[:4], OUTPUTS)  # the parent's threads have started

    if not (child := os.fork()):
        signal.alarm(60)
        os._exit(0 if _apart(session.run(encoded[:4], OUTPUTS), alone[:4]) <= TOLERANCE else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Numbered:
    """A network whose outputs are its own number and the length of what it reads."""

    def __init__(self, number: int) -> None:
        self.number = number

    def run(self, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[Arrays]:
        return [tuple(np.array([self.number, len(each)], dtype=np.float32) for _ in outputs) for each in encoded]


def test_replies_and_answers_against_references_are_read_by_a_network_of_their_own() -> None:
    opened: list[Network] = []

    def open_replies() -> Network:
        opened.append(Numbered(2))
        return opened[-1]

    network = RoutedNetwork(Numbered(1), open_replies)
    tasks = [Task.ANSWERS, Task.REPLIES, Task.TEXT, Task.CORRECT, Task.ENTAILMENT, Task.REPLIES]
    texts = [Encoded((int(task), *range(1000, 1000 + place)), (0,) * (place + 1)) for place, task in enumerate(tasks)]

    assert [each[0].tolist() for each in network.run(texts[:1], ["answers"])] == [[1, 1]]
    assert not opened
    found = network.run(texts, ["answers"])
    assert [each[0].tolist() for each in found] == [[1, 1], [2, 2], [1, 3], [2, 4], [1, 5], [2, 6]]
    network.run(texts, ["answers"])
    assert len(opened) == 1
    assert network.run([], ["answers"]) == []
