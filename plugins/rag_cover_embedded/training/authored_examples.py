"""Examples from the texts written for this project: see `texts/README.md`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.agreement import vary_references
from rag_cover_embedded.training.example import ABSTAINS, ENTAILMENT, NO_SPAN, Example, agreeing, answering, not_answering
from rag_cover_embedded.training.sources import read_json_rows, sentence_spans, word_share
from rag_cover_embedded.training.splits import FITTING, Part, bucket

TEXTS = Path(__file__).parent / "texts"
CLAIMS = {
    "supported": "entailment",
    "not_mentioned": "neutral",
    "not_found": "neutral",
    "contradicted": "contradiction",
}
LONG_REPLY = 60  # words
SHORT_REPLY, SHORT_AS_REPLY = 20, 0.7
"""Words of a text that is mostly read as a reply, and how often."""
MIDDLING_AS_REPLY = 0.35
REPLY_FORMS, FORMS_AS_REPLY = "reply forms", 0.85
"""The kind of pairs that are replies of a form (a list, after a hedge, …), and how often they are read as replies."""
WINDOW = 420  # characters, about what one window of the judge holds
_LONGEST = 620
"""Characters of the longest text that is read whole."""


def read_authored_examples(rng: random.Random, part: Part) -> Iterator[Example]:
    """Read every written file; windows are drawn anew at each call."""
    for row in read_json_rows(TEXTS / "coverage.jsonl"):
        if part.has(row["text"]):
            yield from _coverage(row, rng)
    for row in read_json_rows(TEXTS / "entailment.jsonl"):
        for name, label in ENTAILMENT.items() if part.has_document(row["premise"]) else ():
            yield Example(Task.ENTAILMENT, row["premise"], row[name], label)
    for row in read_json_rows(TEXTS / "grounding.jsonl"):
        for claim in row["claims"] if part.has_document(row["passage"]) else ():
            yield Example(Task.ENTAILMENT, row["passage"], claim["text"], ENTAILMENT[CLAIMS[claim["label"]]])
    for row in read_json_rows(TEXTS / "verdicts.jsonl"):
        for answer in row["answers"] if part.has(row["question"]) else ():
            yield agreeing(row["question"], vary_references(row["references"], rng), answer["text"], float(answer["correct"]))
            if answer["correct"] and len(answer["text"].split()) > 5:
                yield answering(row["question"], answer["text"])


def coverage_examples(rng: random.Random, part: Part, name: str) -> Iterator[Example]:
    """Pair passages of several facts with questions in other words, half of which they do not answer."""
    for row in read_json_rows(TEXTS / name):
        if is_learned(row["text"], part):
            yield from _coverage(row, rng)


def is_learned(key: str, part: Part) -> bool:
    """Return whether a newer written text belongs to a part: all buckets learn but those that are fitted on."""
    return (bucket(key) in FITTING.questions) == part.is_fitted_on


def claim_examples(part: Part, name: str = "claims.jsonl") -> Iterator[Example]:
    """Pair passages, lists, tables and dialogues with claims of some 25 kinds."""
    for row in read_json_rows(TEXTS / name):
        for claim in row["claims"] if is_learned(row["premise"], part) else ():
            yield Example(Task.ENTAILMENT, row["premise"], claim["text"], ENTAILMENT[CLAIMS[claim["label"]]])


def agreement_examples(rng: random.Random, part: Part, name: str = "agreement.jsonl") -> Iterator[Example]:
    """Pair references with denials, hedges, other roles, aliases, units and partial lists."""
    for row in read_json_rows(TEXTS / name):
        if not is_learned(row["question"], part):
            continue
        for side, label in (("right", 1.0), ("wrong", 0.0)):
            for answer in row[side]:
                yield agreeing(row["question"], row["references"], answer["text"], label)
                if label and rng.random() < 0.3:
                    yield Example(Task.REPLIES, row["question"], answer["text"], 1.0, abstains=ABSTAINS["no"])


def contrast_examples(rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair questions with texts that look alike, of which one answers and the other does not (`contrast.jsonl`)."""
    for row in read_json_rows(TEXTS / "contrast.jsonl"):
        if not is_learned(row["question"], part):
            continue
        for pair in row["pairs"]:
            for label in (1.0, 0.0):
                cut = _decisive(pair["yes"], pair["no"], rng) if label else _shorten(pair["no"], rng)
                if cut is not None:
                    text, place = cut
                    reply = rng.random() < (FORMS_AS_REPLY if row["kind"] == REPLY_FORMS else _share_as_reply(text))
                    yield Example(Task.REPLIES if reply else Task.ANSWERS, row["question"], text, label, place)


