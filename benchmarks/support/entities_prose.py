"""Entities of the built corpus: values drawn for each, and the prose that says them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.support.entities_wording import Attribute, Kind, Value
from rag_cover.questions import Passage

HINTED = 0.3
"""How often a value is given by a cue, without its name."""
SILENT = 0.1
"""How often a text says nothing about an attribute."""
LONGEST, FEWEST_WORDS = 7, 60
_DRAFTS = 4

Property = tuple[str, str, str]
"""A kind, an attribute and a value, such as ("novels", "setting", "Lisbon")."""
Drawn = dict[Attribute, list[Value]]
Draft = tuple[str, list[tuple[Attribute, Value]]]
"""A text, and what it mentions without meaning it."""

_SLOT = re.compile(r"\{(\w)\}")


@dataclass(frozen=True, slots=True)
class Entity:
    """A passage, what its entity is, and what its text mentions although the entity is not that."""

    passage: Passage
    kind: Kind
    has: frozenset[Property]
    mentions: frozenset[Property]


def entities(kind: Kind, count: int, rng: random.Random, *, elsewhere: bool, taken: set[str]) -> Iterator[Entity]:
    """Draw entities of one kind; their names are added to those ``taken``, and are their ids too.

    ``elsewhere`` draws values that no question asks for; such texts may be a few words shorter.
    """
    among = {each: list(each.elsewhere if elsewhere else each.values) for each in kind.attributes}
    for values in among.values():
        rng.shuffle(values)  # what is frequent for one kind need not be for another
    for _ in range(count):
        name = _new_name(kind, rng, taken)
        drawn = {each: _values(each, values, rng) for each, values in among.items()}
        absent = {
            each: [value for value in values if value not in drawn[each]] for each, values in among.items() if drawn[each]
        }
        text, denied = _long_enough([_prose(kind, name, drawn, absent, rng) for _ in range(1 if elsewhere else _DRAFTS)])
        has = frozenset(property_of(kind, each, value) for each, values in drawn.items() for value in values)
        mentions = frozenset(property_of(kind, each, value) for each, value in denied)
        yield Entity(Passage(text, title=name, id=name), kind, has, mentions)


def property_of(kind: Kind, attribute: Attribute, value: Value) -> Property:
    """Name a value of an attribute."""
    return kind.plural, attribute.name, value.name


def written(template: str, **words: str) -> str:
    """Fill a sentence's slots; its first letter is made large, and 'a(n)' what the next word asks for.

    >>> written("a(n) {value} novel", value="epistolary")
    'An epistolary novel'
    """
    text = template.format(**words)
    text = re.sub(r"\b([Aa])\(n\) (?=(.))", lambda found: f"{found[1]}{'n' * (found[2] in 'aeioAEIO')} ", text)
    return text[:1].upper() + text[1:]


def _new_name(kind: Kind, rng: random.Random, taken: set[str]) -> str:
    while True:
        name = _SLOT.sub(lambda slot: rng.choice(kind.parts[slot[1]]), rng.choice(kind.names))
        if name not in taken:
            taken.add(name)
            return name


def _values(attribute: Attribute, among: Sequence[Value], rng: random.Random) -> list[Value]:
    """Draw values, the first of the list most often (a Zipf-like law, as of things in an encyclopedia)."""
    if not among or (not attribute.opens and attribute.most == 1 and rng.random() < SILENT):
        return []
    weights = [1 / (rank + 2) for rank in range(len(among))]
    wanted = rng.randint(1, min(attribute.most, len(among)))
    found: list[Value] = []
    while len(found) < wanted:
        value = rng.choices(among, weights)[0]
        found += [value] if value not in found else []
    return found


def _long_enough(drafts: Sequence[Draft]) -> Draft:
    """Take the first draft that is long enough, or the longest."""
    return next((draft for draft in drafts if _words(draft) >= FEWEST_WORDS), max(drafts, key=_words))


def _words(draft: Draft) -> int:
    return len(draft[0].split())


def _prose(kind: Kind, name: str, drawn: Drawn, absent: Drawn, rng: random.Random) -> Draft:
    """Write a text of at most seven sentences, the first of which names the entity and the kind, the others in any order."""
    spoken = [(attribute, values) for attribute, values in drawn.items() if values]
    opening = [each for each in spoken if each[0].opens]
    rest = [part for each in spoken if not each[0].opens for part in _parts(*each, rng)]
    if len(rest) > LONGEST - 2:
        rest = [each for each in spoken if not each[0].opens]
    first = [_sentence(*each, rng) for each in opening] or [rng.choice(kind.opens)]
    sentences = [_sentence(*each, rng) for each in rest]
    deniable = [(attribute, value) for attribute, values in absent.items() for value in values]
    denied = rng.sample(deniable, min(len(deniable), 1 + (len(sentences) < LONGEST - 2 and rng.random() < 1 / 2)))
    sentences += [_filled(rng.choice(_possible(each.denies, value)), [value], rng) for each, value in denied]
    fillers = rng.sample(kind.fillers, len(kind.fillers))
    while fillers and len(sentences) < LONGEST - 1 and len(" ".join(first + sentences).split()) < FEWEST_WORDS + 5:
        sentences.append(fillers.pop())
    rng.shuffle(sentences)
    return " ".join([_introduced(first[0], kind, name, rng), *sentences]), denied


def _parts(attribute: Attribute, values: list[Value], rng: random.Random) -> list[tuple[Attribute, list[Value]]]:
    """Say several values in one sentence, or each in one of its own."""
    return [(attribute, values)] if rng.random() < 1 / 2 else [(attribute, [value]) for value in values]


def _sentence(attribute: Attribute, values: list[Value], rng: random.Random) -> str:
    hinted = len(values) == 1 and values[0].cues and rng.random() < HINTED
    possible = attribute.hints if hinted else _possible(attribute.says, values[0])
    if not possible or len(values) > 1:
        possible = tuple(each for each in attribute.says if "{value}" in each and "a(n)" not in each) or attribute.says
    return _filled(rng.choice(possible), values, rng)


def _possible(templates: Sequence[str], value: Value) -> tuple[str, ...]:
    return tuple(each for each in templates if (value.adjective or "{adj}" not in each) and (value.cues or "{cue}" not in each))


def _filled(template: str, values: Sequence[Value], rng: random.Random) -> str:
    """Fill in values and leave the entity's name."""
    names = [value.name for value in values]
    joined = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    cue = rng.choice(values[0].cues or ("",))
    return written(template, name="{name}", value=joined, adj=values[0].adjective, cue=cue)


def _introduced(sentence: str, kind: Kind, name: str, rng: random.Random) -> str:
    """Name the entity, and say of what kind it is where the sentence does not."""
    if any(called.split()[-1] in sentence for called in kind.called):
        return written(sentence, name=name)
    apposition = written("{name}, a(n) {kind},", name=name, kind=rng.choice(kind.called))
    return re.sub(r",([.:,])", r"\1", written(sentence, name=apposition))
