"""Base forms of English verbs by rule: "opens" and "opened" are forms of "open"."""

from __future__ import annotations

import re

from rag_cover.english.words import words_of

__all__ = ["base_of_past", "base_of_third_person", "participle_of_past"]

_PASTS = dict(
    zip(
        words_of(
            """went came came became got gave took made had did said saw sold told found held kept left lost met paid ran sent
            spent stood began broke built bought brought chose drew drove fell felt flew forgot grew heard knew led rose spoke
            stole taught thought threw understood woke won wore wrote"""
        ),
        words_of(
            """go come come become get give take make have do say see sell tell find hold keep leave lose meet pay run send
            spend stand begin break build buy bring choose draw drive fall feel fly forget grow hear know lead rise speak
            steal teach think throw understand wake win wear write"""
        ),
        strict=True,
    )
)
_PARTICIPLES = dict(
    zip(
        words_of(
            "wrote began broke chose drew drove flew forgot gave grew knew ran saw spoke stole sang took threw wore did ate"
        ),
        words_of(
            """written begun broken chosen drawn driven flown forgotten given grown known run seen spoken stolen sung taken
            thrown worn done eaten"""
        ),
        strict=True,
    )
)
"""Of verbs whose participle differs from their past."""
_DOUBLED = re.compile(r".*[aeiou]([bdgmnprt])\1|(?:cancel|travel|model|label|control|expel)l")
_ONE_SYLLABLE = re.compile(r"[^aeiou]*[aeiou][bcdgklmnprstvz]")
_NEEDS_E = re.compile(
    r".*(?:[csuvz]|[nrdl]g|[^aeiou]ag|[^aeiou][aeiu]r|uir|[^aeiou]or|[^aeiou]id|[^aeiou]at|creat|[bdgkpt]l)|agre|fre|[dlt]i"
)
"""Stems of verbs that end in a silent e: "clos", "charg", "chang", "requir", "provid", "creat", "handl"."""
_BARE = re.compile(r".*(?:ss|ous|ocus|long|er|ow|ew|ay|oy|ey|(?:monit|hon|fav|auth|spons|lab|fact|mirr|anch|ment|tail)or)|add")
_UNKNOWN = re.compile(r".*[^aeiou]it|(?:n|f|s|w|bl|br|bre|spe|proce|succe|exce)e?")
"""Stems that end in a silent e as often as not ("invit", "visit"), and what is left of "need" and "proceed"."""


def base_of_third_person(verb: str) -> str:
    """Return the base form of a verb in the third person; empty where it is no such form.

    >>> [base_of_third_person(verb) for verb in ("opens", "applies", "finishes", "takes", "does", "has", "pass")]
    ['open', 'apply', 'finish', 'take', 'do', 'have', '']
    """
    if verb in {"has", "does", "goes"}:
        return {"has": "have", "does": "do", "goes": "go"}[verb]
    if not verb.endswith("s") or verb.endswith("ss"):
        return ""
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes", "zzes")) else verb[:-1]


def base_of_past(verb: str) -> str:
    """Return the base form of a verb in the past; empty where no rule tells.

    >>> [base_of_past(verb) for verb in ("opened", "closed", "shipped", "applied", "changed", "went", "visited", "bed")]
    ['open', 'close', 'ship', 'apply', 'change', 'go', '', '']
    """
    if verb in _PASTS:
        return _PASTS[verb]
    stem = verb.removesuffix("ed")
    if stem == verb or len(stem) < 2 or _UNKNOWN.fullmatch(stem):  # noqa: PLR2004 - "bed"
        return ""
    if stem.endswith("i") and len(stem) > 2:  # noqa: PLR2004 - "died"
        return f"{stem[:-1]}y"
    if stem != "add" and _DOUBLED.fullmatch(stem):
        return stem[:-1]
    if _BARE.fullmatch(stem):
        return stem
    return f"{stem}e" if _ONE_SYLLABLE.fullmatch(stem) or _NEEDS_E.fullmatch(stem) else stem


def participle_of_past(verb: str) -> str:
    """Return the participle of a verb in the past; empty where it is no such form.

    >>> [participle_of_past(verb) for verb in ("wrote", "founded", "built", "open")]
    ['written', 'founded', 'built', '']
    """
    return _PARTICIPLES.get(verb) or (verb if verb.endswith("ed") or verb in _PASTS else "")
