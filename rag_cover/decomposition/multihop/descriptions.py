"""Where a question describes what it could name: "the director of Jaws", "Emma's author", "the city where Homer died".

A description is found by its first words; where it ends is told by what the question has left to say after it (`ends`).
Where that cannot be told, there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag_cover.decomposition.multihop.description_span import end_of_description
from rag_cover.decomposition.multihop.words import DETERMINERS, ROLES, VERB_FORMS, Wording, is_person
from rag_cover.english.lexicon import (
    AUXILIARIES,
    BE,
    FUNCTION_WORDS,
    NAME_PARTICLES,
    PREPOSITIONS,
    QUESTION_WORDS,
    RELATIVE_PRONOUNS,
)
from rag_cover.english.noun_phrases import is_plural
from rag_cover.english.words import words_of

__all__ = ["Description", "description_in", "find_head_noun"]

_MODIFIERS = 4  # words between an article and its noun
_PHRASE = 12  # words of a noun phrase that a relative clause may describe
_NO_HEADS = frozenset(
    words_of(
        """name names title term word words phrase fact idea claim belief theory argument view way ways reason reasons time
        extent process degree point part kind type types sort number amount one ones same first last only thing things
        something anything people those that case assumption evidence concept principle notion problem question statement law
        rule conclusion possibility result day moment date period method manner ability right feature property
        characteristic century decade north south east west northwest northeast southwest southeast ever
        found argue given condition temperature understanding formation"""
    )
)
_NO_PEOPLE = frozenset(
    words_of(
        "show film movie song album book novel city country state town river game play series magazine race road year family"
    )
)
_ASKS_INSIDE = frozenset({"what", "how"})
_NOTHING_MORE = frozenset(words_of("the a an full name example one of"))
_NAME_PARTICLES = NAME_PARTICLES | frozenset(words_of("des den dos al zu ibn bin"))
_BEFORE_WHICH = PREPOSITIONS - {"than", "as", "of"}
_BY = frozenset(
    words_of(
        """directed written composed produced sung founded owned created designed performed built developed published released
        recorded distributed invented discovered authored managed coached led hosted edited operated established illustrated
        portrayed played voiced painted featured starring featuring containing allowing bordering owning hosting surrounding
        sharing encompassing housing"""
    )
)
_SHOWN = frozenset({"portrayed", "played", "voiced", "featured", "painted"})
_MADE = frozenset({"written", "directed", "produced", "released", "published", "created", "founded", "starring"})
_PLACES = (("place", "of", "birth"), ("place", "of", "death"), ("country", "of", "citizenship"), ("country", "of", "origin"))
_NOUNS_IN_ING = frozenset(words_of("king building painting ring wing meeting sibling beijing spring wedding being offspring"))


@dataclass(frozen=True, slots=True)
class Description:
    """Where a description stands among a question's words, and its noun."""

    start: int
    end: int
    head: int


def description_in(wording: Wording) -> Description | None:
    """Find the outermost description of a question that asks for more than what the description stands for."""
    return next((found for found in _descriptions(wording) if not _is_all_that_is_asked(wording, found)), None)


def _descriptions(wording: Wording) -> Iterator[Description]:
    for index in range(len(wording.words)):
        for find in (_role_at, _place_at, _title_at, _possessive_at, _clause_at):
            if (found := find(wording, index)) is not None:
                yield found


def _is_all_that_is_asked(wording: Wording, found: Description) -> bool:
    """Check whether a question asks for its description alone: "Who is the director of Jaws", "What is the name of …"."""
    before = [word for word in wording.plain[: found.start] if word not in _NOTHING_MORE]
    after = [word for word in wording.plain[found.end :] if word != "called"]
    asks_who = before[:1] in (["who"], ["what"], ["which"]) and len(before) == 2 and before[1] in BE  # noqa: PLR2004 - "who is"
    is_what = len(after) == 2 and after[0] in BE and after[1] in QUESTION_WORDS  # noqa: PLR2004 - "is who"
    return (asks_who and not after) or (found.start == 0 and (is_what or not after))


# Descriptions by what someone is to another


def _role_at(wording: Wording, start: int) -> Description | None:
    """Find "the director of …", and "director of film …" without an article."""
    plain = wording.plain
    if plain[start] == "the":
        heads = range(start + 1, min(start + 1 + _MODIFIERS, len(plain) - 2))
    elif start and plain[start - 1] in PREPOSITIONS | AUXILIARIES:
        heads = range(start, min(start + 1, len(plain) - 2))
    else:
        return None
    head = next((at for at in heads if plain[at] in ROLES and plain[at + 1] == "of"), None)
    if head is None or any(_is_no_modifier(word) for word in plain[start + 1 : head]):
        return None
    return _description_from(wording, start, head, inside=head + 2, clause=False)


def _place_at(wording: Wording, start: int) -> Description | None:
    """Find "the place of birth of …" where more is asked of that place."""
    for place in _PLACES:
        may_begin = start and wording.plain[start - 1] in PREPOSITIONS and wording.plain[start] == "the"
        if may_begin and wording.plain[start + 1 : start + 5] == (*place, "of"):
            return _description_from(wording, start, start + 1, inside=start + 5, clause=False)
    return None


def _title_at(wording: Wording, start: int) -> Description | None:
    """Find "the Jaws director", at the question's end."""
    plain, head = wording.plain, len(wording.plain) - 1
    titled = 1 < start < head - 1 and plain[start] == "the" and plain[start - 1] in PREPOSITIONS | BE
    if not titled or plain[head] not in ROLES or any(plain[start + 1 : head]) or head - start > _PHRASE:
        return None
    return _description_from(wording, start, head, inside=head, clause=False)


