"""Claims made false by a rule: a passage's own sentence with one name, number, role or word exchanged.

The exchanged name or number stands elsewhere in the same passage, so that no shared word gives the change away.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.quantities.moments import MONTHS
from rag_cover_embedded.training.example import ENTAILMENT, NOT_ENTAILED, Example
from rag_cover_embedded.training.sources import sentences_of

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
_NAME = re.compile(
    r"(?<=[a-z,;] )[A-Z][\w’'-]+(?: (?:of |the |de |van |von )?[A-Z][\w’'-]+)*|^[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)+"
)
_MONTHS = [name.capitalize() for name in MONTHS]
_MONTH = re.compile(r"\b(?:" + "|".join(_MONTHS) + r")\b")
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|did|does|do|should|must)\b(?! not)(?!n['’]t)")
_NOT = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|did|does|do|should|must) not\b")
_OPPOSITES = """
more/less before/after first/last increase/decrease increased/decreased rise/fall rose/fell north/south east/west
northern/southern eastern/western all/some every/hardly any most/few many/few always/never often/rarely largest/smallest
highest/lowest higher/lower larger/smaller older/younger oldest/newest longest/shortest early/late earlier/later above/below
inside/outside won/lost began/ended founded/dissolved accepted/rejected allowed/forbidden maximum/minimum majority/minority
best/worst husband/wife father/mother son/daughter brother/sister king/queen male/female public/private left/right open/closed
former/current with/without both/neither at least/at most because of/in spite of same/different strong/weak rich/poor
black/white summer/winter
""".replace("\n", " ")
_PAIRS = re.findall(r"([a-z]+(?: (?:least|most|of|any))?)/((?:in spite of|at most|hardly any|[a-z]+))", _OPPOSITES)
_OPPOSITE = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_WORD = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, _OPPOSITE), key=len, reverse=True)) + r")\b")

Change = Callable[[str, str, random.Random], "str | None"]


def other_name(sentence: str, passage: str, rng: random.Random) -> str | None:
    """Put another name of the passage in a name's place."""
    return _other(_NAME, sentence, passage, rng)


def other_number(sentence: str, passage: str, rng: random.Random) -> str | None:
    """Put another number of the passage, of about the same form, in a number's place."""
    return _other(_NUMBER, sentence, passage, rng, alike=lambda mine, other: len(mine) == len(other))


def near_number(sentence: str, passage: str, rng: random.Random) -> str | None:  # noqa: ARG001  # as the other changes
    """Change one digit of a number."""
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    digits = [place for place in range(match.start(), match.end()) if sentence[place].isdigit()]
    place = rng.choice(digits)
    lowest = 1 if place == match.start() else 0
    digit = rng.choice([each for each in map(str, range(lowest, 10)) if each != sentence[place]])
    return sentence[:place] + digit + sentence[place + 1 :]


def other_month(sentence: str, passage: str, rng: random.Random) -> str | None:  # noqa: ARG001
    """Change a month."""
    if not (match := _MONTH.search(sentence)):
        return None
    return sentence[: match.start()] + rng.choice([m for m in _MONTHS if m != match[0]]) + sentence[match.end() :]


def exchange_roles(sentence: str, passage: str, rng: random.Random) -> str | None:  # noqa: ARG001
    """Exchange two names of the sentence, unless "and" or a comma joins them."""
    names = list(_NAME.finditer(sentence))
    pairs = [
        (first, second)
        for first, second in pairwise(names)
        if first[0] != second[0] and not re.fullmatch(r"\W*(?:(?:and|or)\W+)?", sentence[first.end() : second.start()])
    ]
    if not pairs:
        return None
    first, second = rng.choice(pairs)
    between = sentence[first.end() : second.start()]
    return sentence[: first.start()] + second[0] + between + first[0] + sentence[second.end() :]


def negate_sentence(sentence: str, passage: str, rng: random.Random) -> str | None:  # noqa: ARG001
    """Negate a sentence: insert a "not", or remove one."""
    if match := _NOT.search(sentence):
        return sentence[: match.start()] + match[1] + sentence[match.end() :]
    found = list(_VERB.finditer(sentence))
    if not found:
        return None
    return sentence[: found[0].end()] + " not" + sentence[found[0].end() :]


def opposite_word(sentence: str, passage: str, rng: random.Random) -> str | None:  # noqa: ARG001
    """Put a word's opposite in its place."""
    found = list(_WORD.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    return sentence[: match.start()] + _OPPOSITE[match[0]] + sentence[match.end() :]


CHANGES: Sequence[Change] = (
    other_name,
    other_name,
    other_name,
    exchange_roles,
    exchange_roles,
    other_number,
    near_number,
    other_month,
    negate_sentence,
    opposite_word,
    opposite_word,
)


def make_swapped_claims(passages: Sequence[str], rng: random.Random, *, most: int) -> Iterator[Example]:
    """Pair passages with sentences of their own, as they are or shortened, and with one thing in them exchanged."""
    count = 0
    for passage in rng.sample(passages, len(passages)):
        found = [sentence for sentence in sentences_of(passage) if 6 <= len(sentence.split()) <= 45]
        if len(found) < 2:
            continue
        start = rng.randrange(len(found))
        window = found[max(0, start - rng.randint(0, 3)) : start + rng.randint(1, 4)]
        chosen = rng.sample(window, min(2, len(window)))
        premise = " ".join(window)
        for statement in chosen:
            changed = next(
                (new for change in rng.sample(CHANGES, len(CHANGES)) if (new := change(statement, premise, rng))), None
            )
            if changed is None or changed == statement or changed in premise:
                continue
            yield Example(Task.ENTAILMENT, premise, changed, NOT_ENTAILED)
            yield Example(Task.ENTAILMENT, premise, shorten_claim(statement, rng), ENTAILMENT["entailment"])
            count += 1
        if count >= most:
            return


def shorten_claim(statement: str, rng: random.Random) -> str:
    """Drop what stands in brackets and, half the time, a last clause after a comma."""
    plain = re.sub(r"\s*\([^)]*\)", "", statement)
    head, comma, _ = plain.rpartition(", ")
    return head + "." if comma and len(head.split()) > 6 and rng.random() < 0.5 else plain


def _other(
    pattern: re.Pattern[str],
    sentence: str,
    passage: str,
    rng: random.Random,
    *,
    alike: Callable[[str, str], bool] = lambda mine, other: True,  # noqa: ARG005
) -> str | None:
    mine = list(pattern.finditer(sentence))
    if not mine:
        return None
    match = rng.choice(mine)
    others = [
        each
        for each in pattern.findall(passage)
        if each not in sentence and match[0] not in each and each not in match[0] and alike(match[0], each)
    ]
    return sentence[: match.start()] + rng.choice(others) + sentence[match.end() :] if others else None
