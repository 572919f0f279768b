"""The entailer: the same verdict alone, in any batch, at any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from rag_cover.backends import Entailer
from rag_cover.registry import open_entailer
from rag_cover_transformers.canaries import CANARIES
from rag_cover_transformers.classifiers import Classifier, open_classifier
from rag_cover_transformers.encodings import NetworkInput
from rag_cover_transformers.entailer import NliEntailer
from rag_cover_transformers.model_source import Source

Folder = Callable[[str], Path]

PAIRS = [(premise, hypothesis) for premise, hypothesis, _ in CANARIES] + [
    ("short", "shop"),
    (" ".join(premise for premise, _, _ in CANARIES), "The shop sells shoes and hats."),
]


@pytest.fixture(params=["bert", "roberta", "deberta", "bart"])
def folder(request: pytest.FixtureRequest, nli_folder: Folder) -> Path:
    return nli_folder(request.param)


def test_it_says_what_the_checkpoint_says_in_our_order(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForSequenceClassification.from_pretrained(folder)
    pairs = PAIRS[:-1]
    with torch.inference_mode():
        batches = [tokenizer(premise, hypothesis, return_tensors="pt") for premise, hypothesis in pairs]
        theirs = np.concatenate([network(**batch).logits.softmax(dim=-1).numpy() for batch in batches])

    entailer = open_entailer(f"transformers:{folder}")

    assert isinstance(entailer, Entailer)
    assert np.abs(entailer.entail(pairs) - theirs[:, [2, 1, 0]]).max() <= 1e-5


def test_a_verdict_does_not_depend_on_its_batch_nor_on_the_order(folder: Path) -> None:
    entailer = open_entailer(f"transformers:{folder}", batch_tokens=150)

    batch = entailer.entail(PAIRS)
    single = np.concatenate([entailer.entail([pair]) for pair in PAIRS])
    turned = entailer.entail(PAIRS[::-1])[::-1]

    assert np.abs(batch - single).max() <= 1e-5
    assert np.abs(batch - turned).max() <= 1e-5
    assert (entailer.entail(PAIRS) == batch).all()


@pytest.fixture
def by_words(nli_folder: Folder, bert_tokenizer: Any) -> NliEntailer:
    """Entail where the premise's window has a guitar and the hypothesis' part nobody."""
    opened = open_classifier(Source(str(nli_folder("bert"))))

    class ByWords(Classifier):
        __slots__ = ()

        def logits(self, rows: Sequence[NetworkInput]) -> NDArray[np.float32]:
            texts = [bert_tokenizer.decode(row.ids) for row in rows]
            entailed = [("guitar" in text) and ("nobody" not in text) for text in texts]
            return np.array([[9, 0, 0] if yes else [0, 0, 9] for yes in entailed], np.float32).reshape(-1, 3)

    classifier = ByWords(opened.name, opened.fingerprint, opened.id2label, opened.encoder, opened.runner)
    return NliEntailer(classifier, ("entailment", "neutral", "contradiction"))


@pytest.mark.parametrize("before", [0, 7, 15, 30])
def test_what_a_long_premise_holds_anywhere_is_found(by_words: NliEntailer, before: int) -> None:
    other = "She bought a red car yesterday. "

    found = by_words.entail(
        [(other * before + "A man plays guitar. " + other * (30 - before), "Music."), (other * 30, "Music.")]
    )

    assert found.argmax(axis=1).tolist() == [0, 2]


@pytest.mark.parametrize("sentences", [1, 4, 30])
def test_a_hypothesis_is_read_whole_beside_every_window_up_to_half_an_input(by_words: NliEntailer, sentences: int) -> None:
    encoder = by_words._classifier.encoder
    premise, hypothesis = encoder.tokenise(["The river froze. " * sentences, "She paid for the car in cash. " * 3])
    rows: list[NetworkInput] = []

    by_words._plan(premise, hypothesis, rows)

    assert encoder.pair_room / 3 < len(hypothesis.ids) <= encoder.pair_room / 2
    assert all(row.ids[-len(hypothesis.ids) - 1 : -1].tolist() == hypothesis.ids.tolist() for row in rows)
    assert set(premise.ids.tolist()) <= {token for row in rows for token in row.ids.tolist()}


@pytest.mark.parametrize("before", [0, 7, 15, 30])
def test_every_part_of_a_long_hypothesis_must_be_entailed(by_words: NliEntailer, before: int) -> None:
    fine = "He plays an instrument. "
    mixed = fine * before + "Nobody plays. " + fine * (30 - before)

    found = by_words.entail([("A man plays guitar.", mixed), ("A man plays guitar.", fine * 30)])

    assert found.argmax(axis=1).tolist() == [2, 0]


def test_special_tokens_in_a_text_are_text(nli_folder: Folder) -> None:
    classifier = open_classifier(Source(str(nli_folder("bert"))))
    separator = classifier.encoder.tokenise(["[SEP]"])[0].ids

    assert len(separator) > 1


@pytest.mark.parametrize("pair", [("", "It rains."), ("It rains.", " \n"), ("", "")])
def test_what_is_blank_is_neutral(nli_folder: Folder, pair: tuple[str, str]) -> None:
    assert open_entailer(f"transformers:{nli_folder('bert')}").entail([pair]).tolist() == [[0, 1, 0]]


def test_lone_surrogates_and_no_pairs_are_borne(nli_folder: Folder) -> None:
    entailer = open_entailer(f"transformers:{nli_folder('bert')}")

    assert entailer.entail([("\ud800 it rains", "rain \udfff")]).shape == (1, 3)
    assert entailer.entail([]).shape == (0, 3)


def test_two_classes_leave_nothing_to_contradiction(qnli_folder: Callable[[int], Path]) -> None:
    classifier = open_classifier(Source(str(qnli_folder(2))))

    found = NliEntailer(classifier, ("entailment", "not_entailment")).entail(PAIRS)

    assert np.allclose(found.sum(axis=1), 1, atol=1e-6)
    assert (found[:, 2] == 0).all()


def test_eight_threads_get_what_one_gets(nli_folder: Folder) -> None:
    entailer = open_entailer(f"transformers:{nli_folder('bert')}")
    alone = entailer.entail(PAIRS)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(entailer.entail, [PAIRS] * 8))

    assert all((each == alone).all() for each in found)


def test_the_fingerprint_tells_labels_and_precision_apart(nli_folder: Folder) -> None:
    name = f"transformers:{nli_folder('bert')}"
    opened = [
        open_entailer(name),
        open_entailer(name, precision="bfloat16"),
        open_entailer(name, max_tokens=32),
        open_entailer(name, canaries=(), labels=("entailment", "neutral", "contradiction")),
    ]

    assert len({entailer.fingerprint for entailer in opened}) == 4  # type: ignore[attr-defined]
