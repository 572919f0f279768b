"""What an order, keywords or a report of trouble ask for, put as a question."""

from __future__ import annotations

import re

from rag_cover.english.clauses import DEGREES, asks, is_one_sentence
from rag_cover.english.lexicon import ALL_PREPOSITIONS, BE, MARKS, YES_NO_OPENERS, one_of
from rag_cover.english.noun_phrases import is_noun_phrase, is_plural
from rag_cover.english.topics import ask_for_attribute, is_small_talk
from rag_cover.short_forms import capitalise

__all__ = ["finish_question"]

_AUXILIARY = one_of(YES_NO_OPENERS)
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
    rf"how\ (?!(?:{_AUXILIARY}|{DEGREES})\b)(?P<x>[^?]+?)\ (?P<be>{one_of(BE)})\ (?P<doing>\w+ing\b[^?]*)",
    re.VERBOSE | re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:please\ )?(?:tell\ me\ about|describe|explain|discuss|summari[sz]e|outline)\ (?P<x>[^?]+)", re.VERBOSE | re.IGNORECASE
)
_LISTS = re.compile(
    r"(?:please\ )?(?:list|enumerate|mention|(?:give|tell|show|send)(?:\ me|\ us)|provide(?:\ me\ with)?)\ (?:a\ list\ of\ )?"
    r"(?P<x>(?:the|all|some|any|both|a|an|\w+s|two|three|four|five|six|seven|eight|nine|ten|\d+)\b[^?]*)",
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTES = re.compile(
    r"the\ (?:(?!(?:of|for|in)\b)[\w-]+,?\ ){1,6}and\ (?:the\ )?(?:(?!(?:of|for|in)\b)[\w-]+\ ){1,4}(?:of|for)\ [\w\s.'’-]+",
    re.VERBOSE | re.IGNORECASE,
)
"""Several properties of one thing: "the price and the warranty of the X200"."""
_ASKED_FOR = re.compile(
    r"""(?:please\ )?(?:name|list|give|tell|show|state|find|recommend|suggest|cancel|change|update|reset|turn|delete|remove|add
    |book|send|resend|confirm|call|help|connect|transfer|activate|stop|block|renew|order|print|translate|write)\b(?!\ of\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_VERSUS = re.compile(
    r"(?P<order>compare\ )?(?P<x>[^?]+?)\ (?:vs\.?|versus|(?(order)(?:and|with|to)|vs))\ (?P<y>[^?]+)",
    re.VERBOSE | re.IGNORECASE,
)
_PROS_AND_CONS = re.compile(
    r"(?:the\ )?(?P<both>pros\ (?:and\ )?cons|(?:dis)?advantages\ and\ (?:dis)?advantages)\ (?:of|for)\ (?P<x>.+)"
    r"|(?P<of>.+?)\ pros\ (?:and\ )?cons",
    re.VERBOSE | re.IGNORECASE,
)
_WHICH = re.compile(
    r"(?:please\ )?(?:list|name|(?:give|tell|show)\ (?:me|us))\ (?:all\ )?(?:of\ )?(?:the\ )?(?P<x>[\w-]+(?:\ [\w-]+)?s)"
    r"\ (?:that\ |which\ )?(?P<who>you|we|i|they)\ (?P<do>[a-z]+(?:\ [^?]+)?)",
    re.VERBOSE | re.IGNORECASE,
)
"""A list of what somebody does: "list all classes you offer on Mondays"."""
_THROUGH = re.compile(r"(?:please\ )?(?:walk|talk|guide|take)\ (?:me|us)\ through\ (?P<x>[^?]+)", re.VERBOSE | re.IGNORECASE)
_TROUBLE = re.compile(
    r"""(?P<x>(?!(?:i|we|my|our)\b)[\w-]+(?:\ [\w-]+){0,4}?)\ not
        \ (?P<y>(?:work|load|open|start|charg|respond|connect|show|sync)ing\b[^?,:]*)
    |(?:i|we|my|our)\ (?:(?!\ [-–—]\ |\.\ )[^?,:])*(?:n['’]t|cannot|\bnot\ able|no\ longer|broken|stolen|lost|forgot(?:ten)?
    |stuck|locked|error)\b(?:(?!\ [-–—]\ |\.\ )[^?,:])*""",
    re.VERBOSE | re.IGNORECASE,
)
"""Trouble that somebody wants help with: "my laptop won't start", "vpn not working"."""
_SENDS_ONE = re.compile(r"(?:please\ )?send\ (?:me|us)\ an?\b", re.VERBOSE | re.IGNORECASE)
_STEPS = re.compile(
    r"(?:the\ )?(?P<x>(?:steps|ways|reasons|instructions|tips|requirements|documents\ needed)\ (?:to|for)\ \w[^?]*)",
    re.VERBOSE | re.IGNORECASE,
)
_ORDERS = re.compile(r"(?:recommend|suggest|tell|say|explain|list|choose|pick|show|give)\b", re.IGNORECASE)
_LATIN = re.compile(r"[A-Za-z0-9 .'’-]+")


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
    if asks(text):
        return text
    if (match := _VERSUS.fullmatch(text)) and all(
        is_noun_phrase(match[each]) and not _ORDERS.match(match[each]) for each in "xy"
    ):
        return f"how do {match['x']} and {match['y']} compare"
    if _FOLLOW_UP.match(text) or is_small_talk(text) or not is_one_sentence(text):
        return text
    return _rephrase_order(text)


def _rephrase_order(text: str) -> str:
    """Ask for what an order wants listed, or explained; an order of another kind stays itself."""
    if asked := _rephrase_list(text) or _rephrase_trouble(text):
        return asked
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


def _rephrase_list(text: str) -> str | None:
    if which := _WHICH.fullmatch(text):
        return f"which {which['x']} do {which['who']} {which['do']}"
    if through := _THROUGH.fullmatch(text):
        return f"what are the steps for {through['x']}"
    if (listed := _LISTS.fullmatch(text)) and not _SENDS_ONE.match(text):
        has_several = _ATTRIBUTES.fullmatch(listed["x"]) is not None
        if has_several or _is_plain_phrase(listed["x"]):
            return f"what {'are' if has_several or is_plural(listed['x']) else 'is'} {listed['x']}"
    return None


def _rephrase_trouble(text: str) -> str | None:
    trouble = _TROUBLE.fullmatch(text)
    if trouble is None:
        return None
    if trouble["x"]:
        return f"what do I do if {trouble['x']} is not {trouble['y']}"
    return f"what do I do if {text if text.startswith('I') else text[0].lower() + text[1:]}"


def _is_plain_phrase(text: str) -> bool:
    return _LATIN.fullmatch(text) is not None and is_noun_phrase(text)
