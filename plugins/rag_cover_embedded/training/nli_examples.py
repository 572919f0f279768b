"""Examples of entailment: the NLI sets, and passages with statements about them."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.example import ENTAILMENT, NOT_ENTAILED, Example, answering, not_answering
from rag_cover_embedded.training.sources import other_squad_texts, paragraphs_of, read_json_rows, sentences_of, squad_paragraphs
from rag_cover_embedded.training.splits import Part


def entailment_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Read the NLI file; QNLI rows are question and sentence, so they train the answers head."""
    elsewhere = other_squad_texts(data, part)
    around = [sentence for context, _ in squad_paragraphs(data, part) for sentence in sentences_of(context)]
    keep = {"breaking_nli": 0.2, "med": 0.4, "counterfactual_nli": 0.8}
    with gzip.open(data / "nli/train.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if not part.has_document(row["premise"]) or rng.random() > keep.get(row["source"], 1.0):
                continue
            if row["source"] == "qnli":
                if row["premise"] not in elsewhere and not any(row["hypothesis"][:80] in text for text in elsewhere):
                    entailed = row["label"] == "entailment"
                    yield (answering if entailed else not_answering)(row["premise"], row["hypothesis"])
            elif row["scheme"] == "3way" or row["label"] == "entailment":
                premise = _surround_premise(row["premise"], around, rng) if rng.random() < 0.1 else row["premise"]
                yield Example(Task.ENTAILMENT, premise, row["hypothesis"], ENTAILMENT[row["label"]])
            else:
                yield Example(Task.ENTAILMENT, row["premise"], row["hypothesis"], NOT_ENTAILED)


def _surround_premise(premise: str, sentences: Sequence[str], rng: random.Random) -> str:
    """Set a premise among unrelated sentences, which change neither what follows from it nor what does not."""
    parts = [*rng.sample(sentences, rng.randint(1, 3)), premise]
    rng.shuffle(parts)
    return " ".join(parts)


def passage_entailment_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair passages with statements: their own sentences, shortened or altered, another passage's, answers to questions."""
    for context, _ in squad_paragraphs(data, part):
        found = sentences_of(context)
        if len(found) < 4 or rng.random() < 0.3:
            continue
        for chosen in rng.sample(range(len(found)), 2):
            start = rng.randint(max(0, chosen - 3), chosen)
            window, statement = found[start : start + 4], found[chosen]
            yield Example(Task.ENTAILMENT, " ".join(window), _shorten(statement, rng), ENTAILMENT["entailment"])
            if (altered := _alter_statement(statement, context, rng)) is not None:
                yield Example(Task.ENTAILMENT, " ".join(window), altered, NOT_ENTAILED)
            outside = [sentence for sentence in found if sentence not in window]
            if outside:
                yield Example(Task.ENTAILMENT, " ".join(window), rng.choice(outside), NOT_ENTAILED)
    for row in read_json_rows(data / "multihop/2wiki_500.jsonl"):
        if part.has(row["question"]):
            yield from _two_hop_statements(row)
    yield from _answer_statements(data, part)


def _two_hop_statements(row: dict[str, Any]) -> Iterator[Example]:
    """State each hop's answer, which follows from the subject's paragraph and from no other."""
    for pair, (subject, _, value) in zip(row["qa_pairs"], row["evidences"], strict=False):
        for title, sentences in paragraphs_of(row):
            text = f"{title}. {' '.join(sentences)}"
            about = subject.lower() in title.lower() or title.lower() in subject.lower()
            if about and value.lower() in text.lower():
                yield Example(Task.ENTAILMENT, text, pair["answer"], ENTAILMENT["entailment"])
            elif about:
                yield Example(Task.ENTAILMENT, text, pair["answer"], NOT_ENTAILED)


def _answer_statements(data: Path, part: Part) -> Iterator[Example]:
    """Pair QED's paragraphs with answers that people judged: right ones that name the same thing, wrong ones that do not."""
    paragraphs = {
        row["question_text"]: row for row in read_json_rows(data / "reading/qed_dev.jsonl") if part.has(row["question_text"])
    }
    for row in read_json_rows(data / "answers/evouna_nq.jsonl"):
        if (source := paragraphs.get(row["question"])) is None or row["improper"]:
            continue
        for system in ("gpt35", "chatgpt"):
            answer, right = row[f"answer_{system}"], row[f"judge_{system}"]
            if not answer or right is None or not 5 < len(answer.split()) < 30:
                continue
            named = source["original_nq_answers"][0][0]["string"].lower() in answer.lower()
            if right == named:
                label = ENTAILMENT["entailment"] if right else NOT_ENTAILED
                yield Example(Task.ENTAILMENT, source["paragraph_text"], answer, label)


def _shorten(statement: str, rng: random.Random) -> str:
    """Drop what stands in brackets and, half the time, a last clause after a comma."""
    plain = re.sub(r"\s*\([^)]*\)", "", statement)
    head, comma, _ = plain.rpartition(", ")
    return head + "." if comma and len(head.split()) > 6 and rng.random() < 0.5 else plain


def _alter_statement(statement: str, context: str, rng: random.Random) -> str | None:
    """Put another number or name of the passage in place of one of the statement's."""
    numbers, names = re.compile(r"\b\d[\d,.]*\d\b"), re.compile(r"(?<!^)(?<=\s)[A-Z][a-z]+(?: [A-Z][a-z]+)*")
    for pattern in (numbers, names):
        mine = pattern.findall(statement)
        others = [each for each in pattern.findall(context) if each not in statement]
        if mine and others:
            return statement.replace(rng.choice(mine), rng.choice(others))
    return None
