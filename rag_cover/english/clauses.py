"""A text cut into the questions it asks, each of which can stand on its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_cover.english.lexicon import BE, DO, QUESTION_WORDS, SIMPLE_PREPOSITIONS, YES_NO_OPENERS, one_of
from rag_cover.english.noun_phrases import is_noun_phrase, is_plural, subject_in
from rag_cover.english.words import content_words

__all__ = ["MARKS", "asks", "finish_question", "holds_several", "questions_in"]

MARKS = "?\uff1f\u061f"
"""Question marks: Latin, full-width, Arabic."""

_SHORTEST = 3  # words of a clause that may stand alone
_PAIR = 2
_TITLES = (
    r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMt\.)(?<!\bProf\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\b[A-Z]\.)"
)
_END = re.compile(rf"(?<=[{MARKS}])\s*|;\s+|(?<=[.!]){_TITLES}\s+(?=[A-Z])|\s*\n\s*")
_SPACES = re.compile(r"[ \t]+")
_AUXILIARY = one_of(YES_NO_OPENERS)
_ASKS = re.compile(
    rf"(?:(?:in|to|for|by|on|at)\ )?(?:{one_of(QUESTION_WORDS)}|{_AUXILIARY}|isn't|aren't|don't|doesn't)\b",
    re.VERBOSE | re.IGNORECASE,
)
_MEASURE = "to|many|much|long|often|far|old|big|deep|tall|high|fast|heavy|wide|hot|soon|late|early|well"
_AND_ASKS = re.compile(
    rf""",?\s+(?:and|but)\s+(?:also\s+)?(?=(?:
        (?:when|where|why)\ {_AUXILIARY}|what|who|which|how\ (?:{_AUXILIARY}|{_MEASURE})
        |{_AUXILIARY}\ (?:it|they|he|she|the|this|that|there|i|we|you|its|their))\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_WHICH_DIRECTLY = rf"(?:who|what|which|when|where|why|how(?:\ \w+)?)\ (?:{_AUXILIARY}|may|might|must)\b"
_DIRECT = re.compile(rf"{_WHICH_DIRECTLY}|{_AUXILIARY}\b", re.VERBOSE | re.IGNORECASE)
_LISTED = re.compile(rf",?\ and\ (?={_WHICH_DIRECTLY})|,\ (?={_WHICH_DIRECTLY})", re.VERBOSE | re.IGNORECASE)
_REFERS = re.compile(r"\b(?:it|they|them|he|she|him|its|their|his)\b", re.IGNORECASE)
_ELLIPTIC = re.compile(
    r"^(?:what|how)\ about\b|\b(?:some|others|ones?|those|these|here)\b(?!\ (?:of|people|more)\b)", re.VERBOSE | re.IGNORECASE
)
_THERE = re.compile(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\b(?:where|capital|city|town|country|village|island|region|place|museum|museums|hotel|park|state)\b", re.IGNORECASE
)
_PERSON = re.compile(r"(?:he|she|him|her|his)$", re.IGNORECASE)
_NAME_OF = re.compile(r"the\ (?:\w+\ )?names?$", re.VERBOSE | re.IGNORECASE)
_WHO = re.compile(r"who\b", re.IGNORECASE)
_PLURAL = re.compile(r"(?:they|them|their)$", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"\ (?:\w+ed|built|born|made|written|found|sold|held|known|sung|drawn|given|taken|won|lost|begun|done|seen|paid)$"
)
_YES_OR_NO = re.compile(rf"{one_of(BE)}\b", re.IGNORECASE)
_PREPOSITION = re.compile(rf"^{one_of(SIMPLE_PREPOSITIONS)}\ ", re.IGNORECASE)
_EXPLETIVE = re.compile(r"\bit\ (?:\w+\ )?(?:take|cost|mean|to|that|if|possible|worth|rains?)\b", re.VERBOSE | re.IGNORECASE)
_ABOUT = re.compile(
    rf"""(?:(?:what|who|which|when|where|why|how(?:\ \w+)?)\ )?(?:(?P<do>{one_of(DO)})|{_AUXILIARY})\ (?P<rest>[^{MARKS}]+)
    |(?:who|what)\ \w+\ (?P<object>[^{MARKS}]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_PERSONAL = re.compile(
    rf"(?:i|we|you|one)\ \w+(?:\ {one_of(SIMPLE_PREPOSITIONS | {'after', 'off', 'out', 'up'})})?\ (?P<object>.+)",
    re.VERBOSE | re.IGNORECASE,
)
"""What a person does to something: "I care for a pan"."""
_INDIRECT = re.compile(
    rf"how\ (?!{_AUXILIARY}\b)(?P<x>[^?]+?)\ (?P<be>{one_of(BE)})\ (?P<doing>\w+ing\b[^?]*)", re.VERBOSE | re.IGNORECASE
)
_ORDER = re.compile(
    r"(?:please\ )?(?:tell\ me\ about|describe|explain|discuss|summari[sz]e|outline)\ (?P<x>[^?]+)", re.VERBOSE | re.IGNORECASE
)
_VERSUS = re.compile(
    r"(?P<order>compare\ )?(?P<x>[^?]+?)\ (?:vs\.?|versus|(?(order)(?:and|with|to)|vs))\ (?P<y>[^?]+)",
    re.VERBOSE | re.IGNORECASE,
)
_LATIN = re.compile(r"[A-Za-z0-9 .'’-]+")


def questions_in(text: str) -> list[str]:
    """Split a text into questions that stand on their own; the whole text where they would not.

    >>> questions_in("What is RAG and how does it work?")
    ['What is RAG', 'how does RAG work?']
    >>> questions_in("How loud is a heat pump, where may it stand, and what can be done against it?")
    ['How loud is a heat pump', 'where may a heat pump stand', 'what can be done against a heat pump?']
    >>> questions_in("How do I care for a cast iron pan, and how do I remove rust from it?")
    ['How do I care for a cast iron pan', 'how do I remove rust from a cast iron pan?']
    >>> questions_in("I have a 2015 Civic. Why does it stall?")
    ['I have a 2015 Civic. Why does it stall?']
    """
    whole = " ".join(text.split())
    pieces = [" ".join(piece.split()) for piece in _END.split(_SPACES.sub(" ", text.strip()))]
    questions = [clause for piece in pieces if _ASKS.match(piece) for clause in _clauses(piece)]
    context = any(not _ASKS.match(piece) for piece in pieces if piece)
    standing = _resolve_pronouns(questions, context=context)
    return standing or ([whole] if whole else [])


def holds_several(question: str) -> bool:
    """Check whether a question that could not be split asks several things all the same."""
    return bool(_AND_ASKS.search(question) or _END.search(question.rstrip(f" {MARKS}")))


def asks(text: str) -> bool:
    """Check whether a text begins as a question does.

    >>> asks("how far is it"), asks("However far it is")
    (True, False)
    """
    return bool(_ASKS.match(text))


def finish_question(part: str) -> str:
    """Finish a question: the order of words of a direct one, a capital, a question mark.

    >>> finish_question("how climate change is affecting the earth"), finish_question("Python vs Java")
    ('How is climate change affecting the earth?', 'How do Python and Java compare?')
    >>> finish_question("Explain inflation.")
    'What is important to know about inflation?'
    """
    text = _direct(part.rstrip(f" .!,;:…{MARKS}") or part)
    mark = part[-1] if part[-1] in MARKS else "?"
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1] in MARKS else mark}"


def _direct(text: str) -> str:
    if match := _INDIRECT.fullmatch(text):
        return f"how {match['be']} {match['x']} {match['doing']}"
    if _ASKS.match(text):
        return text
    if (match := _VERSUS.fullmatch(text)) and is_noun_phrase(match["x"]) and is_noun_phrase(match["y"]):
        return f"how do {match['x']} and {match['y']} compare"
    match = _ORDER.fullmatch(text)
    topic = match["x"] if match else text
    return f"what is important to know about {topic}" if _LATIN.fullmatch(topic) and is_noun_phrase(topic) else text


def _clauses(piece: str) -> list[str]:
    listed = _LISTED.split(piece)
    if len(listed) > _PAIR and all(map(_DIRECT.match, listed)) and _stand_alone(listed):
        return listed
    clauses = _AND_ASKS.split(piece)
    return clauses if _stand_alone(clauses) else [piece]


def _stand_alone(clauses: Sequence[str]) -> bool:
    return all(len(clause.split()) >= _SHORTEST and content_words(clause) for clause in clauses)


def _resolve_pronouns(questions: Sequence[str], *, context: bool) -> list[str]:
    """Put the first question's subject in the place of later pronouns; nothing where that cannot be done."""
    if any(_leans_on(questions[0], later) or _ELLIPTIC.search(later) for later in questions[1:]):
        return []
    refer = [each for each in questions[0 if context else 1 :] if _REFERS.search(each) or _THERE.search(each)]
    if not refer:
        return list(questions)
    subject = None if context else _subject(questions[0])
    if subject is None or any(map(_EXPLETIVE.search, refer)):
        return []
    standing = [questions[0]]
    for each in questions[1:]:
        meant = _referent(subject, each, asks_who=bool(_WHO.match(questions[0])))
        if meant is None:
            return []
        if _THERE.search(each) and not _PLACE.search(questions[0]):
            return []
        resolved = _REFERS.sub(lambda match, meant=meant: _instead(match.group(), meant), each)  # type: ignore[misc]
        standing.append(_THERE.sub(f"in {meant}", resolved))
    return standing


def _referent(subject: str, question: str, *, asks_who: bool) -> str | None:
    """Choose what a pronoun means, by number: "it" after "the effects of x" is x. None where no part of the subject fits.

    "He" after "who founded x" is whoever did, who has no name yet.
    """
    pronoun = _REFERS.search(question)
    if pronoun is None:
        return subject
    if asks_who and _PERSON.match(pronoun.group()):
        return None
    head, of, rest = subject.partition(" of ")
    if of and _NAME_OF.match(head):
        return rest
    plural = bool(_PLURAL.match(pronoun.group()))
    if is_plural(head) == plural:
        return subject
    return rest if of and is_plural(rest) == plural else None


def _leans_on(first: str, later: str) -> bool:
    """Check whether a later question speaks of "the game" that only the first one names in full."""
    return any(noun in content_words(first) for noun in re.findall(r"\b(?:the|this|that|these|those) (\w+)", later.lower()))


def _instead(pronoun: str, subject: str) -> str:
    return f"{subject}'s" if pronoun.lower() in ("its", "their", "his") else subject


def _subject(question: str) -> str | None:
    """Find what a question is about: what follows its auxiliary, or the object of "who wrote …"."""
    match = _ABOUT.match(question)
    if match is None:
        return None
    if (personal := _PERSONAL.fullmatch((match["rest"] or "").strip())) is not None:
        return personal["object"] if is_noun_phrase(personal["object"]) else None
    if match["do"] and (subject := subject_in(match["rest"])):  # "do heat pumps work": of a clause, its subject
        return subject
    found = _PREPOSITION.sub("", (match["object"] or match["rest"]).strip())
    bare = _PARTICIPLE.sub("", found)
    if bare == found and match["rest"] and _YES_OR_NO.match(question):  # "is the visa free": without what is said of it
        bare = found.rpartition(" ")[0]
    if bare and is_noun_phrase(bare):
        return bare
    return subject_in(match["rest"]) if match["rest"] else None
