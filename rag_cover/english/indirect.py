"""Indirect questions put directly: "Could you tell me when the museum opens?" asks "When does the museum open?"."""

from __future__ import annotations

import re

from rag_cover.english.lexicon import (
    ALL_PREPOSITIONS,
    ARTICLES,
    AUXILIARIES,
    BE,
    DEMONSTRATIVES,
    DO,
    FUNCTION_WORDS,
    HAVE,
    IRREGULAR_PARTICIPLES,
    PERSONAL_PRONOUNS,
    POSSESSIVES,
    SIMPLE_PREPOSITIONS,
    YES_NO_OPENERS,
    one_of,
)
from rag_cover.english.noun_phrases import is_noun_phrase, is_plural, subject_in
from rag_cover.english.spelling import spell_out
from rag_cover.english.topics import strip_courtesies
from rag_cover.english.verbs import base_of_past, base_of_third_person
from rag_cover.english.words import words_of
from rag_cover.short_forms import capitalise
from rag_cover.texts import sentences

__all__ = ["ask_directly", "ask_plainly"]

_BEFORE_WORD = r"(?:at|in|on|for|from|by|to|until|with|under)\ (?=what|which|whom|how)"
_QUESTION_WORD = r"(?:who|whom|whose|what|which|when|where|why|how|whether|if)\b"
_WORD = rf"(?:{_BEFORE_WORD})?{_QUESTION_WORD}"
_MANNER = r"(?:please|pls|plz|kindly|maybe|perhaps|possibly|quickly|briefly|also|just)"
_ASKER = r"(?:you(?:\ (?:guys|all|people))?|u|someone|somebody|anyone|anybody)"
_TELL = (
    r"(?:tell|remind|advise|inform|show)\ (?:me|us)|let\ (?:me|us)\ know|explain(?:\ to\ (?:me|us))?|say|describe|clarify"
    r"|confirm|check|verify|find\ out|help\ (?:me|us)\ (?:to\ )?(?:understand|see|work\ out|figure\ out|find\ out)"
)
_LEAD = re.compile(
    rf"""(?:(?:hi|hello|hey|sorry|excuse\ me|please|pls|plz|so|ok|okay|and|also|well)\b,?\ )*(?:
    (?:(?:can|could|would|will)\ {_ASKER}\ (?:{_MANNER}\ )*)?(?:{_TELL})
    |(?:do|does|would)\ {_ASKER}\ (?:happen\ to\ |by\ any\ chance\ |perhaps\ )?know
    |(?:would\ you\ )?mind\ (?:telling\ (?:me|us)|explaining|saying)
    |(?:i|we)(?:['’]d|\ would)\ (?:really\ |also\ )?(?:like|love)\ to\ (?:know|ask|find\ out|understand)
    |(?:(?:i|we)\ )?(?:just\ |also\ |really\ )?(?:want|wanted|need)\ to\ (?:know|ask|find\ out|understand|check)
    |(?:i(?:['’]m|\ am|\ was)?\ |just\ )*(?:wondering|wonder)\ if\ {_ASKER}\ (?:can|could|would)\ (?:{_MANNER}\ )*(?:{_TELL})
    |(?:i(?:['’]m|\ am|\ was)?\ |we(?:['’]re|\ are|\ were)?\ |just\ )*(?:wondering|wonder|curious)(?:\ (?:about|to\ know))?
    |(?:can|could|may|might)\ i\ (?:please\ |just\ )?(?:ask|know)(?:\ you)?
    |any\ (?:idea|clue)|any\ chance\ {_ASKER}\ (?:(?:can|could)\ (?:tell\ me|say)|knows?)
    |(?:is\ it|would\ it\ be)\ possible\ to\ (?:tell\ (?:me|us)|know|find\ out)|is\ it\ known|my\ question\ is
    ),?\ (?:{_MANNER},?\ )?(?={_WORD})""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands before what is asked."""
_ABOUT = re.compile(
    rf"""^(?:please\ )?(?:can|could|would|will)\ {_ASKER}\ (?:{_MANNER}\ )*
    (?=(?:tell\ (?:me|us)\ (?:\w+\ )?about|(?:tell|give|show)\ (?:me|us)\ the|explain|describe|list|compare|outline
    |summari[sz]e)\ )""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands before an order, which is rephrased as one."""
_THAT = re.compile(
    rf"""^(?P<lead>(?:please\ )?(?:(?:can|could|would|will)\ {_ASKER}\ (?:{_MANNER}\ )*)?(?:confirm|check|verify))
    \ that\ (?=\w+\ \w+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""What wants to know whether something is so."""
_TO_KNOW = re.compile(
    r"""^(?:(?:i|we)(?:['’]d|\ would)\ (?:really\ |also\ )?like|(?:(?:i|we)\ )?(?:just\ |also\ )?(?:want|need))
    \ to\ know\ (?=the\ )""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands before a thing that one wants to be told."""
_AND_YOU = re.compile(rf",?\ (?:and|but)\ (?=(?:can|could|would|will|do)\ {_ASKER}\b)", re.VERBOSE | re.IGNORECASE)
"""What stands before an indirect question that follows another question."""
_ORDER = re.compile(
    rf"""(?:please\ )?(?:explain|describe|outline|tell\ me(?:\ more)?\ about)\ (?P<x>[\w\s'’-]{{3,60}}?),?\ and\ (?:also\ )?
    (?P<clause>{_WORD}\ .+)""",
    re.VERBOSE | re.IGNORECASE,
)
_JOINED = re.compile(
    rf",?\ (?:and|but),?\ (?:also\ |if\ (?:so|yes|not|no),?\ )?(?={_QUESTION_WORD})(?!if\ (?:so|not)\b)"
    r"|,\ (?=(?:what|when|where|why|how|who|whether)\b)",
    re.VERBOSE | re.IGNORECASE,
)
_DETERMINERS = ARTICLES | DEMONSTRATIVES | POSSESSIVES | {"all", "any", "some", "both", "each", "every"}
_BEGINS_SUBJECT = (PERSONAL_PRONOUNS - {"me", "him", "us", "them"}) | _DETERMINERS
_MEASURE = words_of(
    """much long often far old big deep tall high fast heavy wide hot soon late early large small expensive thick strong busy
    safe quickly accurate reliable"""
)
_ASKING = re.compile(
    rf"""(?P<word>whether(?:\ or\ not)?|if|how\ (?:{"|".join(_MEASURE)})|(?:who|what|when|where|why|how)\ exactly
    |how\ (?!(?:come|about|{one_of(_BEGINS_SUBJECT | FUNCTION_WORDS)})\b)[a-z]+(?=\ {one_of(_BEGINS_SUBJECT)}\b)
    |(?:what|which|whose|how\ many)(?:\ (?!{one_of(FUNCTION_WORDS)}\b)[a-z]+){{1,2}}?
        (?=\ (?:{one_of(_BEGINS_SUBJECT)}|there\ {one_of(BE)})\b)
    |how\ many|which|whose|whom?|what|when|where|why|how)\ (?P<clause>.+)""",
    re.VERBOSE | re.IGNORECASE,
)
_DOES = re.compile(rf"\w+(?<!s)s|\w+ed|went|came|began|took|gave|fell|{one_of(IRREGULAR_PARTICIPLES)}")
_THEY_DO = re.compile(
    r"""[a-z]+(?<!s)s\ (?:eat|drink|need|want|like|mean|say|use|think|know|see|get|cost|include|contain|cover|require|offer)
    (?:\ .+)?""",
    re.VERBOSE,
)
"""What several do: "(what) dogs eat"."""
_WITH_NOUN = re.compile(r"(?:what|which|whose|how many) (?!exactly)")
_ASKS_FOR_SUBJECT = frozenset({"who", "what", "which", "whose", "how many"})
"""After these a clause without another subject tells what they do: "who runs it", "which documents are needed"."""
_SINGULAR = frozenset({"he", "she", "it", "one", "this", "that"})
_SHORT = re.compile(
    r"\b(?P<word>what|who|where|when|how|why|there|it|that|he|she|i|you|we|they)['’](?P<short>s|m|re|ll|ve)\b", re.IGNORECASE
)
_LONG = {"s": "is", "m": "am", "re": "are", "ll": "will", "ve": "have"}
_AUXILIARIES = AUXILIARIES | YES_NO_OPENERS | {"am", "may", "might", "must", "shall"}
_AUXILIARY = re.compile(
    rf"(?P<subject>.+?)\ (?P<aux>{one_of(_AUXILIARIES)}(?:n['’]t)?|(?:ca|wo)n['’]t)(?P<rest>(?:\ .*)?)",
    re.VERBOSE | re.IGNORECASE,
)
_DONE = re.compile(
    rf"\ (?:(?:not|never|ever|already|yet|just|all|also)\ )?(?:been|gone|come|become|\w+ed|{one_of(IRREGULAR_PARTICIPLES)})\b",
    re.IGNORECASE,
)
"""What follows "has" where it is an auxiliary."""
_PRONOUN = re.compile(
    r"(?P<subject>i|you|he|she|it|we|they|one|(?:this|that)(?=\ \w+s$))\ (?P<rest>.+)", re.VERBOSE | re.IGNORECASE
)
_AFTER_VERB = ALL_PREPOSITIONS | _DETERMINERS | PERSONAL_PRONOUNS | {"that", "when", "if", "because"}
_GOT = re.compile(r"(?:^|\b)(?:got|gets|get)\b", re.IGNORECASE)
"""In "the meeting got cancelled" an auxiliary."""
_BASES = words_of("need feed proceed succeed exceed bring sing apply rely reply supply comply fly")
"""Verbs that end as participles and adverbs do."""
_PREPOSITION = re.compile(rf"\ {one_of(SIMPLE_PREPOSITIONS)}\ ", re.IGNORECASE)
_AT_WHAT = re.compile(rf"(?P<before>(?:{_BEFORE_WORD})?)(?P<clause>.+)", re.VERBOSE | re.IGNORECASE)
_NOT_INVERTED = re.compile(
    r"""^(?:for\ )?(?P<word>how\ (?:long|much|often|many\ \w+)|what|where|when|why)\ (?P<who>i|you|we)
    \ (?P<aux>can|may|must|should)\ """,
    re.VERBOSE | re.IGNORECASE,
)
_TWO = 2
_TO_DO = re.compile(r"(?P<word>how|where|when|what)\ to\ (?=\S)", re.IGNORECASE)


def ask_plainly(text: str) -> str:
    """Return what a turn of a chat asks: without courtesies, and directly.

    >>> ask_plainly("Hello! Could you please tell me when the museum opens? Thanks!")
    'When does the museum open?'
    """
    return ask_directly(strip_courtesies(spell_out(text)))


def ask_directly(text: str) -> str:
    """Put a question that is asked indirectly in the order of words of a direct one; any other text stays as it is.

    A clause whose subject cannot be told keeps all its words.

    >>> ask_directly("Could you please tell me how old the castle is?"), ask_directly("Do you know if dogs are allowed?")
    ('How old is the castle?', 'Are dogs allowed?')
    >>> ask_directly("I'd like to know how much a ticket costs and where I can buy it.")
    'How much does a ticket cost and where can I buy it?'
    >>> ask_directly("Can you tell me who runs it?"), ask_directly("Can you help me move the sofa?")
    ('Who runs it?', 'Can you help me move the sofa?')
    """
    written, end = [], 0
    for span in sentences(text):
        written += [text[end : span.start], _ask_piece(span.of(text))]
        end = span.end
    return "".join([*written, text[end:]])


def _ask_piece(sentence: str) -> str:
    first, *others = _AND_YOU.split(sentence)
    direct = [_ask_sentence(each) for each in others]
    if not others or direct == others:
        return _ask_sentence(sentence)
    asked = [_ask_sentence(first), *(each[:1].lower() + each[1:] for each in direct)]
    return f"{' and '.join(each.rstrip('?') for each in asked)}?"


def _ask_sentence(sentence: str) -> str:
    bare = _TO_KNOW.sub("Tell me ", _ABOUT.sub("", _THAT.sub(r"\g<lead> whether ", sentence), count=1), count=1)
    lead = _LEAD.match(bare)
    if lead is None:
        bare = _NOT_INVERTED.sub(r"\g<word> \g<aux> \g<who> ", bare, count=1)
        return _ask_order(bare) or (sentence if bare == sentence else capitalise(bare))
    asked = _SHORT.sub(lambda match: f"{match['word']} {_LONG[match['short'].lower()]}", bare[lead.end() :].rstrip(" .?!"))
    clauses = [_ask_part(clause.strip()) for clause in _JOINED.split(asked)]
    if None in clauses:
        return sentence
    joint = " and " if len(clauses) <= _TWO else "? "
    return f"{capitalise(joint.join(capitalise(each) if joint == '? ' else each for each in clauses if each is not None))}?"


def _ask_order(sentence: str) -> str | None:
    """Ask for a thing and what else is asked of it: "explain the refund policy and how long refunds take"; else None."""
    order = _ORDER.fullmatch(sentence.rstrip(" .?!"))
    if order is None or not is_noun_phrase(order["x"]):
        return None
    asked = _ask_part(order["clause"])
    if asked is None:
        return None
    is_known = order["x"].lower().startswith("the ")
    about = (
        f"{'are' if is_plural(order['x']) else 'is'} {order['x']}" if is_known else f"is important to know about {order['x']}"
    )
    return f"What {about} and {asked}?"


def _ask_part(part: str) -> str | None:
    """Ask what "at what time it opens" asks; None where its subject cannot be told."""
    said = _AT_WHAT.fullmatch(part)
    asked = None if said is None else _ask_clause(said["clause"])
    return None if said is None or asked is None else f"{said['before']}{asked}"


def _ask_clause(clause: str) -> str | None:
    """Ask what a clause after "tell me" asks; None where its subject cannot be told."""
    if to_do := _TO_DO.match(clause):
        return f"{to_do['word']} {'do' if to_do['word'].lower() == 'how' else 'should'} I {clause[to_do.end() :]}"
    asking = _ASKING.fullmatch(clause)
    if asking is None:
        return None
    word, rest = asking["word"].lower(), asking["clause"]
    if word == "if" or word.startswith("whether"):
        return _invert(rest)
    if (word == "how" and rest.startswith("come ")) or _THEY_DO.fullmatch(rest):
        return f"{asking['word']} do {rest}" if word != "how" else None
    if _is_predicate(rest, of=word.removesuffix(" exactly")):
        return clause
    return _ask_inverted(clause, asking["word"], rest)


def _ask_inverted(clause: str, word: str, rest: str) -> str | None:
    inverted = _invert(rest)
    if inverted is not None:
        return f"{word} {inverted}"
    return clause if _WITH_NOUN.match(word.lower()) else None  # "what causes the pain", "how many people use it"


def _is_predicate(clause: str, *, of: str) -> bool:
    """Check whether a clause tells what its question word does: "(who) runs it", "(which documents) are needed"."""
    first = clause.split(" ", 1)[0].lower()
    if first in _AUXILIARIES or first in _BEGINS_SUBJECT:
        return first in _AUXILIARIES
    found = _AUXILIARY.fullmatch(clause)  # "(how much) water is used", "(what) size dogs are allowed"
    has_auxiliary = found is not None and bool(found["rest"])
    if of == "what" and first not in FUNCTION_WORDS:
        return has_auxiliary or _DOES.fullmatch(first) is not None  # "causes rust", but not "people say about it"
    return of in _ASKS_FOR_SUBJECT or (of == "how much" and has_auxiliary)


def _invert(clause: str) -> str | None:
    """Put the auxiliary of a clause before its subject; None where either cannot be told."""
    found = _AUXILIARY.fullmatch(clause)
    if found is not None and _is_subject(found["subject"].replace('"', "")):
        subject, aux, rest = found["subject"], found["aux"], found["rest"]
        if aux.lower() in DO and not rest.startswith(" not"):  # "what the button does"
            return _with_do(subject, aux, "do", rest.strip())
        if aux.lower() not in HAVE or _DONE.match(rest):
            return f"{aux} {subject}{rest}"
        return _with_do(subject, "did", "have", rest.strip()) if aux == "had" else _in_present(subject, aux, rest.strip())
    return _add_do(clause)


def _add_do(clause: str) -> str | None:
    """Write the auxiliary of a clause that has none: "it opens at nine" is "does it open at nine"."""
    if match := _PRONOUN.fullmatch(clause):
        subject, rest = match["subject"], match["rest"]
    else:
        subject = _subject_of_third_person(clause) or subject_in(clause) or ""
        rest = clause[len(subject) :].strip()
    verb, _, after = rest.partition(" ")
    if past := base_of_past(verb):
        return None if _GOT.search(subject) or _GOT.match(rest) else _with_do(subject, "did", past, after)
    if verb.lower() in FUNCTION_WORDS or (verb.endswith(("ed", "ing", "ly")) and verb not in _BASES):
        return None
    return _in_present(subject, verb, after)


def _subject_of_third_person(clause: str) -> str | None:
    """Find the subject before a verb in the third person that ends a clause, or that what tells where or how long follows."""
    tokens = clause.split()
    if any(map(base_of_past, tokens)):
        return None
    place = next((place for place in range(1, len(tokens)) if base_of_third_person(tokens[place])), None)
    if place is None or not (place + 1 == len(tokens) or tokens[place + 1].lower() in _AFTER_VERB):
        return None
    subject = " ".join(tokens[:place])
    bare = subject.replace('"', "")
    return subject if _is_subject(bare) and not is_plural(bare) else None


def _in_present(subject: str, verb: str, after: str) -> str | None:
    third = subject.lower() in _SINGULAR or (subject.lower() not in PERSONAL_PRONOUNS and not is_plural(subject))
    return _with_do(subject, "does" if third else "do", base_of_third_person(verb) if third else verb, after)


def _with_do(subject: str, do: str, base: str, after: str) -> str | None:
    return f"{do} {subject} {base} {after}".strip() if subject and base.islower() else None


def _is_subject(phrase: str) -> bool:
    """Check whether a phrase is a pronoun, or a noun with what tells where or of what: "the train from Oslo to Bergen"."""
    return phrase.lower() in PERSONAL_PRONOUNS | {"there", *_SINGULAR} or all(map(is_noun_phrase, _PREPOSITION.split(phrase)))
