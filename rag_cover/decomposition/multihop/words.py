"""A question as the rules for hops read it: which of its words may be grammar, and which belong to names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.english.lexicon import ARTICLES, AUXILIARIES, MARKS, PREPOSITIONS, QUESTION_WORDS
from rag_cover.english.noun_phrases import is_plural
from rag_cover.english.words import words_of

__all__ = [
    "DETERMINERS",
    "ROLES",
    "VERBS",
    "VERB_FORMS",
    "Wording",
    "append_steps",
    "indefinite",
    "is_person",
    "mask_quotes",
    "question_about",
    "singular",
    "trim_question",
    "wording_of",
]


DETERMINERS = ARTICLES | {"this"}
"""What a description may begin with."""

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

_BASES = words_of(
    """die live study graduate work serve play attend win receive get hold become marry own found create direct write sing
    occupy conquer belong come go move gain join leave start begin end make have represent border air open close perform record
    release produce appear star use speak lose fight teach meet build design discover invent happen take grow retire train
    govern rule lie flow stand sign sell buy hire host visit kill attack invade believe support worship form command defeat
    bear bury name publish establish contain include feature cover share run lead portray depict inspire influence coach manage
    operate sponsor distribute edit translate compose replace succeed precede follow employ house reside originate debut finish
    rank score earn focus conduct export pass neighbor neighbour surround encompass swim raise borrow allow reach cause oversee
    supply carry connect"""
)
VERBS = frozenset(_BASES)
"""Verbs as they follow "did"."""
_IRREGULAR = frozenset(
    words_of(
        """won got held became wrote sang came went left began made had spoke lost fought taught met built took grew lay stood
        sold bought led ran known born written sung spoken taken begun has swam saw seen gave given told said drew drawn fell
        flew"""
    )
)


def _forms(verb: str) -> tuple[str, str]:
    """Return the past and the third person of a regular verb."""
    if verb.endswith(("ry", "dy", "ly", "py")):
        return f"{verb[:-1]}ied", f"{verb[:-1]}ies"
    return f"{verb.removesuffix('e')}ed", f"{verb}{'es' if verb.endswith(('s', 'sh', 'ch', 'o')) else 's'}"


VERB_FORMS = _IRREGULAR | frozenset(form for verb in _BASES for form in _forms(verb))
"""Verbs in the past and the third person."""

_THINGS = frozenset(
    words_of(
        """river border chapter paper newspaper center computer number order tower water letter harbor color sector factor
        chamber theater power layer publisher corner quarter banner manufacturer distributor operator employer recorder
        thriller carrier container printer server transmitter cruiser bomber helicopter steamer meter matter cover disorder
        semester processor reactor motor vector cluster crater answer offer transfer error cancer fever ulcer liver
        diameter perimeter parameter weather indicator predictor precursor inhibitor marker trigger barrier buffer
        filter counter register router adapter browser compiler folder header footer pointer monitor sensor generator
        insulator timer trailer poster disaster danger gender flavor odor vapor behavior humor labor tumor mirror
        rigor armor rumor interior exterior floor door finger shoulder summer winter dinner supper butter pepper list checklist
        shortlist playlist mist gist twist waist wrist median meridian"""
    )
)
_PEOPLE = frozenset(
    words_of(
        """king queen prince president spouse wife husband widow son child children sibling siblings parents uncle nephew niece
        cousin coach host star architect parent person duke pope saint martyr monarch athlete celebrity guy girl boy lady
        general captain judge poet sultan chief candidate individual aunt actress goddess hostess princess duchess heiress
        empress mistress waitress stewardess countess baroness"""
    )
)
_PERSON_ENDINGS = ("er", "or", "ist", "ian", "man", "woman", "in-law")
_FIRST = QUESTION_WORDS | AUXILIARIES | PREPOSITIONS | DETERMINERS


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a question, and beside each what grammar may see of it: nothing of names, quotes and brackets."""

    words: tuple[str, ...]
    plain: tuple[str, ...]

    def text(self, start: int, end: int | None = None) -> str:
        """Return the words from ``start`` to before ``end``, without a comma at either side."""
        return " ".join(self.words[start:end]).strip(" ,;:")


def wording_of(question: str) -> Wording:
    """Read a question whose question mark was taken off.

    >>> wording_of('Who sang "the end" in Apocalypse Now').plain
    ('who', 'sang', '', '', 'in', '', '')
    """
    visible = mask_quotes(question).split()
    first = [word.lower() if word.lower() in _FIRST else word for word in visible[:1]]
    return Wording(tuple(question.split()), tuple(map(_plain, first + visible[1:])))


def trim_question(question: str) -> str:
    """Return a question without marks at its end, its white space made single.

    >>> trim_question(" Who wrote  Emma? ")
    'Who wrote Emma'
    """
    return " ".join(question.split()).rstrip(f" .{MARKS}")


def _plain(word: str) -> str:
    return word.rstrip(",;:") if word[:1].islower() else ""


def mask_quotes(text: str) -> str:
    """Blank out quotes and brackets, as long as they were.

    >>> mask_quotes("Jaws (film)")
    'Jaws QQQQQQ'
    """
    return re.sub(r'"[^"]*"|“[^”]*”|\([^()]*\)', lambda match: re.sub(r"\S", "Q", match.group()), text)


def append_steps(steps: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Put steps behind others, their slots moved up by as many.

    >>> append_steps(("Who wrote Emma?",), ("Who wrote Dune?", "When was #1 born?"))
    ('Who wrote Emma?', 'Who wrote Dune?', 'When was #2 born?')
    """
    return (*steps, *(re.sub(r"#(\d+)", lambda slot: f"#{int(slot[1]) + len(steps)}", step) for step in more))


def is_person(noun: str) -> bool:
    """Check whether a noun stands for someone rather than something.

    >>> is_person("director"), is_person("river"), is_person("process")
    (True, False, False)
    """
    return noun in _PEOPLE or (noun.endswith(_PERSON_ENDINGS) and noun not in _THINGS)


def question_about(description: str, noun: str) -> str:
    """Ask who or what a description stands for; ``noun`` is the description's own.

    >>> question_about("the director of Jaws", "director"), question_about("the city where Homer died", "city")
    ('Who is the director of Jaws?', 'What is the city where Homer died?')
    """
    asks = "Who" if is_person(noun.lower()) else "What"
    return f"{asks} {'are' if is_plural(noun) else 'is'} {description.rstrip('?')}?"


def singular(noun: str) -> str:
    """Undo a plural by rule of thumb.

    >>> singular("directors"), singular("women"), singular("cities")
    ('director', 'woman', 'city')
    """
    for ending, instead in (("men", "man"), ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("ss", "ss")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + instead
    return noun.removesuffix("s")


def indefinite(noun: str) -> str:
    """Put "a" or "an" before a noun."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
