"""Texts and premises among others' sentences and among what documents carry along: markup, headers, odd characters.

What stands around changes neither whether a text answers nor whether a claim follows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.authored_examples import claim_examples, contrast_examples
from rag_cover_embedded.training.crossed import make_crossed_examples
from rag_cover_embedded.training.example import Example
from rag_cover_embedded.training.nli_examples import entailment_examples, passage_entailment_examples
from rag_cover_embedded.training.qa_examples import qed_examples, squad_examples
from rag_cover_embedded.training.sources import sentences_of, squad_paragraphs
from rag_cover_embedded.training.splits import Part

LONGEST = 50
"""Words of a text that is surrounded."""
ROOM = 55
"""Words that are put around it at most."""
ODD = (
    "\U0001f4a9\U0001f44d\U0001f3fe \U0001f525\U0001f525 \U0001f600",
    "\x07\x1b[31m\u2028\ufeff",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "\u5b57\u7b26\u6d4b\u8bd5\u6587\u672c",
    "z\u0301\u0327\u0301 a\u0308\u0302",
    "\ufffd\ufffd\ufffd",
    "[SEP] [CLS]",
    "<s> </s> [INST] ###",
    "aGVsbG8gd29ybGQgdGhpcyBpcyBub3RoaW5n",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "---- 8< ----",
    "https://www.example.org/a/b?c=d&e=f#g",
    "Page 3 of 12",
    "Home > Service > Documents > 2",
    "We use cookies. Accept all | Settings",
    "Print this page \u00b7 Share \u00b7 Send",
    "\u00a9 All rights reserved.",
    "[1] [2] [3]",
    "|---|---|---|",
    "lorem ipsum dolor sit amet consectetur",
)
"""What documents carry along beside their sentences."""
SHARES = {"crossed": 0.05, "contrast": 0.6, "claims": 0.5, "squad": 0.1, "qed": 0.2, "statements": 0.15, "nli": 0.04}


def make_surrounded_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Put others' sentences or odd characters around a sample of texts and premises."""
    fillers = [sentence for context, _ in squad_paragraphs(data, part) for sentence in sentences_of(context)]
    sources = {
        "crossed": make_crossed_examples(data, rng, part),
        "contrast": contrast_examples(rng, part),
        "claims": chain(claim_examples(part), claim_examples(part, "contrast_claims.jsonl")),
        "squad": squad_examples(data, rng, part),
        "qed": qed_examples(data, rng, part),
        "statements": passage_entailment_examples(data, rng, part),
        "nli": entailment_examples(data, rng, part),
    }
    for name, examples in sources.items():
        for example in examples:
            text = example.first if example.task is Task.ENTAILMENT else example.second
            if rng.random() < SHARES[name] and len(text.split()) <= LONGEST:
                yield surround_example(example, fillers, rng)


def surround_example(example: Example, fillers: Sequence[str], rng: random.Random) -> Example:
    """Put something before and after a text, or after or before alone; its span moves along."""
    before, after = (_around(fillers, rng) if rng.random() < 0.75 else "" for _ in range(2))
    gap = rng.choice((" ", " ", "\n", "\n\n"))
    before, after = before and before + gap, after and gap + after
    if example.task is Task.ENTAILMENT:
        return replace(example, first=f"{before}{example.first}{after}")
    span = example.span
    if span is not None and span[0] >= 0:
        span = (span[0] + len(before), span[1] + len(before))
    return replace(example, second=f"{before}{example.second}{after}", span=span)


def _around(fillers: Sequence[str], rng: random.Random) -> str:
    if rng.random() < 0.35:
        return " ".join(rng.choice(ODD) for _ in range(rng.randint(1, 4)))
    chosen: list[str] = []
    for sentence in rng.sample(fillers, rng.randint(1, 3)):
        if sum(len(each.split()) for each in chosen) + len(sentence.split()) <= ROOM:
            chosen.append(sentence)
    return " ".join(chosen)