def _is_no_modifier(word: str) -> bool:
    return word in FUNCTION_WORDS or word.endswith(("'s", "’s"))


def _description_from(wording: Wording, start: int, head: int, *, inside: int, clause: bool) -> Description | None:
    end = end_of_description(wording, start, inside, clause=clause)
    if end is None or end <= inside or _ASKS_INSIDE.intersection(wording.plain[start:end]):
        return None
    return Description(start, end, head)


# Descriptions by what someone owns


def _possessive_at(wording: Wording, at: int) -> Description | None:
    """Find "Emma's author" at the word that owns."""
    if not wording.words[at].replace("’", "'").endswith(("'s", "s'")) or at + 1 == len(wording.words):
        return None
    head = next(
        (head for head in range(at + 1, min(at + 3, len(wording.words))) if _strip_possessive(wording.words[head]) in ROLES),
        None,
    )
    if head is None or any(_is_no_modifier(word) for word in wording.plain[at + 1 : head]):
        return None
    start = _start_of_name(wording, at)
    if start is None or wording.plain[start - 1 : start] in (("as",), ("become",), ("became",)) or _is_named(wording, head):
        return None
    return Description(start, head + 1, head)


def _is_named(wording: Wording, head: int) -> bool:
    """Check whether a name follows, as in "Emma's sister Jane": nobody has to be found then."""
    return head + 1 < len(wording.words) and not wording.plain[head + 1] and wording.words[head + 1] not in ("'s", "’s")


def _strip_possessive(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s").rstrip(",")


def _start_of_name(wording: Wording, at: int) -> int | None:
    """Find where the name that ends at a word begins; None where that word belongs to no name."""
    start = at
    while start >= 0 and (not wording.plain[start] or _joins_names(wording, start)):
        start -= 1
    while start < at and wording.plain[start + 1] in _NAME_PARTICLES - {"the"}:
        start += 1
    return start + 1 if start < at else None


def _joins_names(wording: Wording, at: int) -> bool:
    """Check whether a small word stands inside a name, as "of" does in "Anne of Cleves"."""
    return wording.plain[at] in _NAME_PARTICLES and at > 0 and not wording.plain[at - 1]


# Descriptions by a clause


def _clause_at(wording: Wording, start: int) -> Description | None:
    """Find "the city where …", "the film directed by …", "the team Chris Summers plays for"."""
    if wording.plain[start] not in DETERMINERS or _is_one_of_many(wording, start):
        return None
    for at in range(start + 2, min(start + _PHRASE, len(wording.plain) - 1)):
        head = find_head_noun(wording, start, at)
        if head is not None and _opens_clause(wording, head, at):
            found = _description_from(wording, start, head, inside=at + 1, clause=True)
            return found if found is not None and _tells_which(wording, start, at, found.end) else None
    return None


def _is_one_of_many(wording: Wording, start: int) -> bool:
    """Detect an indefinite possessive description ("had a drummer who …"), which identifies no single entity."""
    return wording.plain[start] in ("a", "an") and wording.plain[start - 1 : start] in (("has",), ("have",), ("had",))


def _opens_clause(wording: Wording, head: int, at: int) -> bool:
    if wording.words[at - 1].endswith(","):
        return False
    if wording.plain[at] in ("who", "whom") and wording.plain[head] in _NO_PEOPLE:
        return False
    return _is_relative(wording, at) or _is_reduced(wording, at) or _is_bare(wording, at)


def _tells_which(wording: Wording, start: int, clause: int, end: int) -> bool:
    """Check whether a clause has a verb, and where it describes "a" thing, a name by which that one can be found."""
    words = wording.plain[clause:end]
    has_verb = any(word in AUXILIARIES or (word and word not in FUNCTION_WORDS) for word in words)
    return has_verb and (wording.plain[start] not in ("a", "an") or (words[0] in RELATIVE_PRONOUNS | _MADE and "" in words))


def _is_relative(wording: Wording, at: int) -> bool:
    word, following = wording.plain[at], wording.plain[at + 1]
    return word in RELATIVE_PRONOUNS or (word in _BEFORE_WHICH and following in ("which", "whom", "whose"))


def _is_reduced(wording: Wording, at: int) -> bool:
    """Check whether "directed by", "containing" begins at a word."""
    word, following = wording.plain[at], wording.plain[at + 1]
    return word in _BY and (word.endswith("ing") or following == "by" or (word in _SHOWN and following in ("in", "on")))


def _is_bare(wording: Wording, at: int) -> bool:
    """Check whether a clause without pronoun begins: a name, its verb, and a preposition at the question's end."""
    if wording.plain[at] or wording.plain[-1] not in PREPOSITIONS:
        return False
    verb = next((word for word in wording.plain[at:-1] if word), "")
    return verb in VERB_FORMS | BE


def find_head_noun(wording: Wording, start: int, end: int) -> int | None:
    """Find the noun of the phrase from an article to before a word; None where that is no single thing."""
    plain = wording.plain
    preposition = next((at for at in range(start + 1, end) if plain[at] in PREPOSITIONS), end)
    head = preposition - 1
    fits = head > start and _is_head(plain[head]) and not any(_is_no_modifier(word) for word in plain[start + 1 : head])
    named = preposition == end or (preposition + 1 < end and not any(plain[preposition + 1 : end]))
    return head if fits and named else None


def _is_head(noun: str) -> bool:
    if not noun or noun in _NO_HEADS | FUNCTION_WORDS | (VERB_FORMS - {"has"}) or is_plural(noun):
        return False
    return noun in _NOUNS_IN_ING or is_person(noun) or not noun.endswith(("ing", "ied", "ted", "sed", "ned", "red"))