def _share_as_reply(text: str) -> float:
    words = len(text.split())
    return SHORT_AS_REPLY if words < SHORT_REPLY else MIDDLING_AS_REPLY if words < LONG_REPLY else 0.0


def _decisive(text: str, other: str, rng: random.Random) -> tuple[str, tuple[int, int] | None] | None:
    """Cut a text to a window with the sentences that its counterpart lacks, and place them.

    None for a long text of which that place is not known.
    """
    sentences = sentence_spans(text)
    own = [span for span in sentences if text[slice(*span)] not in other]
    whole = len(text) <= WINDOW or (len(text) <= _LONGEST and rng.random() < 0.5)
    if not own or len(own) == len(sentences) or own[-1][1] - own[0][0] > WINDOW // 2:
        return (text, None) if whole else None
    place = (own[0][0], own[-1][1])
    start, end = (0, len(text)) if whole else around(place, sentences, rng)
    return text[start:end], (place[0] - start, place[1] - start) if len(own) == 1 else None


def _shorten(text: str, rng: random.Random) -> tuple[str, tuple[int, int]]:
    """Cut a text that does not answer to a window now and then, and always where it is long."""
    if len(text) <= WINDOW or (len(text) <= _LONGEST and rng.random() < 0.5):
        return text, NO_SPAN
    start, end = rng.choice([*windows_of(sentence_spans(text), WINDOW)])
    return text[start:end], NO_SPAN


def abstention_examples(part: Part) -> Iterator[Example]:
    """Pair questions with refusals and with replies that look like one (`abstentions.jsonl`)."""
    answers = {"no": None, "partly": None, "wholly": 0.0}
    for row in read_json_rows(TEXTS / "abstentions.jsonl"):
        if is_learned(row["question"], part):
            kind = row["abstains"]
            label = 1.0 if kind == "no" and "non_answer" not in row["how"] else answers[kind]
            yield Example(Task.REPLIES, row["question"], row["text"], label, abstains=ABSTAINS[kind])


def _coverage(row: dict[str, Any], rng: random.Random) -> Iterator[Example]:
    """Cut windows out of a text: with the answer, without it, and the likeliest one for a question it does not answer."""
    text, sentences = row["text"], sentence_spans(row["text"])
    windows = [*windows_of(sentences, WINDOW)]
    for asked in row["asked"]:
        question = asked["question"]
        if (fragment := asked.get("fragment")) is None:
            ranked = sorted(windows, key=lambda span: -word_share(question, text[slice(*span)]))
            chosen = ranked[0] if rng.random() < 0.7 else rng.choice(ranked)
            yield not_answering(question, text[slice(*chosen)])
            if len(windows) > 1 and rng.random() < 0.3:
                yield not_answering(question, text)
            continue
        begin = text.index(fragment)
        place = (begin, begin + len(fragment))
        start, end = around(place, sentences, rng) if rng.random() < 0.75 else (0, len(text))
        yield answering(question, text[start:end], (place[0] - start, place[1] - start))
        without = [span for span in windows if span[1] <= place[0] or span[0] >= place[1]]
        if without:
            likest = max(without, key=lambda span: word_share(question, text[slice(*span)]))
            yield not_answering(question, text[slice(*likest)])


def windows_of(sentences: list[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """Group sentences into windows of about ``size`` characters."""
    start, end = sentences[0]
    for begin, stop in sentences[1:]:
        if stop - start > size:
            yield start, end
            start = begin
        end = stop
    yield start, end


def around(place: tuple[int, int], sentences: list[tuple[int, int]], rng: random.Random, size: int = WINDOW) -> tuple[int, int]:
    """Draw a window of whole sentences that holds a place, of about the usual size at most."""
    first = next(i for i, (_, end) in enumerate(sentences) if place[0] < end)
    last = next(i for i, (_, end) in enumerate(sentences) if place[1] <= end)
    for _ in range(rng.randint(0, 4)):
        before, after = max(0, first - 1), min(len(sentences) - 1, last + 1)
        grown = (before, last) if rng.random() < 0.5 else (first, after)
        if sentences[grown[1]][1] - sentences[grown[0]][0] <= size:
            first, last = grown
    return sentences[first][0], sentences[last][1]
