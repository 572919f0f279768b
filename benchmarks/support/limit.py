r"""LIMIT's atoms composed: "Who likes A and B?" over documents that say who likes what, gold by set algebra.

Every thing that is asked for is liked by two of the 46 people, any two things by one of them at most (Weller et al., 2025): so
a union has three or four members, an intersection one, and what a difference takes away is half of what it is taken from. Of
``A ∩ B \ C`` gold is what A and B share, and C is liked by somebody else who likes A. A question's hash decides its part.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from benchmarks.support.datasets import lines
from benchmarks.support.entities import TEMPLATES, SetQuestion, query_of
from rag_cover.questions import Passage
from rag_cover_embedded.training.splits import trains

PER_PART = 40
_SEED = 5
_THING = re.compile(r"Who likes (.+)\?")

PHRASINGS: Mapping[str, Sequence[str]] = {
    "A": ("Who likes {A}?", "Which people like {A}?", "People fond of {A}", "Everybody who enjoys {A}"),
    "A ∪ B": (
        "Who likes {A} or {B}?",
        "Who likes either {A} or {B}?",
        "People fond of {A} or of {B}",
        "Fans of {A} as well as fans of {B}",
    ),
    "A ∩ B": (
        "Who likes both {A} and {B}?",
        "Who likes {A} and also {B}?",
        "People fond of {A} who also like {B}",
        "Fans of {A} that are fans of {B} too",
    ),
    "A \\ B": (
        "Who likes {A} but not {B}?",
        "People fond of {A} who do not care for {B}",
        "Who likes {A} without liking {B}?",
        "Fans of {A} except those who like {B}",
    ),
    "A ∪ B ∪ C": (
        "Who likes {A}, {B} or {C}?",
        "People fond of {A}, of {B} or of {C}",
        "Who likes any of {A}, {B} or {C}?",
    ),
    "A ∩ B ∩ C": (
        "Who likes {A}, {B} and {C}, all three?",
        "People fond of {A} who like both {B} and {C}",
        "Who likes {A} and {B} and also {C}?",
    ),
    "A ∩ B \\ C": (
        "Who likes both {A} and {B} but not {C}?",
        "People fond of {A} and {B} who do not care for {C}",
        "Who likes {A} and also {B}, but dislikes {C}?",
    ),
}


def passages(data: Path) -> tuple[Passage, ...]:
    """Read the documents, each under its person's name."""
    rows = lines(data / "setqueries/limit_small_corpus.jsonl")
    return tuple(Passage(row["text"], id=row["_id"], title=row["_id"]) for row in rows)


def likers(found: Sequence[Passage]) -> dict[str, frozenset[str]]:
    """Return who likes each thing, as the documents say it."""
    sets: dict[str, set[str]] = {}
    for passage in found:
        for thing in _things(passage):
            sets.setdefault(thing, set()).add(str(passage.id))
    return {thing: frozenset(people) for thing, people in sets.items()}


def asked_for(data: Path) -> dict[str, frozenset[str]]:
    """Return who is relevant to each thing that a query of LIMIT asks for, as its judgments say."""
    rows = lines(data / "setqueries/limit_small_queries.jsonl")
    things = {row["_id"]: _thing(row["text"]) for row in rows}
    relevant: dict[str, set[str]] = {thing: set() for thing in things.values()}
    for row in lines(data / "setqueries/limit_small_qrels.jsonl"):
        relevant[things[row["query-id"]]].add(row["corpus-id"])
    return {thing: frozenset(people) for thing, people in relevant.items()}


def single_questions(data: Path, part: Literal["validation", "test"]) -> list[SetQuestion]:
    """Return LIMIT's own queries of one part: a check that an atom alone is no worse off."""
    sets = asked_for(data)
    asked = {thing: f"Who likes {thing}?" for thing in sets}
    return [
        SetQuestion(question, query_of("A", [_atom(thing)]), "A", sets[thing])
        for thing, question in asked.items()
        if trains(question) == (part == "validation")
    ]


def questions(data: Path, part: Literal["validation", "test"]) -> list[SetQuestion]:
    """Compose 40 questions for each template of one part."""
    relevant = asked_for(data)
    sets = {thing: people for thing, people in likers(passages(data)).items() if thing in relevant}
    rng = random.Random(_SEED)  # noqa: S311  # a draw, not a secret
    made: list[SetQuestion] = []
    for template in TEMPLATES:
        drawn = _composed(template, sets, rng)
        fitting = (each for each in drawn if trains(each.question) == (part == "validation"))
        made += itertools.islice(fitting, PER_PART)
    return made


def _composed(template: str, sets: Mapping[str, frozenset[str]], rng: random.Random) -> Iterator[SetQuestion]:
    """Draw different questions whose gold differs from their parts, without an end."""
    asked: set[str] = set()
    while True:
        things = _drawn(template, sets, rng)
        query = query_of(template, [_atom(thing) for thing in things])
        gold = query.members({_atom(thing): sets[thing] for thing in things})
        question = rng.choice(PHRASINGS[template]).format(**dict(zip("ABC", things, strict=False)))
        if gold and question not in asked:
            asked.add(question)
            yield SetQuestion(question, query, template, gold)


def _drawn(template: str, sets: Mapping[str, frozenset[str]], rng: random.Random) -> list[str]:
    """Draw things: any for a union, else such as share a person with the first."""
    count = len(query_of(template, "ABC").atoms)
    things = sorted(sets)
    first = rng.choice(things)
    if "∪" in template:
        return [first, *rng.sample([thing for thing in things if thing != first], count - 1)]
    near = [thing for thing in things if thing != first and sets[thing] & sets[first]]
    return [first, *rng.sample(near, count - 1)]


def _atom(thing: str) -> str:
    return f"People who like {thing}"


def _thing(query: str) -> str:
    found = _THING.fullmatch(query)
    if found is None:
        message = f"{query!r} does not ask who likes something"
        raise ValueError(message)
    return found[1]


def _things(passage: Passage) -> list[str]:
    listed = passage.text.removeprefix(f"{passage.id} likes ").removesuffix(".")
    *first, last = listed.split(", ")
    return [*first, *last.rsplit(" and ", 1)]
