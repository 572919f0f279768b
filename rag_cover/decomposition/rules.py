"""A question split into sub-questions by rules, without a model: the questions that it asks in so many words.

Clauses in a row become questions of their own ("When was it built and who designed it?"), and so do items of a list ("the
causes and effects of x") and verbs or question words that share an object ("store and reheat it", "where and when"). The steps
of a multi-hop question that stand on their own are background (`hops_of`). Nothing is invented: a question that asks one thing
is its own and only sub-question. Rules know English; a question in another language stays whole. A model finds the facets of an
open question (Xie et al., NAACL 2025, §3.1, have GPT-4 write about 20); what rules made is marked ``role_source="rules"``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from rag_cover.decomposition.deduplication import plain_wording
from rag_cover.decomposition.multihop import hops_of
from rag_cover.decomposition.multihop.words import question_about
from rag_cover.english.clauses import holds_several, questions_in
from rag_cover.english.indirect import ask_plainly
from rag_cover.english.lexicon import ARTICLES, AUXILIARIES, BE, MARKS, POSSESSIVES, SIMPLE_PREPOSITIONS, one_of
from rag_cover.english.noun_phrases import head_noun, is_noun_phrase, is_plural, split_list
from rag_cover.english.orders import finish_question
from rag_cover.english.topics import is_courtesy, is_small_talk, split_topics
from rag_cover.english.verbs import participle_of_past
from rag_cover.english.words import words_of
from rag_cover.questions import Role, SubQuestion
from rag_cover.short_forms import capitalise

__all__ = ["decompose_by_rules"]

_LONGEST = 40  # words of a question whose lists are still worth a look
_ATTRIBUTES = re.compile(
    rf"what\ {one_of(BE)}\ the\ (?P<list>[\w\s,-]{{3,60}}?)\ (?P<of>of|for|in)\ (?P<x>[^?]+)", re.VERBOSE | re.IGNORECASE
)
_AND_ITS = re.compile(
    rf"what\ {one_of(BE)}\ the\ (?P<name>[\w\s-]{{3,60}}?)\ of\ (?P<x>[^?]+?),?\ and\ (?:its|their|his|her)\ (?P<other>[^?]+)",
    re.VERBOSE | re.IGNORECASE,
)
_SHARED = re.compile(
    r"(?P<ask>what\ (?:is|was)\ the\ [\w\s-]{3,60}?\ (?:of|in|for)|who\ \w+)\ (?P<list>[^?]+)", re.VERBOSE | re.IGNORECASE
)
_VERB = r"(?!the\b|a\b|an\b|my\b|your\b|it\b|to\b)[a-z]+"
_VERBS = re.compile(
    rf"""(?P<ask>how\ (?:to|(?:do|can|could|should|would|must)\ (?:i|you|we|one|they|people|staff|users|customers)))
    \ (?P<verbs>{_VERB}(?:,\ {_VERB})*,?\ and\ {_VERB})\ (?P<object>[^?]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_OPENS_AND_CLOSES = re.compile(
    r"""(?P<ask>(?:when|(?:at\ )?what\ time)\ (?:do|does)\ [\w\s]+?)
    \ (?P<verbs>open\ and\ close|start\ and\ (?:end|finish))(?P<object>(?:\ [^?]+)?)""",
    re.VERBOSE | re.IGNORECASE,
)
_PASSIVES = re.compile(
    rf"(?P<ask>how\ {one_of(BE)}\ (?:the\ )?[\w\s-]{{2,40}}?)\ (?P<verbs>\w+ed\ and\ \w+ed)(?P<object>(?:\ [^?]+)?)",
    re.VERBOSE | re.IGNORECASE,
)
_BEGINS_ADVERBIAL = (SIMPLE_PREPOSITIONS - {"of"}) | frozenset(
    words_of("without during after before under over through as when if")
)
_STORY = re.compile(r"[a-z]{3}[.!]\s+[A-Z]")
_ORDINAL = re.compile(r"^(?:first|second|third|last|next)$", re.IGNORECASE)
_ASKS_MORE = re.compile(rf"\band (?:who|what|where|when|why|how) {one_of(AUXILIARIES)}\b", re.IGNORECASE)
_OF_ITS_OWN = re.compile(r"(?:its|their|his|her)\b", re.IGNORECASE)
_PLACED = re.compile(rf"\b{one_of(_BEGINS_ADVERBIAL)}\b", re.IGNORECASE)
"""What makes of a list a name: "heather in beauty and the beast"."""
_ADVERBIAL = re.compile(rf"{one_of(_BEGINS_ADVERBIAL)}\b", re.IGNORECASE)
_AGENTS = re.compile(r"(?P<ask>who) (?P<verbs>\w+(?:ed|te|nt|lt) and \w+(?:ed|te|nt|lt)) (?P<object>[^?]+)", re.IGNORECASE)
_WHERE_AND_WHEN = re.compile(
    r"(?P<first>when|where|why|how|who)\ and\ (?P<second>when|where|why|how)\ (?!and\b)(?P<rest>[^?]+)",
    re.VERBOSE | re.IGNORECASE,
)
_WHO_AND_WHEN = re.compile(
    r"(?P<who>who\ (?P<did>\w+)\ (?P<x>[^?,]+?)),?\ and\ (?P<second>when|where|why|how)", re.VERBOSE | re.IGNORECASE
)
_MEASURED = re.compile(
    rf"""(?P<ask>how\ (?:much|long|far|old|big|tall|high|deep|expensive)\ {one_of(BE)}
    |do\ (?:you|they)\ (?:have|offer|sell|rent|provide|serve))\ (?P<list>(?:an?|the)\ [^?]+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""How much two things are, each with its article: "how much is a day pass and a week pass"."""
_WHAT_ARE = re.compile(rf"what\ {one_of(BE)}\ (?P<list>(?:the|your)\ [^?]+)", re.VERBOSE | re.IGNORECASE)
_EACH_WITH_ITS_OWN = re.compile(
    r"""(?P<ask>(?:what|how\ (?:much|long|many))\ [^?]*?\b(?:pay|pays|cost|costs|price|fee|charged?|open|take|takes)\b[^?]*?)
    \ (?P<of>for|in|on)\ (?P<first>[^?]+)\ and\ (?P=of)\ (?P<second>[^?]+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""One price for each of two things: "what do I pay for a lost book and for a lost card"."""
_AND = re.compile(r",?\ and\ |,\ ", re.VERBOSE)
_FIXED_PAIRS = frozenset(
    {
        *("copy and paste", "cut and paste", "drag and drop", "plug and play", "search and replace", "find and replace"),
        *("go and see", "come and go", "wait and see", "mix and match", "cut and dry", "divide and conquer", "try and get"),
        *("try and find", "lock and load", "pick and choose", "compare and contrast"),
    }
)
_FOREIGN = frozenset(
    words_of(
        """ist sind der das und wie wird nicht ein eine el los las que qué cuál por para est les des une dans pourquoi che
        perché di het een wat zijn och är vad como são uma det som il quali quand où"""
    )
)


def decompose_by_rules(text: str, *, most: int) -> tuple[SubQuestion, ...]:
    """Split a question into at most ``most`` sub-questions: what it asks is core, steps towards that are background.

    Every one ends with a question mark and none occurs twice. A question that asks one thing has itself as its only one. A
    blank text has none, nor has a greeting or thanks.

    >>> [sub.text for sub in decompose_by_rules("How do I store and reheat cooked rice?", most=12)]
    ['How do I store cooked rice?', 'How do I reheat cooked rice?']
    >>> [sub.text for sub in decompose_by_rules("Tell me about opening hours and fees", most=12)]
    ['What are the opening hours?', 'What are the fees?']
    >>> [(sub.text, sub.role.value) for sub in decompose_by_rules("When was the director of film Jaws born?", most=12)]
    [('When was the director of film Jaws born?', 'core'), ('Who is the director of film Jaws?', 'background')]
    """
    if is_small_talk(text) or is_courtesy(text):
        return ()
    text = ask_plainly(text)
    asked = split_topics(text.strip().rstrip(f".!{MARKS}")) or questions_in(text)
    core = [part for question in islice(asked, most) for part in _parts(finish_question(question))]
    background = [step for question in core for step in _steps(question)]
    typed = [*((Role.CORE, each) for each in core), *((Role.BACKGROUND, each) for each in background)]
    return tuple(SubQuestion(text=text, role=role, role_source="rules") for role, text in islice(_distinct(typed), most))


def _distinct(typed: Iterable[tuple[Role, str]]) -> Iterator[tuple[Role, str]]:
    """Keep the first of those that differ in articles, number and punctuation only."""
    seen: set[str] = set()
    for role, text in typed:
        if (key := plain_wording(text)) not in seen:
            seen.add(key)
            yield role, text


def _parts(text: str) -> list[str]:
    """Ask about each item of a list by itself; the question itself where it has none."""
    question = text.rstrip(f" .!{MARKS}")
    if len(question.split()) > _LONGEST or _FOREIGN.intersection(words_of(question)) or hops_of(text):
        return [text]
    if match := _WHERE_AND_WHEN.fullmatch(question):
        return [f"{match[word].capitalize()} {match['rest']}?" for word in ("first", "second")]
    if (
        (match := _WHO_AND_WHEN.fullmatch(question))
        and (done := participle_of_past(match["did"]))
        and is_noun_phrase(match["x"])
    ):
        was = f"{match['second'].capitalize()} {'were' if is_plural(match['x']) else 'was'} {match['x']} {done}?"
        return [f"{capitalise(match['who'])}?", was]
    if holds_several(text):
        return [text]
    return (
        _items(question) or _split_shared_object(question) or _split_measured(question) or _split_topics_of(question) or [text]
    )


def _items(question: str) -> list[str]:
    """Split the causes and effects of x; the capital of x and y; the capital of x and its population."""
    if (match := _AND_ITS.fullmatch(question)) and is_noun_phrase(match["x"]) and is_noun_phrase(match["other"]):
        return [question_about(f"the {match[name]} of {match['x']}", head_noun(match[name])) for name in ("name", "other")]
    if (
        (match := _ATTRIBUTES.fullmatch(question))
        and (names := split_list(match["list"]))
        and not any(map(_ORDINAL.match, names))
    ):
        bare = [name.removeprefix("the ") for name in names]
        return [question_about(f"the {name} {match['of']} {match['x']}", head_noun(name)) for name in bare]
    if (match := _SHARED.fullmatch(question)) and " or " not in question and (names := _names(match["list"])):
        return [f"{capitalise(match['ask'])} {name}?" for name in names]
    return []


def _split_measured(question: str) -> list[str]:
    """Ask how much each of several things is, or what each of two costs."""
    if (match := _MEASURED.fullmatch(question)) and (names := _names(match["list"])):
        articles = [name.partition(" ")[0].lower() in ARTICLES for name in names]
        return [f"{capitalise(match['ask'])} {name}?" for name in names] if all(articles) else []
    if match := _EACH_WITH_ITS_OWN.fullmatch(question):
        ask = f"{capitalise(match['ask'])} {match['of']}"
        return [f"{ask} {match[each]}?" for each in ("first", "second")]
    return []


def _split_topics_of(question: str) -> list[str]:
    """Ask for each of several attributes: "what are the opening hours and the prices"."""
    match = _WHAT_ARE.fullmatch(question)
    topics = split_topics(match["list"]) if match else ()
    named = [
        topic if topic.partition(" ")[0].lower() in ARTICLES | POSSESSIVES else f"{topics[0].split()[0]} {topic}"
        for topic in topics
    ]
    return [f"What {'are' if is_plural(topic) else 'is'} {topic}?" for topic in named]


def _names(text: str) -> tuple[str, ...]:
    """Split a list of things; empty where a part tells where one is, or which: "heather in beauty", "the first"."""
    names = split_list(text)
    return () if any(_PLACED.search(name) or _ORDINAL.search(name) or _OF_ITS_OWN.match(name) for name in names) else names


def _split_shared_object(question: str) -> list[str]:
    """Split verbs that share what follows."""
    for pattern in (_VERBS, _OPENS_AND_CLOSES, _PASSIVES, _AGENTS):
        if (match := pattern.fullmatch(question)) and match["verbs"].lower() not in _FIXED_PAIRS:
            ask, rest = match["ask"], match["object"].strip()
            if pattern is _PASSIVES and rest and not _ADVERBIAL.match(rest):
                return []
            return [f"{capitalise(ask)} {f'{verb} {rest}'.strip()}?" for verb in _AND.split(match["verbs"])]
    return []


def _steps(question: str) -> list[str]:
    """List the steps of a multi-hop question that stand on their own; where a story comes before it, none.

    "The person who …" is asked for already, by the part that the person was taken from.
    """
    if _STORY.search(question) or "the person who" in question:
        return []
    return [step for step in hops_of(question) if "#" not in step and not _ASKS_MORE.search(step)]
