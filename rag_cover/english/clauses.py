"""A text cut into the questions it asks, each of which can stand on its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_cover.english.lexicon import (
    MARKS,
    QUESTION_WORDS,
    YES_NO_OPENERS,
    one_of,
)
from rag_cover.english.pronouns import is_elliptic, refers, resolve_pronouns
from rag_cover.english.words import content_words
from rag_cover.short_forms import capitalise

__all__ = ["DEGREES", "asks", "asks_several", "holds_several", "is_one_sentence", "questions_in"]

_SHORTEST = 3  # words of a clause that may stand alone
_PAIR = 2
_TITLES = (
    r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMt\.)(?<!\bProf\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\b[A-Z]\.)"
)
_END = re.compile(rf"(?<=[{MARKS}])\s*|;\s+|(?<=[.!]){_TITLES}\s+(?=[A-Z])|(?<!\s)\s*\n\s*")
_ALSO = re.compile(
    r"^(?:(?:also|and(?: also)?|plus|additionally|besides|lastly|finally|secondly|oh|by the way|btw|if (?:so|yes|not|no)"
    r"|(?:another|one more|a further) (?:question|thing))[,:]? )+(?=[\w'’]+ [\w'’]+ )",
    re.IGNORECASE,
)
"""How a further question begins after the first."""
_BULLET = re.compile(r"^(?:\d+[.)]|[-*•])(?:\s+|$)")
_SPACES = re.compile(r"[ \t]+")
_AUXILIARY = one_of(YES_NO_OPENERS)
_ASKS = re.compile(
    rf"""(?:(?:in|to|for|by|on|at|under|from|until|since|with)\ )?
    (?:{one_of(QUESTION_WORDS)}|{_AUXILIARY}|isn't|aren't|don't|doesn't|am\ i)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_DIRECTLY = re.compile(rf"{_AUXILIARY}\b", re.IGNORECASE)
