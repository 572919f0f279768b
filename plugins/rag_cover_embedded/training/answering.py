"""Examples of texts that answer a question, and of texts on the same topic that do not."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.agreement import squad_correctness
from rag_cover_embedded.training.labels import NO_SPAN, Example
from rag_cover_embedded.training.sources import (
    excerpt,
    paragraphs_of,
    rows_of,
    sentence_spans,
    squad_paragraphs,
    window_around,
    word_share,
)
from rag_cover_embedded.training.splits import trains


def squad_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Cut paragraphs into windows of a few sentences: with the answer, beside it, and unanswerable ones."""
    contexts = [context for context, _ in squad_paragraphs(data)]
    for context, questions in squad_paragraphs(data):
        sentences = sentence_spans(context)
        for question in questions:
            text = question["question"].strip()
            if question["is_impossible"]:
                plausible = question.get("plausible_answers") or [{"answer_start": 0, "text": ""}]
                start, end = window_around(sentences, plausible[0]["answer_start"], rng)
                yield Example(Task.ANSWERS, text, context[start:end], 0.0, NO_SPAN)
                continue
            answer = question["answers"][0]
            begin, stop = answer["answer_start"], answer["answer_start"] + len(answer["text"])
            start, end = window_around(sentences, begin, rng)
            if stop > end:
                continue
            yield Example(Task.ANSWERS, text, context[start:end], 1.0, (begin - start, stop - start))
            answers = {a["text"] for a in question["answers"]}
            yield from _beside(text, context, sentences, answers, rng)
            yield from _without_the_answer(text, context, sentences, answers, begin)
            if rng.random() < 0.3:
                yield Example(Task.ANSWERS, text, excerpt(rng.choice(contexts), rng), 0.0, NO_SPAN)
            yield from squad_correctness(text, question, context, sentences, rng)


def _beside(
    question: str, context: str, sentences: list[tuple[int, int]], answers: set[str], rng: random.Random
) -> Iterator[Example]:
    free = [
        (a, b) for a, b in sentences if b - a > 20 and not any(answer.lower() in context[a:b].lower() for answer in answers)
    ]
    if free:
        likest = max(free, key=lambda span: word_share(question, context[slice(*span)]))
        start, end = likest if rng.random() < 0.5 else rng.choice(free)
        yield Example(Task.ANSWERS, question, context[start:end], 0.0, NO_SPAN)


def _without_the_answer(
    question: str, context: str, sentences: list[tuple[int, int]], answers: set[str], begin: int
) -> Iterator[Example]:
    """Take the sentences around the answer's and leave that one out: the right topic, and no answer."""
    index = next((i for i, (_, end) in enumerate(sentences) if begin < end), 0)
    near = [context[a:b].strip() for i, (a, b) in enumerate(sentences) if i != index and abs(i - index) <= 2]
    text = " ".join(near)
    if text and not any(answer.lower() in text.lower() for answer in answers):
        yield Example(Task.ANSWERS, question, text, 0.0, NO_SPAN)


def qed_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Pair NQ questions with their paragraph, and with another one."""
    rows = [row for row in rows_of(data / "reading/qed_dev.jsonl") if trains(row["question_text"])]
    for row in rows:
        paragraph, question = row["paragraph_text"], row["question_text"]
        answer = row["original_nq_answers"][0][0]
        start, end = window_around(sentence_spans(paragraph), answer["start"], rng)
        if answer["end"] <= end:
            yield Example(Task.ANSWERS, question, paragraph[start:end], 1.0, (answer["start"] - start, answer["end"] - start))
            yield from _beside(question, paragraph, sentence_spans(paragraph), {answer["string"]}, rng)
        yield Example(Task.ANSWERS, question, excerpt(rng.choice(rows)["paragraph_text"], rng), 0.0, NO_SPAN)


def two_hop_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Pair each single-hop question of 2Wiki with its paragraph, the other hop's and a distractor."""
    for row in rows_of(data / "multihop/2wiki_500.jsonl"):
        if not trains(row["question"]):
            continue
        paragraphs = [(title, " ".join(sentences)) for title, sentences in paragraphs_of(row)]
        for pair, (subject, _, value) in zip(row["qa_pairs"], row["evidences"], strict=False):
            for title, text in paragraphs:
                about = subject.lower() in title.lower() or title.lower() in subject.lower()
                place = text.lower().find(value.lower())
                if about and place >= 0:
                    span = (place + len(title) + 2, place + len(title) + 2 + len(value))
                    yield Example(Task.ANSWERS, pair["question"], f"{title}. {text}", 1.0, span)
                elif not about and place < 0 and rng.random() < 0.3:
                    yield Example(Task.ANSWERS, pair["question"], f"{title}. {text}", 0.0, NO_SPAN)


def strategy_examples(data: Path) -> Iterator[Example]:
    """Pair StrategyQA's sub-questions with its facts where as many facts as questions line up by words."""
    for row in json.loads((data / "multihop/strategyqa_train.json").read_text()):
        questions = [question for question in row["decomposition"] if "#" not in question]
        if not trains(row["question"]) or len(row["facts"]) < 2:
            continue
        for question in questions:
            shares = [word_share(question, fact) for fact in row["facts"]]
            best = max(range(len(shares)), key=shares.__getitem__)
            if shares[best] >= 0.6:
                yield Example(Task.ANSWERS, question, row["facts"][best], 0.9)
            worst = min(range(len(shares)), key=shares.__getitem__)
            if shares[worst] <= 0.3:
                yield Example(Task.ANSWERS, question, row["facts"][worst], 0.05, NO_SPAN)
