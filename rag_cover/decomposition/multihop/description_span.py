"""Where a description inside a question ends: before what the question says of it ("… born?"), else where the question ends."""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.decomposition.multihop.words import VERB_FORMS, VERBS, Wording
from rag_cover.english.lexicon import AUXILIARIES, BE, DO, PREPOSITIONS, QUESTION_WORDS, RELATIVE_PRONOUNS
from rag_cover.english.words import words_of

__all__ = ["end_of_description"]

_ADVERBS = frozenset(words_of("also first originally now currently later once still mainly formerly"))
_PARTICIPLES = frozenset(
    words_of(
        """born buried from based located situated founded formed released published educated headquartered made written built
        established married killed raised created opened named filmed shot set held spoken assassinated crowned launched
        recorded produced dissolved abolished discovered completed constructed murdered elected appointed signed trained
        invented developed introduced incorporated bordered ruled governed broadcast divided closed destroyed demolished
        affiliated arrested executed cremated baptised baptized raised employed commissioned inducted"""
    )
)
_FINITE = frozenset(
    words_of("is was received got won has had died lived graduated studied worked belongs belonged went attended")
)
_IS_SAID_OF = frozenset(words_of("as than become became becomes remain remained considered called named"))
_ATTRIBUTES = frozenset(
    words_of(
        """nationality ethnicity religion race age conference division league genre language colour color height length size
        instrument party profession occupation denomination sport position rank currency citizenship county"""
    )
)
"""What "What … is the director of Jaws?" asks of someone or something, not who or what that is."""


def end_of_description(wording: Wording, start: int, inside: int, *, clause: bool) -> int | None:
    """Return the word before which a description ends; None where that is unclear.

    Args:
        wording: The question.
        start: Its first word.
        inside: A word that certainly belongs to it.
        clause: Whether a relative clause ends it, which has a verb of its own.
    """
    before = wording.plain[:start]
    if (apart := _apart(wording, inside)) is not None:
        return apart
    if start == 0:
        return _main_verb(wording, inside)
    if start == 1 and before[0] in PREPOSITIONS:
        return _comma_before_question(wording, inside)
    if before[0] not in QUESTION_WORDS | AUXILIARIES | PREPOSITIONS:
        return _before_question_word(wording, inside)
    if (auxiliary := _subject_of(before)) is not None:
        return _verb(wording, inside, clause=clause) if auxiliary in DO else _of_being(wording, before, inside, clause=clause)
    return _of_object(wording, before, inside)


def _apart(wording: Wording, inside: int) -> int | None:
    """Find the 's that stands apart from what it follows."""
    return next((at for at in range(inside, len(wording.words)) if wording.words[at] in ("'s", "’s")), None)


def _main_verb(wording: Wording, inside: int) -> int | None:
    """Find the verb of "The city where Homer died is the capital of what region"."""
    question_word = _last_question_word(wording, inside)
    verbs = [at for at in range(inside + 2, question_word if question_word is not None else 0) if _may_be_main(wording, at)]
    if not verbs:
        return None
    verb = verbs[-1]
    while wording.plain[verb - 1] in AUXILIARIES | _ADVERBS:
        verb -= 1
    return verb if verb > inside + 1 else None


def _may_be_main(wording: Wording, at: int) -> bool:
    """Check whether a word is a verb, not the participle of "a company founded by"."""
    reduced = wording.plain[at + 1 : at + 2] == ("by",) and wording.plain[at - 1] not in AUXILIARIES
    return wording.plain[at] in VERB_FORMS | AUXILIARIES and not reduced


def _comma_before_question(wording: Wording, inside: int) -> int | None:
    """Find the comma of "In the country where Homer was born, which language …"."""
    asks = QUESTION_WORDS | AUXILIARIES
    ends = (
        at for at in range(inside + 2, len(wording.words)) if wording.words[at - 1].endswith(",") and _begins(wording, at, asks)
    )
    return next(ends, None)


def _begins(wording: Wording, at: int, asks: frozenset[str]) -> bool:
    return wording.plain[at] in asks or (
        wording.plain[at] in PREPOSITIONS and wording.plain[at + 1 : at + 2] in (("what",), ("which",))
    )


def _before_question_word(wording: Wording, inside: int) -> int | None:
    """End a description in a statement that asks at its end; none where what is asked may be a part of it."""
    question_word = _last_question_word(wording, 0)
    return len(wording.words) if question_word is not None and question_word < inside - 1 else None


def _last_question_word(wording: Wording, inside: int) -> int | None:
    return max((at for at in range(inside, len(wording.plain)) if wording.plain[at] in QUESTION_WORDS), default=None)


def _subject_of(before: Sequence[str]) -> str | None:
    """Return the auxiliary whose subject a description is or is a part of: that of "when did", "when did the mother of"."""
    at = next((at for at, word in enumerate(before) if word in BE | DO), None)
    if at is None:
        return None
    if before[at] in DO:
        return None if any(word in VERBS for word in before[at + 1 :]) else before[at]
    return before[at] if at == len(before) - 1 else None


