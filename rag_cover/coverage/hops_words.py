"""A question as the rules for hops read it: which of its words may be grammar, and which belong to names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.coverage.phrases import is_plural
from rag_cover.coverage.words import words_of

__all__ = [
    "AUXILIARIES",
    "BE",
    "DO",
    "PREPOSITIONS",
    "PRONOUNS",
    "QUESTION_WORDS",
    "ROLES",
    "VERB_FORMS",
    "VERBS",
    "Wording",
    "followed_by",
    "indefinite",
    "is_person",
    "question_about",
    "singular",
    "wording_of",
]

QUESTION_WORDS = frozenset(words_of("who whom whose what which when where why how"))
BE = frozenset(words_of("is are was were"))
DO = frozenset(words_of("do does did"))
AUXILIARIES = BE | DO | frozenset(words_of("has have had can could will would"))
PREPOSITIONS = frozenset(words_of("of in on at by for from to with near under after before into than as about between through"))
PRONOUNS = frozenset({"who", "whom", "whose", "that", "which", "where"})

ROLES = frozenset(
    """director co-director composer performer author writer co-writer songwriter founder co-founder creator producer
    inventor architect designer developer screenwriter lyricist singer drummer guitarist frontman bassist editor publisher
    spouse wife husband widow father mother parent parents son daughter child children brother sister sibling siblings
    grandfather grandmother stepfather stepmother uncle aunt nephew niece cousin father-in-law mother-in-law successor
    predecessor manufacturer owner coach discoverer birthplace hometown capital employer host announcer narrator star
    painter sculptor illustrator protagonist distributor operator band killer assassin conductor
    choreographer""".split()  # noqa: SIM905  # seven lines instead of seventy
)
"""What someone or something is to another; few things have more than one."""

_VERB_BASES = words_of(
    """die live study graduate work serve play attend win receive get hold become marry own found create direct write sing
    occupy conquer belong come go move gain join leave start begin end make have represent border air open close perform record
    release produce appear star use speak lose fight teach meet build design discover invent happen take grow retire train
    govern rule lie flow stand sign sell buy hire host visit kill attack invade believe support worship form command defeat
    bear bury name publish establish contain include feature cover share run lead portray depict inspire influence coach manage
    operate sponsor distribute edit translate compose replace succeed precede follow employ house reside originate debut finish
    rank score earn focus conduct export pass"""
)
VERBS = frozenset(_VERB_BASES)
_IRREGULAR = frozenset(
    words_of(
        """won got held became wrote sang came went left began made had spoke lost fought taught met built took grew lay stood
        sold bought led ran known born written sung held spoken taken begun has"""
    )
)


def _forms(verb: str) -> tuple[str, ...]:
    stem = verb.removesuffix("e")
    past = f"{verb[:-1]}ied" if verb.endswith(("ry", "dy", "ly")) else f"{stem}ed"
    third = f"{verb[:-1]}ies" if verb.endswith(("ry", "dy", "ly")) else verb + ("es" if verb.endswith(("s", "sh", "ch", "o")) else "s")
    return past, third


VERB_FORMS = _IRREGULAR | frozenset(form for verb in _VERB_BASES for form in _forms(verb))
"""Past and third person of the verbs."""

_THINGS = frozenset(
    words_of(
        """river border chapter paper newspaper center computer number order tower water letter harbor color sector factor
        chamber theater power layer publisher corner quarter banner manufacturer distributor operator employer recorder
        thriller carrier container printer server transmitter cruiser bomber helicopter steamer meter matter cover disorder
        semester processor reactor motor vector cluster crater motor"""
    )
)
_PEOPLE = frozenset(
    words_of(
        """king queen prince princess president spouse wife husband widow son child children sibling siblings parents uncle
        nephew niece cousin coach host star architect parent person emperor duke pope saint martyr lyricist monarch athlete
        daughter character celebrity guy girl boy lady politician general captain judge poet sultan chief candidate individual
        aunt"""
    )
)
_PERSON_ENDINGS = ("er", "or", "ist", "ian", "man", "woman", "ess", "in-law")
_FIRST = QUESTION_WORDS | AUXILIARIES | PREPOSITIONS | {"the", "a", "an"}
_MASKED = re.compile(r'"[^"]*"|“[^”]*”|\([^()]*\)')
_SLOT = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a question, and beside each what grammar may see of it: nothing of names, quotes and brackets."""

    words: tuple[str, ...]
    plain: tuple[str, ...]

    def said(self, start: int, end: int | None = None) -> str:
        """Return the words from ``start`` to before ``end``, without a comma at either side."""
        return " ".join(self.words[start:end]).strip(" ,;:")


def wording_of(question: str) -> Wording:
    """Read a question whose question mark was taken off.

    >>> wording_of('Who sang "the end" in Apocalypse Now').plain
    ('who', 'sang', '', '', 'in', '', '')
    """
    masked = _MASKED.sub(lambda match: re.sub(r"\S", "Q", match.group()), question).split()
    first = [word.lower() if word.lower() in _FIRST else word for word in masked[:1]]
    return Wording(tuple(question.split()), tuple(map(_plain, first + masked[1:])))


def _plain(word: str) -> str:
    return word.rstrip(",;:") if word[:1].islower() else ""


def followed_by(steps: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Put steps behind others, their slots moved up by as many.

    >>> followed_by(("Who wrote Emma?",), ("Who wrote Dune?", "When was #1 born?"))
    ('Who wrote Emma?', 'Who wrote Dune?', 'When was #2 born?')
    """
    return (*steps, *(_SLOT.sub(lambda match: f"#{int(match[1]) + len(steps)}", step) for step in more))


def is_person(noun: str) -> bool:
    """Tell whether a noun stands for someone rather than something."""
    return noun in _PEOPLE or (noun.endswith(_PERSON_ENDINGS) and noun not in _THINGS)


def question_about(description: str, head: str) -> str:
    """Ask who or what a description stands for.

    >>> question_about("the director of Jaws", "director"), question_about("the city where Homer died", "city")
    ('Who is the director of Jaws?', 'What is the city where Homer died?')
    """
    return f"{'Who' if is_person(head.lower()) else 'What'} {'are' if is_plural(head) else 'is'} {description.rstrip('?')}?"


def singular(noun: str) -> str:
    """Undo a plural by rule of thumb: "film directors" to "film director"."""
    for ending, instead in (("women", "woman"), ("men", "man"), ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("ss", "ss")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + instead
    return noun.removesuffix("s")


def indefinite(noun: str) -> str:
    """Put "a" or "an" before a noun."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
