"""Questions about passages of one subject, nearly all of which answer something else.

That is what a judge meets when a corpus is about one thing: every passage has the question's vocabulary, and few of them
answer it. Each question is paired with what answers it, with passages that nearly do, and with others of the collection.
A written collection names those that nearly do (``likest``: earlier weights took them most for an answer, see
``benchmarks.judge.small_corpora``); elsewhere it is the one of some passages that shares most words with the question.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.example import Example, answering, not_answering
from rag_cover_embedded.training.natural import part_rows
from rag_cover_embedded.training.sources import read_json_rows, sentence_spans, sentences_of, squad_articles, word_share
from rag_cover_embedded.training.splits import Part, bucket

FILE = "subjects.jsonl"
PER_ARTICLE = 30
PER_GROUP = {"squadshifts_wiki": 30, "fairytaleqa": 4, "covidqa": 10}
"""Questions drawn in a pass from an article of SQuAD, and from one article, story or paper of a source of ``judge/answers``."""
LOOKED_AT = 8
"""Passages among which the likest is sought."""
WRITTEN_OTHERS, NATURAL_OTHERS = 3, 1
"""Passages drawn at random beside the likest, of a written and of a natural collection."""
WINDOW = 110
"""Words of a window of a passage."""
SHORT_WINDOW = 70
"""Words of every other window where a collection names what is near: the judge reads long passages in such windows."""
LIKEST = 2
"""Passages that nearly answer, where a collection names them."""
TRAINING_BUCKETS = 85
"""Written collections in buckets below train; those in higher ones are kept from the weights."""


@dataclass(slots=True)
class SubjectQuestion:
    """A question, the passages that answer it, and those that nearly do and are no example."""

    question: str
    answers: list[tuple[str, str]]  # passage, and the words in it that answer ("" where unknown)
    unclear: set[str] = field(default_factory=set)
    likest: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Collection:
    """Passages of one subject and questions about them."""

    passages: list[str]
    asked: list[SubjectQuestion]


def make_subject_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair the questions of each collection with its passages."""
    for collection in read_written_collections(part):
        for asked in collection.asked:
            yield from _pair(collection, asked, rng, others=WRITTEN_OTHERS)
    natural = chain(((each, PER_ARTICLE) for each in _articles(data, part)), _groups(data, part))
    for collection, most in natural:
        for asked in rng.sample(collection.asked, min(most, len(collection.asked))):
            yield from _pair(collection, asked, rng, others=NATURAL_OTHERS)


def is_kept_from_weights(domain: str) -> bool:
    """Return whether a written collection serves to choose and to fit, and trains no weights."""
    return bucket(domain) >= TRAINING_BUCKETS


def read_written_collections(part: Part) -> Iterator[Collection]:
    """Read the collections written for this project, of a part."""
    for row in read_json_rows(TEXTS / FILE):
        if is_kept_from_weights(row["domain"]) == part.is_fitted_on:
            texts = {each["id"]: each["text"] for each in row["passages"]}
            asked = [
                SubjectQuestion(
                    each["question"],
                    [(texts[name], each.get("words", {}).get(name, "")) for name in each["answered_by"]],
                    {texts[name] for name in each["partly_by"]},
                    [texts[name] for name in each.get("likest", ())],
                )
                for each in row["questions"]
            ]
            yield Collection([*texts.values()], asked)


def _articles(data: Path, part: Part) -> Iterator[Collection]:
    for paragraphs in squad_articles(data, part):
        asked = [
            SubjectQuestion(each["question"].strip(), [(paragraph["context"], each["answers"][0]["text"])])
            for paragraph in paragraphs
            for each in paragraph["qas"]
            if not each["is_impossible"]
        ]
        yield Collection([each["context"] for each in paragraphs], asked)


def _groups(data: Path, part: Part) -> Iterator[tuple[Collection, int]]:
    groups: dict[tuple[str, str], Collection] = defaultdict(lambda: Collection([], []))
    for row in part_rows(data / "judge/answers.jsonl.gz", part):
        if row["source"] in PER_GROUP and row["kind"] == "passage":
            group = groups[row["source"], row["group"]]
            if row["text"] not in group.passages:
                group.passages.append(row["text"])
            if row["label"]:
                group.asked.append(SubjectQuestion(row["question"], [(row["text"], row.get("span") or "")]))
    yield from ((group, PER_GROUP[source]) for (source, _), group in groups.items())


def _pair(collection: Collection, asked: SubjectQuestion, rng: random.Random, *, others: int) -> Iterator[Example]:
    question = asked.question
    for text, words in asked.answers:
        if (cut := _window(text, words, rng, most=_longest(asked, rng) if words else WINDOW)) is not None:
            window, span = cut
            yield answering(question, window, span)
    known = {text for text, _ in asked.answers} | asked.unclear
    said = [] if asked.likest else [words.lower() for _, words in asked.answers if words]  # the others are labelled, too
    rest = [text for text in collection.passages if text not in known and not any(words in text.lower() for words in said)]
    for text in _choose_others(question, rest, asked.likest, rng, others=others):
        sentence = rng.choice(sentences_of(text))
        if (cut := _window(text, sentence, rng, most=_longest(asked, rng))) is not None:
            yield not_answering(question, cut[0])


def _choose_others(question: str, rest: list[str], likest: list[str], rng: random.Random, *, others: int) -> list[str]:
    """Draw what nearly answers, then so many others."""
    if named := [text for text in likest if text in rest][:LIKEST]:
        left = [text for text in rest if text not in named]
        return named + rng.sample(left, min(others, len(left)))
    drawn = rng.sample(rest, min(LOOKED_AT, len(rest)))
    if not drawn:
        return []
    nearest = max(drawn, key=lambda text: word_share(question, text))
    return [nearest, *[text for text in drawn if text is not nearest][:others]]


def _longest(asked: SubjectQuestion, rng: random.Random) -> int:
    """Return how many words a window of a passage has: fewer in half of the cases where the collection names what is near."""
    return SHORT_WINDOW if asked.likest and rng.random() < 0.5 else WINDOW


def _window(text: str, words: str, rng: random.Random, *, most: int = WINDOW) -> tuple[str, tuple[int, int] | None] | None:
    """Cut a text to a window round given words, with their place in it; None where the text is long and they are unknown."""
    place = text.find(words) if words else -1
    if len(text.split()) <= most * 1.2:
        return text, (place, place + len(words)) if place >= 0 else None
    if place < 0:
        return None
    sentences = sentence_spans(text)
    first = next(row for row, (_, end) in enumerate(sentences) if place < end)
    last = next(row for row, (_, end) in enumerate(sentences) if place + len(words) <= end)
    wanted = rng.randint(most // 2, most)
    while len(text[sentences[first][0] : sentences[last][1]].split()) < wanted and (first, last) != (0, len(sentences) - 1):
        before = first > 0 and (last + 1 == len(sentences) or rng.random() < 0.5)
        first, last = (first - 1, last) if before else (first, last + 1)
    start = sentences[first][0]
    return text[start : sentences[last][1]], (place - start, place - start + len(words))
