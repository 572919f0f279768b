"""A text cut into the questions it asks, each of which can stand on its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_cover.english.lexicon import (
    ALL_PREPOSITIONS,
    BE,
    MARKS,
    QUESTION_WORDS,
    YES_NO_OPENERS,
    one_of,
)
from rag_cover.english.noun_phrases import is_noun_phrase, is_plural
from rag_cover.english.pronouns import refers, resolve_pronouns
from rag_cover.english.topics import ask_for_attribute, is_small_talk
from rag_cover.english.words import content_words
from rag_cover.short_forms import capitalise

__all__ = ["asks", "finish_question", "holds_several", "questions_in"]

_SHORTEST = 3  # words of a clause that may stand alone
_PAIR = 2
_TITLES = (
    r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMt\.)(?<!\bProf\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\b[A-Z]\.)"
)
_END = re.compile(rf"(?<=[{MARKS}])\s*|;\s+|(?<=[.!]){_TITLES}\s+(?=[A-Z])|\s*\n\s*")
_ALSO = re.compile(
    r"^(?:(?:also|and(?: also)?|plus|additionally|besides|lastly|finally|secondly|if (?:so|yes|not|no)),? )+(?=\w+ \w+ )",
    re.IGNORECASE,
)
"""How a further question begins after the first."""
_SPACES = re.compile(r"[ \t]+")
_AUXILIARY = one_of(YES_NO_OPENERS)
_ASKS = re.compile(
    rf"(?:(?:in|to|for|by|on|at)\ )?(?:{one_of(QUESTION_WORDS)}|{_AUXILIARY}|isn't|aren't|don't|doesn't)\b",
    re.VERBOSE | re.IGNORECASE,
)
_DIRECTLY = re.compile(rf"{_AUXILIARY}\b", re.IGNORECASE)
_MEASURE = "to|many|much|long|often|far|old|big|deep|tall|high|fast|heavy|wide|hot|soon|late|early|well"
_STATED = "(?:the|a|an|my|our|your|his|her|its|their|this|these|those|he|she|it|they|we|i|you)\\b"
"""What makes "what" a conjunction: "what the government should do"."""
_AND_ASKS = re.compile(
    rf""",?\s+(?:and|but),?\s+(?:also\s+|if\ (?:so|yes|not|no),?\s+)?(?=(?:
        (?:in|to|for|by|on|at|during|from|until|within|with|under)\ (?:which|what|when|where|how\ (?:{_MEASURE}))
        |(?:when|where|why)\ {_AUXILIARY}|what(?!\ {_STATED})|who|which|how\ (?:{_AUXILIARY}|{_MEASURE})
        |{_AUXILIARY}\ (?:it|they|he|she|the|this|that|there|i|we|you|its|their))\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_BEGINS = rf"""(?=(?:{one_of(QUESTION_WORDS - {"whose"})}
    |{_AUXILIARY}\ (?:it|they|he|she|the|this|that|there|i|we|you|its|their|my|your))\b)"""
_LISTED = re.compile(
    rf",?\ (?:and|but)\ (?:also\ )?{_BEGINS}|,\ {_BEGINS}|,\ and\ (?={_AUXILIARY}\ )", re.VERBOSE | re.IGNORECASE
)
"""Where the questions of a list begin: "what is it, who made it, and is it free"."""
_TOPIC = re.compile(
    rf"""(?P<said>(?:i|we|my|our)\b[^,:{MARKS}]*(?=,)|[\w\s"'’-]+(?=:))(?P<by>[,:])\ (?P<asked>(?:
    (?:what|how|where|who|when|why|which)(?:\ \w+)?\ {_AUXILIARY}|who\ \w+|{_AUXILIARY}\ (?:i|we|you|it|there|they|the|my))\b
    [^{MARKS}]*[{MARKS}]?)""",
    re.VERBOSE | re.IGNORECASE,
)
"""What several questions are about: "The tent: how big is it, and is it waterproof?"."""
_LONGEST_CONTEXT = 25  # words that are said again with each question
_MEANS_WHAT_WAS_SAID = re.compile(rf"\b{_AUXILIARY}\ (?:that|this|these|those)\b", re.VERBOSE | re.IGNORECASE)
"""In a question after a sentence: what that sentence says."""
_LINKS = ALL_PREPOSITIONS | {
    "and",
    "but",
    "or",
    "also",
    "then",
    "so",
    "only",
    "even",
    "not",
    "just",
    "any",
    "including",
    "really",
}
_FOLLOW_UP = re.compile(rf"{one_of(_LINKS)}(?: |$)", re.IGNORECASE)
"""How a follow-up without a verb begins: what it asks was said before, as in "And on Saturdays?"."""
_INDIRECT = re.compile(
    rf"how\ (?!(?:{_AUXILIARY}|{_MEASURE})\b)(?P<x>[^?]+?)\ (?P<be>{one_of(BE)})\ (?P<doing>\w+ing\b[^?]*)",
    re.VERBOSE | re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:please\ )?(?:tell\ me\ about|describe|explain|discuss|summari[sz]e|outline)\ (?P<x>[^?]+)", re.VERBOSE | re.IGNORECASE
)
_LISTS = re.compile(
    r"(?:please\ )?(?:list|enumerate|mention|(?:give|tell|show)(?:\ me|\ us)|provide(?:\ me\ with)?)\ "
    r"(?P<x>(?:the|all|some|any|both|a|an|\w+s|two|three|four|five|six|seven|eight|nine|ten|\d+)\b[^?]*)",
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTES = re.compile(
    r"the\ (?:(?!(?:of|for|in)\b)[\w-]+,?\ ){1,6}and\ (?:the\ )?(?:(?!(?:of|for|in)\b)[\w-]+\ ){1,4}(?:of|for)\ [\w\s.'’-]+",
    re.VERBOSE | re.IGNORECASE,
)
"""Several properties of one thing: "the price and the warranty of the X200"."""
_ASKED_FOR = re.compile(
    r"(?:please\ )?(?:name|list|give|tell|show|state|find|recommend|suggest)\b(?!\ of\b)", re.VERBOSE | re.IGNORECASE
)
_VERSUS = re.compile(
    r"(?P<order>compare\ )?(?P<x>[^?]+?)\ (?:vs\.?|versus|(?(order)(?:and|with|to)|vs))\ (?P<y>[^?]+)",
    re.VERBOSE | re.IGNORECASE,
)
_PROS_AND_CONS = re.compile(
    r"(?:the\ )?(?P<both>pros\ (?:and\ )?cons|(?:dis)?advantages\ and\ (?:dis)?advantages)\ (?:of|for)\ (?P<x>.+)"
    r"|(?P<of>.+?)\ (?P<them>pros\ (?:and\ )?cons)",
    re.VERBOSE | re.IGNORECASE,
)
_STEPS = re.compile(
    r"(?:the\ )?(?P<x>(?:steps|ways|reasons|instructions|tips|requirements|documents\ needed)\ (?:to|for)\ \w[^?]*)",
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
    >>> questions_in("I have a 2015 Civic. Why does it stall and how much is the repair?")
    ['I have a 2015 Civic. Why does it stall', 'I have a 2015 Civic. How much is the repair?']
    """
    whole = " ".join(text.split())
    pieces = [" ".join(piece.split()) for piece in _END.split(_SPACES.sub(" ", text.strip())) if piece.strip()]
    pieces = [*pieces[:1], *(_ALSO.sub("", piece) for piece in pieces[1:])]
    if len(pieces) == 1 and (questions := _after_topic(pieces[0])):
        return questions
    marked = any(mark in text for mark in MARKS)
    asking = [piece for piece in pieces if _ASKS.match(piece) and not (marked and piece[-1] == "." and _DIRECTLY.match(piece))]
    others = [piece for piece in pieces if piece not in asking]
    if any(piece[-1] in MARKS for piece in others) or any(piece[-1] == "!" for piece in asking):  # a title, or no known form
        return [whole]
    context = bool(others)
    listed = [clause for piece in asking for clause in _listed(piece) or _clauses(piece)]
    clauses = [clause for piece in asking for clause in _clauses(piece)]
    for questions in (listed, *([clauses] if clauses != listed and not any(map(refers, clauses[1:])) else [])):
        if context and any(map(_needs_context, questions)):
            break
        if standing := resolve_pronouns(questions, context=context):
            return standing
    return _in_context(pieces, others, listed) or ([whole] if whole else [])


def _in_context(pieces: Sequence[str], others: Sequence[str], questions: Sequence[str]) -> list[str]:
    """Put what is said before several questions before each of them; nothing where that is long, or not all they need."""
    said, asked = " ".join(f"{each.rstrip('.')}." for each in others), pieces[len(others) :]
    is_before = len(others) > 0 and pieces[: len(others)] == others and all(piece[-1:] in [*MARKS] for piece in asked)
    stand = len(questions) > 1 and all(len(each.split()) >= _SHORTEST for each in questions)
    return [f"{said} {capitalise(each)}" for each in questions] if is_before and stand and _is_short(said) else []


def _after_topic(piece: str) -> list[str]:
    """Ask each of several questions of what is said before them: "I lost my card, what should I do and who pays?"."""
    topic = _TOPIC.fullmatch(piece)
    if topic is None or not _is_short(topic["said"]):
        return []
    questions = _listed(topic["asked"]) or _AND_ASKS.split(topic["asked"])
    if len(questions) < _PAIR or any(len(each.split()) < _SHORTEST or "," in each for each in questions):
        return []
    if topic["by"] == ",":
        return [f"{topic['said']}. {capitalise(each)}" for each in questions]
    return [f"{topic['said']}: {each}" for each in questions]


def _is_short(said: str) -> bool:
    return len(said.split()) <= _LONGEST_CONTEXT


def _needs_context(question: str) -> bool:
    """Check whether a question after a sentence asks about what that sentence says: "What can I do?"."""
    is_bare = len(question.split()) < _SHORTEST or len(content_words(question)) <= 1
    return is_bare or _MEANS_WHAT_WAS_SAID.search(question) is not None


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
    >>> finish_question("List three side effects of ibuprofen."), finish_question("Name the Beatles.")
    ('What are three side effects of ibuprofen?', 'Name the Beatles?')

    A follow-up without a verb stays itself: what it asks was said before.

    >>> finish_question("And on Saturdays?"), finish_question("opening hours")
    ('And on Saturdays?', 'What are the opening hours?')
    """
    text = _direct(part.rstrip(f" .!,;:…{MARKS}") or part)
    mark = part[-1] if part[-1] in MARKS else "?"
    return f"{capitalise(text)}{'' if text[-1] in MARKS else mark}"


def _direct(text: str) -> str:
    if match := _INDIRECT.fullmatch(text):
        return f"how {match['be']} {match['x']} {match['doing']}"
    if _ASKS.match(text):
        return text
    if (match := _VERSUS.fullmatch(text)) and is_noun_phrase(match["x"]) and is_noun_phrase(match["y"]):
        return f"how do {match['x']} and {match['y']} compare"
    if _FOLLOW_UP.match(text) or is_small_talk(text) or _END.search(text):
        return text
    return _rephrase_order(text)


def _rephrase_order(text: str) -> str:
    """Ask for what an order wants listed, or explained; an order of another kind stays itself."""
    if listed := _LISTS.fullmatch(text):
        has_several = _ATTRIBUTES.fullmatch(listed["x"]) is not None
        if has_several or _is_plain_phrase(listed["x"]):
            return f"what {'are' if has_several or is_plural(listed['x']) else 'is'} {listed['x']}"
    match = _ORDER.fullmatch(text)
    topic = match["x"] if match else text
    if steps := _STEPS.fullmatch(topic):
        return f"what are the {steps['x'][0].lower()}{steps['x'][1:]}"
    if (both := _PROS_AND_CONS.fullmatch(topic)) and is_noun_phrase(about := both["x"] or both["of"]):
        return f"what are the {(both['both'] or 'pros and cons').lower()} of {about}"
    if asked := ask_for_attribute(topic):
        return asked
    is_topic = _is_plain_phrase(topic) and (match or not _ASKED_FOR.match(text))
    return f"what is important to know about {topic}" if is_topic else text


def _is_plain_phrase(text: str) -> bool:
    return _LATIN.fullmatch(text) is not None and is_noun_phrase(text)


def _listed(piece: str) -> list[str]:
    """Split a list of at least three questions; a comma that begins none may be that of a relative clause."""
    listed = _LISTED.split(piece)
    is_list = len(listed) > _PAIR and all(map(_ASKS.match, listed)) and not any("," in each for each in listed)
    return listed if is_list and _stand_alone(listed) else []


def _clauses(piece: str) -> list[str]:
    clauses = _AND_ASKS.split(piece)
    return clauses if _stand_alone(clauses) else [piece]


def _stand_alone(clauses: Sequence[str]) -> bool:
    return all(len(clause.split()) >= _SHORTEST and content_words(clause) for clause in clauses)