DEGREES = "to|many|much|long|often|far|old|big|deep|tall|high|fast|heavy|wide|hot|soon|late|early|well"
_STATED = "(?:the|a|an|my|our|your|his|her|its|their|this|these|those|he|she|it|they|we|i|you)\\b"
"""What makes "what" a conjunction: "what the government should do"."""
_AND_ASKS = re.compile(
    rf"""(?:,?\s+(?:and|but|plus),?|\s/)\s+(?:also\s+|if\ (?:so|yes|not|no),?\s+)?(?=(?:
        (?:in|to|for|by|on|at|during|from|until|within|with|under)\ (?:which|what|when|where|how\ (?:{DEGREES}))
        |(?:when|where|why)\ {_AUXILIARY}|what(?!\ {_STATED})|who|which|how\ (?:{_AUXILIARY}|{DEGREES})
        |{_AUXILIARY}\ (?:it|they|he|she|the|this|that|there|i|we|you|its|their))\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_ANY_AUXILIARY = rf"(?:{_AUXILIARY}|may|might|must|am(?=\ i\b))"
_BEGINS = rf"""(?=(?:{one_of(QUESTION_WORDS - {"whose"})}|(?:for|by|at|until|since|to|with)\ (?:what|when|how|whom)
    |{_ANY_AUXILIARY}\ (?:it|they|he|she|the|this|that|there|i|we|you|its|their|my|your))\b)"""
_DIRECT = re.compile(
    rf"""(?:(?:when|where|why|who|(?:what|which|how)(?:\ (?!{_STATED})\w+){{0,2}}?)\ )?{_ANY_AUXILIARY}\b(?!['’]t)""",
    re.VERBOSE | re.IGNORECASE,
)
_WHO = re.compile(r"(?:who|which)\b", re.IGNORECASE)
_GOES_ON = re.compile(rf"{_AUXILIARY}\ \w+(?:ing|ed)\b", re.IGNORECASE)
"""What says more of who: "who had conquered it, and was travelling through it"."""
_LISTED = re.compile(
    rf",?\ (?:and|but)\ (?:also\ )?{_BEGINS}|,\ {_BEGINS}|,?\ and\ (?=(?:in|to|for|by|on|at|under|from|with)\ (?:which|what)\b)"
    rf"|\ and\ (?={_ANY_AUXILIARY}\ [a-z]+\ (?:\w+ed|\w+able|free|open|possible|necessary)\b)"
    rf"|,\ (?:and\ )?(?={_ANY_AUXILIARY}\ (?!so\b|also\b|not\b|then\b))",
    re.VERBOSE | re.IGNORECASE,
)
"""Where the questions of a list begin: "what is it, who made it, and is it free"."""
_TOPIC = re.compile(
    rf"""(?P<said>(?:i|we|my|our|in|at|on|for|with|about|regarding)\b[^,:{MARKS}]*(?=,)|[^,.:{MARKS}]+(?=:))(?P<by>[,:])
    \ (?P<asked>(?:{one_of(QUESTION_WORDS)}|{_ANY_AUXILIARY})\b[^{MARKS}]*[{MARKS}]?)""",
    re.VERBOSE | re.IGNORECASE,
)
"""What several questions are about: "The tent: how big is it, and is it waterproof?"."""
_FEW = 3
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our|me|us)\b", re.IGNORECASE)
_OF_ONESELF = re.compile(r"am i\b", re.IGNORECASE)
_SAYS = re.compile(r"(?:i|we|my|our)\b", re.IGNORECASE)
_LONGEST_CONTEXT = 25  # words that are said again with each question
_MEANS_WHAT_WAS_SAID = re.compile(rf"\b{_AUXILIARY}\ (?:that|this|these|those)\b", re.VERBOSE | re.IGNORECASE)
"""In a question after a sentence: what that sentence says."""


def questions_in(text: str) -> list[str]:
    """Split a text into questions that stand on their own; those that leave out what another says stay together.

    A pronoun whose meaning no rule can tell stays as it is.

    >>> questions_in("What is RAG and how does it work?")
    ['What is RAG', 'how does RAG work?']
    >>> questions_in("How loud is a heat pump, where may it stand, and what can be done against it?")
    ['How loud is a heat pump', 'where may a heat pump stand', 'what can be done against a heat pump?']
    >>> questions_in("How do I care for a cast iron pan, and how do I remove rust from it?")
    ['How do I care for a cast iron pan', 'how do I remove rust from a cast iron pan?']
    >>> questions_in("I have a 2015 Civic. Why does it stall and how much is the repair?")
    ['I have a 2015 Civic. Why does it stall', 'I have a 2015 Civic. How much is the repair?']
    """
    whole = " ".join(text.split())
    pieces = [" ".join(piece.split()) for piece in _END.split(_SPACES.sub(" ", text.strip())) if piece.strip()]
    pieces = [bare for piece in pieces if (bare := _BULLET.sub("", piece))]
    pieces = [*pieces[:1], *(_ALSO.sub("", piece) for piece in pieces[1:])]
    if len(pieces) == 1 and (questions := _split_after_topic(pieces[0])):
        return questions
    marked = any(mark in text for mark in MARKS)
    asking = [piece for piece in pieces if _ASKS.match(piece) and not (marked and piece[-1] == "." and _DIRECTLY.match(piece))]
    others = [piece for piece in pieces if piece not in asking]
    if any(piece[-1] in MARKS for piece in others) or any(piece[-1] == "!" for piece in asking):  # a title, or no known form
        return [whole]
    context = bool(others)
    clauses = [clause for piece in asking for clause in _clauses(piece, context=context)]
    listed = [clause for piece in asking for clause in _split_list(piece) or _clauses(piece, context=context)]
    for questions in (listed, *([clauses] if len(listed) <= _PAIR and not any(map(refers, clauses[1:])) else [])):
        if context and any(_needs_context(each, " ".join(others)) for each in questions):
            break
        if standing := resolve_pronouns(questions, context=context):
            return standing
    if not context and (len(listed) > _PAIR or (len(listed) == _PAIR and _asks_of_it(listed[1]))):
        return listed  # a pronoun whose meaning no rule tells is left: the whole would be judged worse
    return _in_context(pieces, others, listed) or ([whole] if whole else [])


def _asks_of_it(question: str) -> bool:
    """Check whether a question says what it asks, though not of what: "how deep are they", but not "what can I do about it"."""
    return refers(question) and not is_elliptic(question) and bool(content_words(question))


def _in_context(pieces: Sequence[str], others: Sequence[str], questions: Sequence[str]) -> list[str]:
    """Put what is said before several questions before each of them; nothing where that is long, or not all they need."""
    said, asked = " ".join(capitalise(each if each[-1] in ".:!" else f"{each}.") for each in others), pieces[len(others) :]
    is_before = len(others) > 0 and pieces[: len(others)] == others and all(piece[-1:] in [*MARKS] for piece in asked)
    stand = len(questions) > 1 and all(map(_is_long, questions))
    return [f"{said} {capitalise(each)}" for each in questions] if is_before and stand and _is_short(said) else []


def _split_after_topic(piece: str) -> list[str]:
    """Ask each of several questions of what is said before them: "I lost my card, what should I do and who pays?"."""
    topic = _TOPIC.fullmatch(piece)
    if topic is None or not _is_short(topic["said"]):
        return []
    listed = _LISTED.split(topic["asked"])
    questions = listed if len(listed) > _PAIR else _AND_ASKS.split(topic["asked"])
    if len(questions) < _PAIR or any(len(each.split()) < _PAIR or "," in each for each in questions):
        return []
    if _SAYS.match(topic["said"]) and topic["by"] == ",":
        return [f"{topic['said']}. {capitalise(each)}" for each in questions]
    return [f"{topic['said']}{topic['by']} {each}" for each in questions]


def _is_short(said: str) -> bool:
    return len(said.split()) <= _LONGEST_CONTEXT


def _needs_context(question: str, said: str) -> bool:
    """Check whether a question after a sentence asks about what that sentence says: "What can I do?"."""
    least = _FEW if _FIRST_PERSON.search(question) and _FIRST_PERSON.search(said) else 1
    is_bare = not _is_long(question) or len(content_words(question)) <= least
    return is_bare or _OF_ONESELF.match(question) is not None or _MEANS_WHAT_WAS_SAID.search(question) is not None


def holds_several(question: str) -> bool:
    """Check whether a question that could not be split asks several things all the same."""
    return bool(_AND_ASKS.search(question) or _END.search(question.rstrip(f" {MARKS}")))


def asks_several(question: str) -> bool:
    """Check whether a question asks several things in so many words.

    >>> asks_several("Is it far, and what do they charge?"), asks_several("It broke. What can I do?")
    (True, False)
    """
    return bool(_AND_ASKS.search(question)) or sum(question.count(mark) for mark in MARKS) > 1


def is_one_sentence(text: str) -> bool:
    """Return whether a text is one sentence, or one of several lines."""
    return _END.search(text) is None


def asks(text: str) -> bool:
    """Check whether a text begins as a question does.

    >>> asks("how far is it"), asks("However far it is")
    (True, False)
    """
    return bool(_ASKS.match(text))


def _split_list(piece: str) -> list[str]:
    """Split a list of questions; a comma that begins none may be that of a relative clause."""
    listed = _LISTED.split(piece)
    if len(listed) == _PAIR and _WHO.match(listed[0]) and _GOES_ON.match(listed[1]):
        return []
    begin = all(_DIRECT.match(each) or (len(listed) > _PAIR and _ASKS.match(each)) for each in listed)
    is_list = len(listed) >= _PAIR and begin and not any("," in each for each in listed)
    return listed if is_list and (_stand_alone(listed) or (len(listed) > _PAIR and all(map(_is_long, listed)))) else []


def _clauses(piece: str, *, context: bool) -> list[str]:
    """Split what asks two things; after a statement, which stands before each of them, they need not stand alone."""
    clauses = _AND_ASKS.split(piece)
    return clauses if _stand_alone(clauses) or (context and all(map(_is_long, clauses))) else [piece]


def _stand_alone(clauses: Sequence[str]) -> bool:
    return all(_is_long(clause) and (content_words(clause) or refers(clause)) for clause in clauses)


def _is_long(clause: str) -> bool:
    return len(clause.split()) >= _SHORTEST
