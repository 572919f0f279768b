"""Texts about entities of one kind, asked whether they belong to a set: set queries ask for examples of each of their parts.

Entities differ in near values ("of Peru", "of Bolivia"), and every third text mentions a value that its entity does not have.
So neither the kind of thing nor a value's name tells a member.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.example import Example, answering, not_answering
from rag_cover_embedded.training.sources import read_json_rows, word_share
from rag_cover_embedded.training.splits import Part
from rag_cover_embedded.training.subjects import is_kept_from_weights

FILE = "set_members.jsonl"
ASKED = "What are examples of {}?"
"""How set queries ask for the members of a part."""
LIKEST, OTHERS = 2, 1
"""Entities that are no members and share most words with the set's name, and others, beside the members of each set."""
TITLED = 0.7
"""The share of texts that are read with their title before them."""


def make_member_examples(rng: random.Random, part: Part) -> Iterator[Example]:
    """Pair each set with its members, and with entities that do not belong to it."""
    for row in read_json_rows(TEXTS / FILE):
        if is_kept_from_weights(row["domain"]) != part.is_fitted_on:
            continue
        texts = {each["id"]: _text(each["title"], each["text"], rng) for each in row["entities"]}
        for asked in row["sets"]:
            question, members = ASKED.format(asked["set"]), asked["members"]
            yield from (answering(question, texts[name]) for name in members)
            rest = [texts[name] for name in texts if name not in members and name not in asked["unclear"]]
            rest.sort(key=lambda text: -word_share(question, text))
            others = rng.sample(rest[LIKEST:], min(OTHERS, len(rest[LIKEST:])))
            yield from (not_answering(question, text) for text in (*rest[:LIKEST], *others))


def _text(title: str, text: str, rng: random.Random) -> str:
    return f"{title}. {text}" if rng.random() < TITLED else text
