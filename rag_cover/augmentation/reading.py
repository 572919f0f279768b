"""Short answers read from passages, to fill in what later sub-questions leave open: by a receiver, or by a generator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rag_cover.augmentation.chains import LONGEST_ANSWER
from rag_cover.augmentation.prompts import from_passages
from rag_cover.backends import Failure, Generation, Generator, Receiver
from rag_cover.errors import ModelFailedError
from rag_cover.llm.prompts import Conversation
from rag_cover.questions import Passage
from rag_cover.traces import Sample

__all__ = ["ABSTENTIONS", "SAMPLES", "Reader", "generate_texts", "likeliest", "reading_receiver", "writing_generator"]

_ABBREVIATED = re.compile(r"(?:\b[A-Za-z]\.){2,}$|\b(?:Inc|Jr|Sr|Ltd|Co|Corp|St|Dr|Mr|Mrs)\.$")
T = TypeVar("T")

Asked = Mapping[int, tuple[str, Sequence[Passage]]]
"""Sub-questions by number, each with the passages to answer it from."""

Reader = Callable[[Asked], Mapping[int, str | Failure | None]]
"""Answers sub-questions, all in one call: None where there is no answer, why where answering failed."""

ABSTENTIONS = frozenset(
    {
        "",
        "cannot be determined",
        "i do not know",
        "i dont know",
        "na",
        "no answer",
        "none",
        "not available",
        "not enough information",
        "not mentioned",
        "not specified",
        "unanswerable",
        "unclear",
        "unknown",
    }
)
"""What receivers say that have no answer, without case and punctuation."""

SAMPLES = 30
"""How often a receiver is asked for one answer; samples of a few words are cheap beside the passages they are read from."""


def reading_receiver(receiver: Receiver, *, samples: int = SAMPLES, seed: int = 0) -> Reader:
    """Read answers by what a receiver's samples agree on."""

    def read(asked: Asked) -> Mapping[int, str | Failure | None]:
        items = [(text, tuple(passages)) for text, passages in asked.values()]
        try:
            drawn = _one_each(receiver.sample(items, n=samples, seed=seed) if items else [], len(items), "receiver")
        except ModelFailedError as failed:
            return dict.fromkeys(asked, Failure.of(failed))
        return {number: likeliest(samples) for number, samples in zip(asked, drawn, strict=True)}

    return read


def writing_generator(generator: Generator) -> Reader:
    """Have a generator write answers, in a few words."""

    def write(asked: Asked) -> Mapping[int, str | Failure | None]:
        prompts = [from_passages(text, passages, briefly=True) for text, passages in asked.values()]
        replies = generate_texts(generator, prompts, purpose="sub-answer")
        return {number: _unless_abstained(reply) for number, reply in zip(asked, replies, strict=True)}

    return write


def generate_texts(generator: Generator, prompts: Sequence[Conversation], *, purpose: str) -> list[str | Failure]:
    """Return what a generator writes, all in one call; in place of a reply that it does not give, why."""
    try:
        generations = _one_each(generator.generate(prompts, purpose=purpose) if prompts else [], len(prompts), "generator")
    except ModelFailedError as failed:
        return [Failure.of(failed)] * len(prompts)
    return list(map(_text_of, generations))


def likeliest(samples: Sequence[Sample]) -> str | None:
    """Return the answer that agrees best with all that were given, the earlier of two; None where nobody gave one.

    Agreement is the F1 of words, so that "Sloman" speaks for "Edward Sloman", too: decoding by minimum Bayes risk (Kumar &
    Byrne, NAACL 2004).

    >>> likeliest([Sample("unanswerable"), Sample("Jane"), Sample("Jane Austen."), Sample("Austen"), Sample("Emma")])
    'Jane Austen'
    >>> likeliest([Sample("the U.S.")])
    'the U.S.'
    """
    texts = [sample.text.strip() for sample in samples]
    answers = [text for text in texts if _plain(text) not in ABSTENTIONS and len(text) <= LONGEST_ANSWER]
    words = [Counter(_plain(text).split()) for text in answers]
    agreement = [sum(_f1(mine, other) for other in words) for mine in words]
    return _without_point(answers[agreement.index(max(agreement))]) if answers else None


def _without_point(answer: str) -> str:
    """Leave out the point that ends a sentence; that of an abbreviation stays: "the U.S."."""
    return answer if _ABBREVIATED.search(answer) else answer.rstrip(".")


def _f1(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def _text_of(generation: Generation) -> str | Failure:
    if generation.failure is not None:
        return generation.failure
    text = generation.samples[0].text.strip() if generation.samples else ""
    return text or Failure("empty", "the generator wrote nothing")


def _unless_abstained(reply: str | Failure) -> str | Failure | None:
    return None if isinstance(reply, str) and _plain(reply) in ABSTENTIONS else reply


def _one_each(made: Sequence[T], asked: int, who: str) -> Sequence[T]:
    if len(made) != asked:
        message = f"the {who} returned {len(made)} replies to {asked} questions; it must return one each"
        raise ModelFailedError(message)
    return made


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", "", text.casefold()).split())
