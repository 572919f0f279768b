"""Every check of the suites for models catches something: models that are broken in the ways in which models break."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from rag_cover.backends import ScoringItem, Span
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer, ScriptedReceiver
from rag_cover.testing.conformance import (
    AbstentionDetectorTests,
    EmbedderTests,
    EntailerTests,
    LocatorTests,
    ReceiverTests,
    ScorerTests,
)
from rag_cover.traces import Sample

Answer = Callable[[Any], Any]


class Model:
    """Answers items by a function, whatever it is called."""

    def __init__(self, answer: Answer, threshold: float = 0.5, fingerprint: object = "a model") -> None:
        self.correctness = self.entail = self.locate = self.embed = answer
        self.threshold, self.fingerprint = threshold, fingerprint


class Restless(Model):
    """Gives itself another name whenever it is asked for it."""

    @property
    def fingerprint(self) -> str:
        return f"model at {time.perf_counter_ns()}"

    @fingerprint.setter
    def fingerprint(self, _: object) -> None: ...


class Forgetful:
    """Puts what it is asked on itself, and answers about what it finds there."""

    threshold, fingerprint = 0.5, "forgetful"

    def __init__(self, answer: Answer) -> None:
        self.answer, self.items = answer, ()

    def correctness(self, items: Any) -> Any:
        self.items = items
        time.sleep(0.001)
        return self.answer(self.items)


def words(items: Sequence[ScoringItem]) -> Any:
    return KeywordScorer().correctness(items)


def cut(items: Sequence[ScoringItem], longest: int = 2_000) -> list[ScoringItem]:
    return [ScoringItem(item.question, item.text[:longest], item.references) for item in items]


def by_length(items: Sequence[ScoringItem]) -> Any:
    return words(sorted(items, key=lambda item: len(item.text)))


def drifting() -> Answer:
    calls = iter(range(1, 1_000))
    return lambda items: np.clip(words(items) - 1e-4 * next(calls), 0, 1).astype(np.float32)


def refusing_blank(items: Sequence[ScoringItem]) -> Any:
    if any(not item.text.strip() for item in items):
        message = "empty sequence"
        raise IndexError(message)
    return words(items)


def taking_out(items: Any) -> Any:
    found = words(items)
    if isinstance(items, list) and items:
        items.pop()
    return found


def blank_is_right(items: Sequence[ScoringItem]) -> Any:
    return np.array([float(not item.text.strip()) for item in items], dtype=np.float32)


SCORERS: dict[str, tuple[Any, str, str]] = {
    "a column": (Model(lambda items: words(items)[:, None]), "test_it_answers_every_item", "shape"),
    "a list": (Model(lambda items: words(items).tolist()), "test_it_answers_every_item", "return an array"),
    "whole numbers": (Model(lambda items: words(items).round().astype(int)), "test_it_answers_every_item", "float32"),
    "percents": (Model(lambda items: words(items) * 100), "test_it_answers_every_item", r"left \[0, 1\]"),
    "NaN": (Model(lambda items: words(items) * np.nan), "test_it_answers_every_item", "NaN or infinity"),
    "an error without items": (
        Model(lambda items: words(items) / words(items).max()),
        "test_no_items_have_no_answers",
        "raised Val",
    ),
    "drift": (Model(drifting()), "test_the_same_items_get_the_same_answers", "seed what samples"),
    "scaled over the batch": (
        Model(lambda items: words(items) / max(1, len(items))),
        "test_an_item_is_answered_alone_as_among_others",
        "mask the padding",
    ),
    "sorted by length": (Model(by_length), "test_the_order_of_items_does_not_matter", "in the order of the items"),
    "each item once": (
        Model(lambda items: words(list(dict.fromkeys(items)))),
        "test_an_item_that_is_asked_twice_is_answered_twice",
        "shape",
    ),
    "state": (Forgetful(words), "test_many_threads_get_what_one_gets", "guard it by a lock"),
    "no blank texts": (Model(refusing_blank), "test_odd_texts_are_answered_too", "an empty text raised IndexError"),
    "a list that shrinks": (Model(taking_out), "test_what_it_is_asked_stays_as_it_was", "work on a copy"),
    "no fingerprint": (Model(words, fingerprint=None), "test_its_fingerprint_names_it", "has no fingerprint"),
    "a blank fingerprint": (Model(words, fingerprint=" "), "test_its_fingerprint_names_it", "is blank"),
    "an address": (Model(words, fingerprint=f"{object()}"), "test_its_fingerprint_names_it", "an address in memory"),
    "a moment": (Restless(words), "test_its_fingerprint_names_it", "changes"),
    "a threshold in percent": (Model(words, threshold=50), "test_its_threshold_is_a_probability", "the threshold is 50"),
    "blank covers": (Model(blank_is_right), "test_a_blank_text_covers_nothing", "an empty text counts as covering"),
    "exchanged": (
        Model(lambda items: 1 - words(items)),
        "test_a_text_that_answers_scores_above_one_that_does_not",
        "exchanged",
    ),
    "covers all": (Model(words, threshold=0.0), "test_its_threshold_tells_answers_from_other_texts", "fit the threshold"),
    "no references": (Model(words), "test_references_decide", "show the model the references"),
    "cut": (Model(lambda items: words(cut(items))), "test_an_answer_at_the_end_of_a_long_text_counts", "in windows"),
}


def pairs(items: Sequence[tuple[str, str]]) -> Any:
    return KeywordEntailer().entail(items)


ENTAILERS: dict[str, tuple[Any, str, str]] = {
    "two classes": (Model(lambda items: pairs(items)[:, :2]), "test_it_answers_every_item", "shape"),
    "a list": (Model(lambda items: pairs(items).tolist()), "test_it_answers_every_item", "return an array"),
    "whole numbers": (Model(lambda items: pairs(items).round().astype(int)), "test_it_answers_every_item", "float32"),
    "logits": (Model(lambda items: pairs(items) * 9 - 4), "test_it_answers_every_item", r"left \[0, 1\]"),
    "NaN": (Model(lambda items: pairs(items) * np.nan), "test_it_answers_every_item", "NaN or infinity"),
    "sigmoids": (Model(lambda items: np.full((len(items), 3), 0.5)), "test_it_answers_every_item", "add up to 1"),
    "contradiction first": (Model(lambda items: pairs(items)[:, ::-1]), "test_its_labels_are_in_order", "exchanged"),
    "exchanged": (
        Model(lambda items: pairs([(b, a) for a, b in items])),
        "test_premise_and_hypothesis_are_not_exchanged",
        "a pair is",
    ),
    "cut": (
        Model(lambda items: pairs([(a[:2_000], b) for a, b in items])),
        "test_what_stands_at_the_end_of_a_long_premise_counts",
        "in windows",
    ),
}


def located(items: Sequence[ScoringItem]) -> list[Span | None]:
    return KeywordLocator().locate(items)


def counted_in_bytes(items: Sequence[ScoringItem]) -> list[Span | None]:
    return [
        span and Span(*(min(len(item.text[:place].encode()), len(item.text)) for place in (span.start, span.end)))
        for item, span in zip(items, located(items), strict=True)
    ]


LOCATORS: dict[str, tuple[Any, str, str]] = {
    "an array": (Model(lambda items: np.zeros(len(items))), "test_it_answers_every_item", "return a list"),
    "texts": (Model(lambda items: [item.text for item in items]), "test_it_answers_every_item", "return a Span or None"),
    "outside": (Model(lambda items: [Span(0, 10_000)] * len(items)), "test_it_answers_every_item", "stay inside the text"),
    "found only": (Model(lambda items: list(filter(None, located(items)))), "test_it_answers_every_item", "one for each"),
    "nothing": (Model(lambda items: [None] * len(items)), "test_the_fragment_holds_the_answer", "no fragment was found"),
    "the first word": (Model(lambda items: [Span(0, 5)] * len(items)), "test_the_fragment_holds_the_answer", "does not hold"),
    "a blank made up": (
        Model(lambda items: [Span(0, 1) for _ in items]),
        "test_a_blank_text_has_no_fragment",
        "has the fragment",
    ),
    "bytes": (Model(counted_in_bytes), "test_places_are_counted_in_code_points", "count in code points"),
    "cut": (
        Model(lambda items: located(cut(items))),
        "test_an_answer_at_the_end_of_a_long_text_is_found",
        "no fragment was found",
    ),
}


def hashed(texts: Sequence[str]) -> Any:
    found = np.zeros((len(texts), 512), dtype=np.float32)
    for row, text in zip(found, texts, strict=True):
        row[[sum(map(ord, word)) % 512 for word in text.lower().split() or ["?"]]] = 1
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def padded(texts: Sequence[str]) -> Any:
    longest = max(map(len, texts), default=0)
    return np.ones((len(texts), longest or 1), dtype=np.float32) / np.sqrt(longest or 1)


EMBEDDERS: dict[str, tuple[Any, str, str]] = {
    "lists": (Model(lambda texts: hashed(texts).tolist()), "test_it_answers_every_item", "return an array"),
    "whole numbers": (Model(lambda texts: np.eye(len(texts), dtype=int)), "test_it_answers_every_item", "float32"),
    "one too few": (Model(lambda texts: hashed(texts[1:])), "test_it_answers_every_item", "one each"),
    "any length": (Model(lambda texts: hashed(texts) * 3), "test_it_answers_every_item", "unit length"),
    "NaN": (Model(lambda texts: hashed(texts) * np.nan), "test_it_answers_every_item", "NaN or infinity"),
    "flat without texts": (
        Model(lambda texts: hashed(texts) if texts else np.zeros(0)),
        "test_no_items_have_no_answers",
        "shape",
    ),
    "as long as the text": (Model(padded), "test_all_texts_have_vectors_of_one_size", "the same dimensions"),
    "all alike": (
        Model(lambda texts: np.ones((len(texts), 4), dtype=np.float32) / 2),
        "test_texts_alike_in_meaning_are_nearer",
        "pooling",
    ),
}


class Receiving:
    """Draws samples by a function."""

    fingerprint = "receiving"

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.sample = draw


class Detecting:
    """A detector that abstains as it is told to."""

    fingerprint = "detecting"

    def __init__(self, abstains: Callable[..., Any]) -> None:
        self.abstains = abstains


def drawn(items: Any, *, n: int = 10, seed: int = 0) -> Any:
    return ScriptedReceiver(prior=["yes", "no"]).sample(items, n=n, seed=seed)


def logprobs(value: float) -> Callable[..., Any]:
    return lambda items, *, n=10, seed=0: [(Sample.model_construct(text="x", token_logprobs=(value,)),) * n for _ in items]  # noqa: ARG005


def unseeded() -> Callable[..., Any]:
    calls = iter(range(1_000))
    return lambda items, *, n=10, seed=0: drawn(items, n=n, seed=next(calls))  # noqa: ARG005


RECEIVERS: dict[str, tuple[Any, str, str]] = {
    "one too few": (Receiving(lambda items, **more: drawn(items[1:], **more)), "test_it_answers_every_item", "one each"),
    "always ten": (Receiving(lambda items, **_: drawn(items)), "test_it_answers_every_item", "draw n for each"),
    "texts": (Receiving(lambda items, *, n=10, **_: [("x",) * n for _ in items]), "test_it_answers_every_item", "no Sample"),
    "probabilities": (Receiving(logprobs(0.5)), "test_it_answers_every_item", "natural logarithms"),
    "NaN": (Receiving(logprobs(np.nan)), "test_it_answers_every_item", "natural logarithms"),
    "no seed": (Receiving(unseeded()), "test_the_same_items_get_the_same_answers", "seed what samples"),
    "no passages": (Receiving(drawn), "test_it_reads_the_passages", "show the model the passages"),
    "at most three": (
        Receiving(lambda items, *, n=10, seed=0: drawn(items, n=min(n, 3), seed=seed)),
        "test_as_many_samples_are_drawn_as_are_asked_for",
        "n=5 did not draw 5",
    ),
    "a passage is needed": (
        Receiving(lambda items, **more: drawn([(asked, (read[0],)) for asked, read in items], **more)),
        "test_odd_texts_are_answered_too",
        "raised IndexError",
    ),
}

DETECTORS: dict[str, tuple[Any, str, str]] = {
    "an array": (Detecting(lambda items: np.zeros(len(items))), "test_it_answers_every_item", "return a list"),
    "too few": (Detecting(lambda items: ["no"] * (len(items) - 1)), "test_it_answers_every_item", "return one for each"),
    "booleans": (Detecting(lambda items: [False] * len(items)), "test_it_answers_every_item", "return one of no, partly"),
    "never": (Detecting(lambda items: ["no"] * len(items)), "test_a_reply_that_declines_abstains", "are not seen"),
    "always": (Detecting(lambda items: ["wholly"] * len(items)), "test_a_reply_that_answers_does_not", "count as refusals"),
    "blanks too": (
        Detecting(lambda items: ["wholly"] * len(items)),
        "test_a_blank_reply_does_not_abstain",
        "counts as a refusal",
    ),
}

SUITES = {
    AbstentionDetectorTests: DETECTORS,
    ScorerTests: SCORERS,
    EntailerTests: ENTAILERS,
    LocatorTests: LOCATORS,
    EmbedderTests: EMBEDDERS,
    ReceiverTests: RECEIVERS,
}
FAULTS = [
    pytest.param(suite, *fault, id=f"{suite.__name__}-{name}")
    for suite, faults in SUITES.items()
    for name, fault in faults.items()
]


@pytest.mark.parametrize(("suite", "broken", "check", "sentence"), FAULTS)
def test_what_is_broken_is_told_in_a_sentence(suite: type[Any], broken: object, check: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        getattr(suite(), check)(broken)


@pytest.mark.parametrize("suite", SUITES)
def test_every_check_is_seen_to_fail(suite: type[Any]) -> None:
    shared = {check for _, check, _ in SCORERS.values()}  # what all models owe is shown on scorers

    unseen = (
        {name for name in dir(suite) if name.startswith("test_")} - shared - {check for _, check, _ in SUITES[suite].values()}
    )

    assert not unseen
