"""What the pronouns of a question mean that follows another one: "how does it work" after "what is RAG"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_cover.english.lexicon import (
    ALL_PREPOSITIONS,
    ARTICLES,
    BE,
    DEMONSTRATIVES,
    DO,
    IRREGULAR_PARTICIPLES,
    MARKS,
    POSSESSIVES,
    SIMPLE_PREPOSITIONS,
    YES_NO_OPENERS,
    one_of,
)
from rag_cover.english.noun_phrases import head_noun, is_noun_phrase, is_plural, subject_in, without_last_verb
from rag_cover.english.words import content_words, words_of

__all__ = ["is_elliptic", "refers", "resolve_pronouns"]

_AUXILIARY = one_of(YES_NO_OPENERS)
_REFERS = re.compile(r"\b(?-i:(?!IT\b))(?:it|they|them|he|she|him|its|their|his)\b", re.IGNORECASE)
_ELLIPTIC = re.compile(
    r"""^(?:what|how)\ about\b|^why\ or\ why\ not\b|^how\ (?:many|much)\ \w+\W*$
    |\b(?:some|others?|ones?|those|these|here|each|such|both)\b(?!\ (?:of|people|more)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_DEMONSTRATIVE = re.compile(
    rf"""\b{one_of(YES_NO_OPENERS)}\ (?:that|this)(?:$|\ (?:take|cost|mean|happen|work|help|apply|matter|include|last|require
    |be|the|a|so|still|also|to|for|in|on|at)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands for a whole clause: "how long does that take"."""
_EVENT = re.compile(r"why\b", re.IGNORECASE)
_LAST_ONE = re.compile(rf"\bone(?=[\s{MARKS}]*$)", re.IGNORECASE)
_ANOTHER_ONE = re.compile(rf"\ban?\ [a-z]+\ one(?=[\s{MARKS}]*$)", re.IGNORECASE)
_OF_A_KIND = re.compile(r"an?\ ", re.IGNORECASE)
_TELLS_WHICH = (
    ARTICLES
    | DEMONSTRATIVES
    | POSSESSIVES
    | frozenset(words_of("which what each every any no another other first last only than or"))
)
"""What makes a "one" after it another than what was spoken of: "a bigger one", "which one"."""
_LAST_IT = re.compile(rf"\bit[\s{MARKS}]*$", re.IGNORECASE)
"""What a last "it" means after "why did the pipe burst": in "who could prevent it" not the pipe."""
_SPECIFIES = ALL_PREPOSITIONS | {"that", "which", "who", "whose", "where", "when", "called", "named"}
"""What follows a noun of which more is said: "the museum of glass"."""
_UNFINISHED = re.compile(r"\b(?:most|least|more|less|best|worst|fewest|highest|lowest)$", re.IGNORECASE)
"""The end of a clause whose noun comes later: "which president appointed the most and which the least judges"."""
_THERE = re.compile(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:where|capital|city|town|country|village|island|region|place|museum|museums|hotel|park|state)\b", re.IGNORECASE
)
_PERSON = re.compile(r"(?:he|she|him|her|his)$", re.IGNORECASE)
_PERSONS = re.compile(r"\b(?:he|she|him|her|his)\b", re.IGNORECASE)
_MAKER = re.compile(
    r"""(?:the\ )?(?:[\w-]+\ )?(?:founder|author|writer|director|composer|inventor|designer|owner|singer|painter|architect
    |president|king|queen|ceo|mayor|leader|editor|publisher|actor|producer|captain|coach)$""",
    re.VERBOSE | re.IGNORECASE,
)
_THING = re.compile(r"its?$", re.IGNORECASE)
"""After "the founder of Google" it is Google."""
_POSSESSIVE = re.compile(r"['’]s?\b|s['’]")
_NAME_OF = re.compile(
    r"""the\ (?:\w+\ )?(?:names?|length|height|size|depth|width|weight|age|colou?r|meaning|definition|(?:phone\ )?number|address
    |email)$""",
    re.VERBOSE | re.IGNORECASE,
)
"""After "the length of the tunnel" "it" is the tunnel."""
_WHO = re.compile(r"who\b", re.IGNORECASE)
_WHY = re.compile(rf"why\ {one_of(BE)}\b", re.VERBOSE | re.IGNORECASE)
_PLURAL = re.compile(r"(?:they|them|their)$", re.IGNORECASE)
_PARTICIPLE = re.compile(rf"(?:\ (?:first|last|originally))?\ (?:\w+ed|{one_of(IRREGULAR_PARTICIPLES)})$")
_ADJECTIVES = frozenset(
    words_of(
        """open free busy safe quiet due full empty valid expensive cheap popular famous important necessary slow fast big
        small large tall old new hot cold warm wet dry dark bright clean dirty easy hard difficult legal illegal rare
        common strong weak rich poor healthy ready late early crowded loud noisy far long short high low good bad better
        worse best worst efficient urgent blue red green black white yellow grey pink orange salty sweet sour bitter toxic
        sick ill dead alive active present absent different similar special"""
    )
)
_PREDICATE = re.compile(
    rf"""(?:\ (?:very|so|too|not|more|less|most|always|usually|also|still))*
    \ (?:{one_of(_ADJECTIVES)}|(?!vegetable|constable|\w+table)\w{{3,}}(?:able|ible|ful|ous|less))
    (?:\ (?:late|early|now|today|tomorrow|daily|again|there|here)|\ (?:{one_of(ALL_PREPOSITIONS)}|when|if|because)\ .+)?$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What is said of the subject: "the library open on Sundays"."""
_NAMED_AS = re.compile(r"(?P<x>.+?)\ (?:an?|so|such|called|considered|known|named)\ .+", re.VERBOSE | re.IGNORECASE)
"""What is said of the subject with a noun: "climate change a problem"."""
_FIT_FOR = re.compile(rf"{one_of(_ADJECTIVES)}|\w+(?:able|ible)", re.IGNORECASE)
_YES_OR_NO = re.compile(rf"{one_of(BE)}\b", re.IGNORECASE)
_PREPOSITION = re.compile(rf"^{one_of(SIMPLE_PREPOSITIONS)}\ ", re.IGNORECASE)
_EXPLETIVE = re.compile(
    rf"\bit\ (?:\w+\ )?(?:mean|rains?)\b|\bit\ (?:take|cost)\ (?:\w+\ ){{0,2}}to\b"
    rf"|\b{_AUXILIARY}\ it\ (?:(?:\w+|a\ \w+\ \w+)\ )?(?:to|that|if|possible|worth)\b",
    re.VERBOSE | re.IGNORECASE,
)
_PERSONAL_ACT = re.compile(rf"\b{_AUXILIARY}\ (?:i|we|you|one)\b", re.IGNORECASE)
_EFFORT = re.compile(r"\bit\ (?:take|cost)\b", re.IGNORECASE)
"""After "how do I bake bread" the "it" of "how long does it take" is the baking."""
_WHOLE_EFFORT = re.compile(rf"[^{MARKS}]+\ it\ (?:take|cost)[\s{MARKS}]*|how\ much\ is\ it[\s{MARKS}]*", re.IGNORECASE)
_ACT = re.compile(
    rf"""(?:(?:(?:how|where|when|why)\ )?{_AUXILIARY}\ (?:i|we|you|one)
    |how\ to|(?:what|which)\ (?:\w+\ ){{1,2}}do\ (?:i|we|you)\ need\ to)\ (?P<act>[a-z]+(?:\ [^{MARKS}]+)?)""",
    re.VERBOSE | re.IGNORECASE,
)
_ASKS_HOW = re.compile(r"(?:how|where|when|why)\b", re.IGNORECASE)
_ACT_IS = re.compile(
    r"is\ it\ (?:also\ |really\ )?(?:free|allowed|permitted|legal|illegal|forbidden|safe|dangerous|possible|expensive|cheap)\b",
    re.VERBOSE | re.IGNORECASE,
)
"""What is said of an act, where no thing was named: "where can I park, and is it free"."""
_WHO_DID = re.compile(
    r"who\ (?P<did>(?:(?:first|originally)\ )?(?:\w+ed|wrote|built|made|won|led|sang|drew|found|held|began|sold|ran)\ [^?]+)",
    re.VERBOSE | re.IGNORECASE,
)
"""Who did something, and to what: "he" is then the person who did it."""
_WHO_IS = re.compile(rf"who\ {one_of(BE)}\ (?P<x>[^?]+)", re.VERBOSE | re.IGNORECASE)
_ABOUT = re.compile(
    rf"""(?:(?:what|who|which|when|where|why|how(?:\ \w+)?|(?:what|which)(?:\ \w+){{1,2}}(?=\ {one_of(DO)}\b))\ )?
    (?:(?P<do>{one_of(DO)})|{_AUXILIARY})\ (?P<rest>[^{MARKS}]+)
    |(?:who|what)\ \w+\ (?P<object>[^{MARKS}]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_HOW_TO = re.compile(r"^how to ", re.IGNORECASE)
_WHICH = re.compile(
    r"""(?:which|what)\ (?P<x>[a-z-]+(?:\ [a-z-]+)?)\ (?:do|should|can|must|may)\ (?:i|we|you)\ \w+
    (?:\ (?:for|in|at|to|on)\ .+)?\W*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What somebody is to choose: "which program do I need"."""
_PLACED = re.compile(rf"\ {one_of(SIMPLE_PREPOSITIONS - {'of', 'for'})}\ ")
_WHERE_TO = re.compile(r"\ (?:to|into|onto|in\ stock)\b")
_PARTICLES = frozenset({"up", "off", "out", "in", "on", "down", "over", "back", "away"})
_IS_THERE = re.compile(rf"{one_of(BE)}\ there\ (?:any\ )?(?P<x>[^{MARKS}]+)", re.IGNORECASE)
_IS = re.compile(r"^(what|who|where|when|how)['’]s ", re.IGNORECASE)
_PERSONAL = re.compile(
    rf"(?:i|we|you|one)\ \w+(?:\ {one_of(SIMPLE_PREPOSITIONS | {'after', 'off', 'out', 'up'})})?\ (?P<object>.+)",
    re.VERBOSE | re.IGNORECASE,
)
"""What a person does to something: "I care for a pan"."""


def is_elliptic(question: str) -> bool:
    """Return whether a question leaves out what the one before says: "how about x", "which one is best"."""
    return _ELLIPTIC.search(question) is not None


def refers(question: str) -> bool:
    """Return whether a question speaks of something or of somebody by a pronoun."""
    return _REFERS.search(question) is not None


def resolve_pronouns(questions: Sequence[str], *, context: bool) -> list[str]:
    """Put the first question's subject in the place of later pronouns; nothing where that cannot be done."""
    if not questions:
        return []
    first, *later = questions
    later = [_say_it(each, first) for each in later]
    told = {} if context else {each: found for each in later if (found := _tell_effort(each, first))}
    if any(_leans_on(first, each) for each in later if each not in told):
        return []
    asked = [each for each in ([first, *later] if context else later) if each not in told]
    refer = [each for each in asked if _REFERS.search(each) or _THERE.search(each)]
    if not refer:
        return [first, *(told.get(each, each) for each in later)]
    if not context and _is_open_alike(first, later, refer):
        return [first, *later]
    if context or _pronouns(first) or not _can_refer(first, refer):  # with context "it" may be what is told, not asked
        return []
    subject = _subject(first)
    resolved = [told.get(each) or (None if subject is None else _resolve(each, subject, first)) for each in later]
    return [] if None in resolved else [first, *(each for each in resolved if each is not None)]


def _is_open_alike(first: str, later: Sequence[str], refer: Sequence[str]) -> bool:
    """Check whether what "it" means is not said in any part, so that each stands as well as the whole."""
    if not (pronouns := _pronouns(first)) or any(map(_EXPLETIVE.search, [first, *later])):
        return False
    return all(_pronouns(each) <= pronouns and not _THERE.search(each) for each in refer)


def _tell_effort(question: str, first: str) -> str | None:
    """Say what takes the time or the money, where the first question asks how somebody does something; else None.

    >>> _tell_effort("how long does it take?", "How do I apply for the visa")
    'how long does it take to apply for the visa?'
    >>> _tell_effort("is it free?", "Where can I park")
    'is it free to park?'
    """
    done = _ACT.fullmatch(first.rstrip(f" {MARKS}"))
    if done is None or _REFERS.search(done["act"]):
        return None
    if (said := _ACT_IS.match(question)) and _ASKS_HOW.match(first) and _subject(first) is None:
        return f"{said.group()} to {done['act'].rstrip()}{question[said.end() :]}"
    if not _WHOLE_EFFORT.fullmatch(question):
        return None
    asked = question.rstrip(f" {MARKS}")
    return f"{asked} to {done['act'].partition(',')[0].rstrip()}{question[len(asked) :]}"


def _say_it(question: str, first: str) -> str:
    """Say "it" for a last "one" where the first question speaks of a thing of a kind: "who may use one" after "a kayak".

    >>> _say_it("who may use one?", "What does a kayak cost per hour")
    'who may use it?'
    >>> _say_it("where do I get a bigger one?", "What does a kayak cost per hour")
    'where do I get a bigger kayak?'
    """
    subject = _subject(first) or ""
    if subject and _ANOTHER_ONE.search(question):
        return _LAST_ONE.sub(head_noun(subject), question)
    before = question.rstrip(f" {MARKS}").lower().split()[-3:-1]
    if not _LAST_ONE.search(question) or not _OF_A_KIND.match(subject) or _TELLS_WHICH & {*before}:
        return question
    return _LAST_ONE.sub("it", question)


def _can_refer(first: str, later: Sequence[str]) -> bool:
    """Check whether the pronouns of later questions stand for something that the first one names."""
    if _EXPLETIVE.search(first) or _EFFORT.search(first) or any(map(_EXPLETIVE.search, later)):
        return False
    efforts = [each for each in later if _EFFORT.search(each)]
    return not efforts or not (_PERSONAL_ACT.search(first) or any(_PERSONS.search(each) for each in efforts))


def _pronouns(question: str) -> set[str]:
    return {match.group().lower() for match in _REFERS.finditer(question)}


def _resolve(question: str, subject: str, first: str) -> str | None:
    """Put what the first question speaks of in the place of a later one's pronouns; None where one of them fits nothing.

    >>> _resolve("why did she sell it", "the firm", "Who founded the firm")
    'why did the person who founded the firm sell the firm'
    """
    if _THERE.search(question) and not _PLACE.search(first):
        return None
    person = _person_in(first)
    if person and len(_PERSONS.findall(question)) > 1:
        return None
    thing = _referent(subject, _REFERS.sub(_without_person, question) if person else question, asks_who=bool(_WHO.match(first)))
    if thing is None:
        return None

    def instead(match: re.Match[str]) -> str:
        return _instead(match.group(), person if person and _PERSON.match(match.group()) else thing)

    return _THERE.sub(f"in {thing}", _REFERS.sub(instead, question))


def _without_person(pronoun: re.Match[str]) -> str:
    return "" if _PERSON.match(pronoun.group()) else pronoun.group()


def _person_in(first: str) -> str | None:
    """Name whom "he" and "she" mean after a question that asks who: "who was x" x, "who made x" the person who made x."""
    if (match := _WHO_IS.fullmatch(first)) and is_noun_phrase(match["x"]) and not _POSSESSIVE.search(match["x"]):
        return match["x"]
    if (match := _WHO_DID.fullmatch(first)) and not _POSSESSIVE.search(match["did"]):
        return f"the person who {match['did']}"
    return None


def _referent(subject: str, question: str, *, asks_who: bool) -> str | None:
    """Choose what a pronoun means, by number: "it" after "the effects of x" is x. None where no part of the subject fits.

    "He" after "who founded x" is whoever did, who has no name yet.
    """
    pronoun = _REFERS.search(question)
    if pronoun is None:
        return subject
    if _PERSON.match(pronoun.group()) and (asks_who or _POSSESSIVE.search(subject)):
        return None
    head, of, rest = subject.partition(" of ")
    if _PERSON.match(pronoun.group()) and (of or _OF_A_KIND.match(subject)) and not _MAKER.match(head):
        return rest or None
    if of and (_NAME_OF.match(head) or (_MAKER.match(head) and _THING.match(pronoun.group()))):
        return rest
    plural = bool(_PLURAL.match(pronoun.group()))
    if is_plural(head) == plural:
        return subject
    return rest if of and is_plural(rest) == plural else None


def _leans_on(first: str, later: str) -> bool:
    """Check whether a later question speaks of what only the first one names in full: "the game", "that", what happened."""
    nouns = re.findall(r"\b(?:the|this|that|these|those) (\w+)", later.lower())
    if any(noun in content_words(first) and not _is_named_alike(noun, first) for noun in nouns):
        return True
    if (_EVENT.match(first) and _LAST_IT.search(later)) or _UNFINISHED.search(first):
        return True
    if not content_words(later) and not refers(later):
        return True
    return bool(_ELLIPTIC.search(later) or _DEMONSTRATIVE.search(later))


def _is_named_alike(noun: str, question: str) -> bool:
    """Check whether a question says no more of a noun than "the museum" does.

    >>> _is_named_alike("museum", "What does the museum ticket cost"), _is_named_alike("game", "Who won the 2014 game")
    (True, False)
    """
    named = re.search(rf"\b(?:the|an?) {re.escape(noun)}(?: (\S+)|$)", question.rstrip(f" {MARKS}"), re.IGNORECASE)
    return named is not None and not (named[1] and (named[1][0].isupper() or named[1].lower() in _SPECIFIES))


def _instead(pronoun: str, subject: str) -> str:
    if pronoun.lower() not in ("its", "their", "his"):
        return subject
    return f"{subject}'" if subject.endswith("s") and is_plural(subject) else f"{subject}'s"


def _without_predicate(text: str, question: str) -> str:
    """Leave out what is said of the subject, in what follows a question's auxiliary.

    >>> _without_predicate("the library open", "when is the library open")
    'the library'
    >>> _without_predicate("eligible for the discount", "who is eligible for the discount")
    'the discount'
    """
    first, _, rest = text.partition(" ")
    if _FIT_FOR.fullmatch(first) and (found := _PREPOSITION.sub("", rest)) != rest:
        return found
    bare = _PREDICATE.sub("", text)
    if bare != text:
        return bare
    if _WHY.match(question) and (match := _NAMED_AS.fullmatch(text)):
        return match["x"]
    return text.rpartition(" ")[0] if _YES_OR_NO.match(question) or _WHY.match(question) else text


def _subject(question: str) -> str | None:
    """Find what a question is about: what follows its auxiliary, or the object of "who wrote …"."""
    if (named := _IS_THERE.fullmatch(question.rstrip(f" {MARKS}")) or _WHICH.match(question)) is not None:
        thing = _PLACED.split(named["x"])[0] if named.re is _IS_THERE else f"the {named['x']}"
        return thing if is_noun_phrase(thing) else None
    match = _ABOUT.match(_IS.sub(r"\1 is ", _HOW_TO.sub("how do I ", question)))
    if match is None:
        return None
    if (personal := _PERSONAL.fullmatch((match["rest"] or "").strip())) is not None:
        thing = _WHERE_TO.split(personal["object"])[0]
        return thing if is_noun_phrase(thing) and thing not in _PARTICLES else None
    if match["do"] and (subject := subject_in(match["rest"])):  # "do heat pumps work": of a clause, its subject
        return subject
    found = _PREPOSITION.sub("", (match["object"] or match["rest"]).strip())
    if match["do"]:  # "does shipping to Iceland cost"
        found = without_last_verb(found)
    bare = _PARTICIPLE.sub("", found)
    if bare == found and match["rest"]:
        bare = _without_predicate(found, question)
    if bare and is_noun_phrase(bare):
        return bare
    return subject_in(match["rest"]) if match["rest"] else None
