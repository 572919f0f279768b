"""Examples from the texts written for this project: see `texts/README.md`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.agreement import varied
from rag_cover_embedded.training.labels import ENTAILMENT, Example, agreeing, answering, not_answering
from rag_cover_embedded.training.sources import rows_of, sentence_spans, word_share
from rag_cover_embedded.training.splits import Part

TEXTS = Path(__file__).parent / "texts"
DEMO = Path(str(files("rag_cover"))) / "demo"
CLAIMS = {"supported": "entailment", "not_mentioned": "neutral", "contradicted": "contradiction"}
_WINDOW = 420  # characters, about what one window of the judge holds


def written_examples(rng: random.Random, part: Part) -> Iterator[Example]:
    """Read every written file; windows are drawn anew at each call."""
    for row in rows_of(TEXTS / "coverage.jsonl"):
        if part.has(row["text"]):
            yield from _coverage(row, rng)
    for row in rows_of(TEXTS / "entailment.jsonl"):
        for name, label in ENTAILMENT.items() if part.has_document(row["premise"]) else ():
            yield Example(Task.ENTAILMENT, row["premise"], row[name], label)
    for row in rows_of(TEXTS / "grounding.jsonl"):
        for claim in row["claims"] if part.has_document(row["passage"]) else ():
            yield Example(Task.ENTAILMENT, row["passage"], claim["text"], ENTAILMENT[CLAIMS[claim["label"]]])
    for row in rows_of(TEXTS / "verdicts.jsonl"):
        for answer in row["answers"] if part.has(row["question"]) else ():
            yield agreeing(row["question"], varied(row["references"], rng), answer["text"], float(answer["correct"]))
            if answer["correct"] and len(answer["text"].split()) > 5:
                yield answering(row["question"], answer["text"])


def _coverage(row: dict[str, Any], rng: random.Random) -> Iterator[Example]:
    """Cut windows out of a text: with the answer, without it, and the likeliest one for a question it does not answer."""
    text, sentences = row["text"], sentence_spans(row["text"])
    windows = [*_windows(sentences, _WINDOW)]
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
        start, end = _around(place, sentences, rng) if rng.random() < 0.75 else (0, len(text))
        yield answering(question, text[start:end], (place[0] - start, place[1] - start))
        without = [span for span in windows if span[1] <= place[0] or span[0] >= place[1]]
        if without:
            likest = max(without, key=lambda span: word_share(question, text[slice(*span)]))
            yield not_answering(question, text[slice(*likest)])


def whole_texts(data: Path, rng: random.Random, part: Part) -> dict[str, list[Example]]:
    """Pair questions with whole texts, as users do: written ones, NQ's own and other paragraphs, the demo's."""
    written = [
        Example(Task.ANSWERS, asked["question"], row["text"], float("fragment" in asked))
        for row in rows_of(TEXTS / "coverage.jsonl")
        for asked in (row["asked"] if part.has(row["text"]) else ())
    ]
    rows = [row for row in rows_of(data / "reading/qed_dev.jsonl") if part.has(row["question_text"])]
    for row in rows:
        for text, label in ((row["paragraph_text"], 1.0), (rng.choice(rows)["paragraph_text"], 0.0)):
            written.append(Example(Task.ANSWERS, row["question_text"], text, label))
    return {"written": written, "demo answers": [*_demo_answers()], "demo passages": [*_demo_passages()]}


def _demo_passages() -> Iterator[Example]:
    corpus = {row["id"]: row["text"] for row in rows_of(DEMO / "corpus.jsonl")}
    for row in rows_of(DEMO / "labels.jsonl"):
        for name, text in corpus.items():
            yield Example(Task.ANSWERS, row["sub_question"], text, float(name in row["passages"]))


def _demo_answers() -> Iterator[Example]:
    traces = [trace for name in ("narrow", "forgetful") for trace in rows_of(DEMO / f"{name}.jsonl")]
    answers = {(trace["pipeline"], trace["question"]["id"]): trace["answer"] for trace in traces}
    for row in rows_of(DEMO / "labels.jsonl"):
        for pipeline, covered in row["answers"].items():
            yield Example(Task.ANSWERS, row["sub_question"], answers[pipeline, row["question_id"]], float(covered))


def _windows(sentences: list[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """Group sentences into windows of about ``size`` characters."""
    start, end = sentences[0]
    for begin, stop in sentences[1:]:
        if stop - start > size:
            yield start, end
            start = begin
        end = stop
    yield start, end


def _around(place: tuple[int, int], sentences: list[tuple[int, int]], rng: random.Random) -> tuple[int, int]:
    """Draw a window of whole sentences that holds a place, of about the usual size at most."""
    first = next(i for i, (_, end) in enumerate(sentences) if place[0] < end)
    last = next(i for i, (_, end) in enumerate(sentences) if place[1] <= end)
    for _ in range(rng.randint(0, 4)):
        before, after = max(0, first - 1), min(len(sentences) - 1, last + 1)
        grown = (before, last) if rng.random() < 0.5 else (first, after)
        if sentences[grown[1]][1] - sentences[grown[0]][0] <= _WINDOW:
            first, last = grown
    return sentences[first][0], sentences[last][1]
