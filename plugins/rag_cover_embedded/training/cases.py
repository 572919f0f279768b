"""Examples from whole cases of retrieval-augmented generation: sub-questions, dense passages, replies, claims.

They stand in `cases.jsonl` and `near_cases.jsonl`. Every passage holds several facts, and all passages of a case are about the
same matter: shared words do not tell which of them answers a sub-question. Every sentence of a reply is labelled by what the
case's passages say.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Any

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.authored_examples import CLAIMS, LONG_REPLY, TEXTS, around, windows_of
from rag_cover_embedded.training.crossed import is_held_out
from rag_cover_embedded.training.example import ENTAILMENT, NO_SPAN, Example, answering, not_answering
from rag_cover_embedded.training.sources import read_json_rows, sentence_spans
from rag_cover_embedded.training.splits import Part

FILES = ("cases.jsonl", "near_cases.jsonl")
WHOLE = 600
"""Characters of the longest text that is always one window of the judge."""
NEGATIVES = 1.2
"""How many sub-questions that a text leaves open are asked for each that it answers."""
AS_PASSAGE = 0.4
"""The share of replies that are also read as passages, as windows of long replies are."""


def case_examples(rng: random.Random, part: Part, file: str = "cases.jsonl") -> Iterator[Example]:
    """Ask each passage and each reply what it answers and as much that it does not; hold claims against the passages."""
    for case in read_json_rows(TEXTS / file):
        if is_held_out(case["domain"]) != part.is_fitted_on:
            continue
        for passage in case["passages"]:
            yield from _ask(case, passage, "", rng)
        for reply in case["answers"]:
            short = len(reply["text"].split()) <= LONG_REPLY * 2
            if short:
                yield from _ask(case, reply, case["question"], rng)
            if not short or rng.random() < AS_PASSAGE:
                yield from _ask(case, reply, "", rng)
            for claim in reply["sentences"]:
                yield from _claims(case["passages"], claim, rng)


def case_texts(mode: str) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Ask every whole passage, or every reply, of the held-out cases every sub-question of its case."""
    for case in chain.from_iterable(read_json_rows(TEXTS / name) for name in FILES):
        if is_held_out(case["domain"]):
            for text in case["passages" if mode == "passage" else "answers"]:
                for name, question in case["subs"].items():
                    asked = (question, text["text"], case["question"] if mode == "reply" else "")
                    yield asked, float(name in text["covers"])


def _ask(case: Mapping[str, Any], text: Mapping[str, Any], user_question: str, rng: random.Random) -> Iterator[Example]:
    """Ask about the whole text or, where it is long or now and then, about a window of it."""
    covered: Mapping[str, str] = text["covers"]
    left = [name for name in case["subs"] if name not in covered]
    for name, quote in covered.items():
        begin = text["text"].index(quote)
        start, end = _cut(text["text"], (begin, begin + len(quote)), rng, whole=bool(user_question))
        cut, place = text["text"][start:end], (begin - start, begin - start + len(quote))
        if user_question:
            yield Example(Task.REPLIES, case["subs"][name], cut, 1.0, place, user_question=user_question)
        else:
            yield answering(case["subs"][name], cut, place)
    count = min(len(left), max(1, round(NEGATIVES * len(covered) + rng.random() - 0.5)))
    for name in rng.sample(left, count):
        start, end = _cut(text["text"], None, rng, whole=bool(user_question))
        cut = text["text"][start:end]
        if user_question:
            yield Example(Task.REPLIES, case["subs"][name], cut, 0.0, NO_SPAN, user_question=user_question)
        else:
            yield not_answering(case["subs"][name], cut)


def _cut(text: str, place: tuple[int, int] | None, rng: random.Random, *, whole: bool) -> tuple[int, int]:
    """Choose the whole text or a window, round a place where one is given."""
    if whole or (len(text) <= WHOLE and rng.random() < 0.6):
        return 0, len(text)
    sentences = sentence_spans(text)
    return rng.choice([*windows_of(sentences, WHOLE)]) if place is None else around(place, sentences, rng, WHOLE)


def _claims(passages: list[Mapping[str, Any]], claim: Mapping[str, Any], rng: random.Random) -> Iterator[Example]:
    """Pair a claim with the passages that decide it, one that is not stated with any passage."""
    label = CLAIMS[claim["label"]]
    by = [passages[number]["text"] for number in claim["by"]]
    if label == "neutral":
        for passage in rng.sample(passages, min(2, len(passages))):
            yield Example(Task.ENTAILMENT, passage["text"], claim["text"], ENTAILMENT[label])
    elif len(by) == 1:
        yield Example(Task.ENTAILMENT, by[0], claim["text"], ENTAILMENT[label])
    elif by:
        first, second = rng.choice([*combinations(by, 2)])
        if len(first) + len(second) <= 2 * WHOLE:
            yield Example(Task.ENTAILMENT, f"{first}\n{second}", claim["text"], ENTAILMENT[label])
