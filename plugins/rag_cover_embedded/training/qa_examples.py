"""Examples of texts that answer a question, and of texts on the same topic that do not."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from rag_cover_embedded.training.agreement import squad_correctness
from rag_cover_embedded.training.example import Example, answering, not_answering
from rag_cover_embedded.training.sources import (
    paragraphs_of,
    read_json_rows,
    sample_excerpt,
    sentence_spans,
    squad_articles,
    squad_paragraphs,
    window_around,
    word_share,
)
from rag_cover_embedded.training.splits import Part


def squad_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Cut paragraphs into windows of a few sentences: with the answer, beside it, and unanswerable ones."""
    contexts = [context for context, _ in squad_paragraphs(data, part)]
    for context, questions in squad_paragraphs(data, part):
        sentences = sentence_spans(context)
        for question in questions:
            text = question["question"].strip()
            if question["is_impossible"]:
                plausible = question.get("plausible_answers") or [{"answer_start": 0, "text": ""}]
                for most in (1, 3):
                    start, end = window_around(sentences, plausible[0]["answer_start"], rng, most=most)
                    yield not_answering(text, context[start:end])
                continue
            answer = question["answers"][0]
            begin, stop = answer["answer_start"], answer["answer_start"] + len(answer["text"])
            start, end = window_around(sentences, begin, rng)
            if stop > end:
                continue
            yield answering(text, context[start:end], (begin - start, stop - start))
            if (other := _swap_name(text, context, rng)) is not None:
                yield not_answering(other, context[start:end], label=0.05)
            answers = {a["text"] for a in question["answers"]}
            if rng.random() < 0.5:
                yield from _beside(text, context, sentences, answers, rng)
            if rng.random() < 0.5:
                yield from _without_the_answer(text, context, sentences, answers, begin)
            if rng.random() < 0.1:
                yield not_answering(text, sample_excerpt(rng.choice(contexts), rng))
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
        yield not_answering(question, context[start:end])


def _without_the_answer(
    question: str, context: str, sentences: list[tuple[int, int]], answers: set[str], begin: int
) -> Iterator[Example]:
    """Take the sentences around the answer's and leave that one out: the right topic, and no answer."""
    index = next((i for i, (_, end) in enumerate(sentences) if begin < end), 0)
    near = [context[a:b].strip() for i, (a, b) in enumerate(sentences) if i != index and abs(i - index) <= 2]
    text = " ".join(near)
    if text and not any(answer.lower() in text.lower() for answer in answers):
        yield not_answering(question, text)


def _swap_name(question: str, context: str, rng: random.Random) -> str | None:
    """Ask about another name or number of the same passage: most such questions it does not answer."""
    for pattern in (r"\b\d[\d,.]*\d\b", r"(?<=[a-z] )[A-Z][\w'-]+(?: [A-Z][\w'-]+)*"):
        mine = re.findall(pattern, question)
        others = [each for each in re.findall(pattern, context) if each not in question]
        if mine and others and rng.random() < 0.5:
            return question.replace(rng.choice(mine), rng.choice(others))
    return None


def qed_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair NQ questions with their paragraph, and with another one."""
    rows = [row for row in read_json_rows(data / "reading/qed_dev.jsonl") if part.has(row["question_text"])]
    for row in rows:
        paragraph, question = row["paragraph_text"], row["question_text"]
        answer = row["original_nq_answers"][0][0]
        start, end = window_around(sentence_spans(paragraph), answer["start"], rng)
        if answer["end"] <= end:
            yield answering(question, paragraph[start:end], (answer["start"] - start, answer["end"] - start))
            yield from _beside(question, paragraph, sentence_spans(paragraph), {answer["string"]}, rng)
        yield not_answering(question, sample_excerpt(rng.choice(rows)["paragraph_text"], rng))


def two_hop_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair each single-hop question of 2Wiki with its paragraph, the other hop's and a distractor; no hop answers the whole."""
    for row in read_json_rows(data / "multihop/2wiki_500.jsonl"):
        if not part.has(row["question"]):
            continue
        paragraphs = [(title, " ".join(sentences)) for title, sentences in paragraphs_of(row)]
        for pair, (subject, _, value) in zip(row["qa_pairs"], row["evidences"], strict=False):
            for title, text in paragraphs:
                about = subject.lower() in title.lower() or title.lower() in subject.lower()
                place = text.lower().find(value.lower())
                if about and place >= 0:
                    span = (place + len(title) + 2, place + len(title) + 2 + len(value))
                    yield answering(pair["question"], f"{title}. {text}", span)
                    if row["type"] == "compositional":  # one paragraph alone never answers these
                        yield not_answering(row["question"], f"{title}. {text}", touched=pair["question"])
                elif not about and place < 0 and rng.random() < 0.3:
                    yield not_answering(pair["question"], f"{title}. {text}")


def make_retrieval_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair questions with the part of a paragraph that answers them, and with the likest of some others of its article.

    That is what retrieval brings back. Questions that their paragraph leaves open on purpose have no part in it.
    """
    for paragraphs in squad_articles(data, part):
        parts = [text for paragraph in paragraphs for text in _halves(paragraph["context"])]
        for paragraph in paragraphs:
            context, sentences = paragraph["context"], sentence_spans(paragraph["context"])
            for asked in paragraph["qas"]:
                if asked["is_impossible"]:
                    continue
                question, answer = asked["question"], asked["answers"][0]
                place = answer["answer_start"]
                start, end = window_around(sentences, place, rng, most=rng.randint(2, 4))
                yield answering(question, context[start:end], (place - start, place + len(answer["text"]) - start))
                others = [text for text in rng.sample(parts, min(8, len(parts))) if text not in context]
                if others:
                    yield not_answering(question, max(others, key=lambda text: word_share(question, text)))


def _halves(text: str) -> list[str]:
    """Cut a paragraph into parts of three or four sentences."""
    sentences = sentence_spans(text)
    return [text[sentences[i][0] : sentences[min(i + 3, len(sentences) - 1)][1]] for i in range(0, len(sentences), 4)]