def _verb(wording: Wording, inside: int, *, clause: bool) -> int | None:
    """Find the verb that "did" leaves to the end: the last where the description has a clause, else the first."""
    found = [at for at in range(inside + 1, len(wording.plain)) if wording.plain[at] in VERBS]
    verb = (found[-1] if clause else found[0]) if found else None
    return verb - 1 if verb is not None and wording.plain[verb - 1] in _ADVERBS else verb


def _of_being(wording: Wording, before: Sequence[str], inside: int, *, clause: bool) -> int | None:
    """End a description after "is": "What nationality is …", "When was … born", "What film was … in"."""
    last = len(wording.words)
    if len(before) == 2 and before[0] in ("who", "what", "which"):  # noqa: PLR2004 - "who is"
        return last
    if before[-2:-1] == ("and",) or any(word in RELATIVE_PRONOUNS | VERB_FORMS for word in before[2:-1]):
        return None
    found = _tail(wording, inside, finite=False)
    if found is None and not clause:
        found = _participle(wording, inside)
    if found is None and not (clause and _has_subject(wording, inside)):
        found = _preposition(wording, inside)
    return found if found is not None or not _asks_what_it_is(before) else last


def _asks_what_it_is(before: Sequence[str]) -> bool:
    """Check whether a question is complete with "is": "What nationality is …", "Where is …", but not "When is …"."""
    if before[0] in BE or before[0] in ("when", "why") or tuple(before[:-1]) == ("how",):
        return False
    return before[0] not in ("what", "which") or before[-2] in _ATTRIBUTES


def _participle(wording: Wording, inside: int) -> int | None:
    """Find the participle right after the names of "the father of Homer venerated as a god"."""
    words = wording.plain[inside:]
    at = next((at for at, word in enumerate(words) if at and word and not words[at - 1]), None)
    return inside + at if at is not None and (words[at] in _PARTICIPLES or words[at].endswith("ed")) else None


def _has_subject(wording: Wording, inside: int) -> bool:
    """Check whether a clause has its own subject, as "that Homer is from"; "who wrote Emma" cannot end in a preposition."""
    return wording.plain[inside] not in VERB_FORMS | AUXILIARIES


def _preposition(wording: Wording, inside: int) -> int | None:
    """Find the last word of "What film was the mother of Homer in"."""
    last = len(wording.words) - 1
    return last if wording.plain[last] in PREPOSITIONS and inside < last else None


def _of_object(wording: Wording, before: Sequence[str], inside: int) -> int | None:
    """End a description after a verb or preposition: "Who founded …", "What is the capital of …"."""
    last, word = len(wording.words), before[-1]
    asks_after = any(each in DO for each in before)
    tail = (
        None
        if asks_after
        else _tail(wording, inside, finite=word in RELATIVE_PRONOUNS or not any(each in BE for each in before))
    )
    has_verb = before[0] == "who" or any(each in VERB_FORMS | AUXILIARIES for each in before)
    if word in RELATIVE_PRONOUNS or not has_verb:
        return tail if word in RELATIVE_PRONOUNS or _asks_what(before) else None
    if not (word in PREPOSITIONS | VERB_FORMS | VERBS or word.endswith("ed")) or word in _IS_SAID_OF:
        return None
    return tail if tail is not None and before[0] in ("when", "where", "how") else last


def _asks_what(before: Sequence[str]) -> bool:
    """Check whether words begin "Which country the director of Jaws is from"."""
    return before[0] in ("what", "which") and len(before) <= 3  # noqa: PLR2004 - "which European country"


def _tail(wording: Wording, inside: int, *, finite: bool) -> int | None:
    """Find the question's own last words, such as "born in" or, ``finite``, "is from"."""
    plain = wording.plain
    if plain[-3:] in (("a", "member", "of"), ("a", "part", "of")):
        return len(plain) - 3
    start = _before_all(plain, len(plain), inside + 1, PREPOSITIONS | {"out"})
    if start < len(plain) and plain[start - 1] not in _PARTICIPLES | _FINITE:
        start = len(plain)
    start = _before_all(plain, start, inside, _PARTICIPLES | _ADVERBS)
    if finite and start > inside and plain[start - 1] in _FINITE:
        start -= 1
    if inside < start < len(plain) and plain[start - 1] in AUXILIARIES:
        start += 1
    complete = start > inside and plain[start - 1] not in AUXILIARIES
    return start if complete and any(word in _PARTICIPLES | _FINITE for word in plain[start:]) else None


def _before_all(plain: Sequence[str], start: int, first: int, words: frozenset[str]) -> int:
    """Go back over some words, not beyond the ``first``."""
    while start > first and plain[start - 1] in words:
        start -= 1
    return start
