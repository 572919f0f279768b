"""The role of a sub-question, by rules.

Core, background and follow-up as Xie et al. (NAACL 2025, §3.1) define them. A sub-question that asks what a reader must know
first (what something is, its kinds, its history) is background; one that asks what to do about it, how it will go on, or, of
a comparison by one criterion, about another one, is a follow-up, unless the question asks for that itself; any other is core.
"""

from __future__ import annotations

import re

from rag_cover.questions import Role

__all__ = ["role_of"]

_BACKGROUND = re.compile(
    r"""^what\ (?:is|are|was|were)\ (?:the\ )?(?:definitions?|meanings?|origins?|history|basics|background)\b
    |^(?:how|what)\ (?:is|are)\ .{1,60}\ (?:defined|meant\ by)\b
    |^what\ does\ .{1,60}\ mean\b
    |^(?:what|which)\ (?:types|kinds|forms)\ of\b
    |^who\ (?:is|are|was|were|invented|discovered|founded|created)\b
    |^(?:when|where)\ (?:is|are|was|were|did)\b
    |^what\ (?:is|are|was|were)\ (?:an?\ |the\ )?[\w'’-]+(?:\ [\w'’-]+){0,2}\?*$
    |^(?:what|which)\ .{0,40}\b(?:commonly|typically|usually|generally|traditionally)\b
    |^(?:what|which)\ (?:are|were)\ (?:some\ (?:of\ )?)?(?:the\ )?
        (?:(?:most|main|common|primary|key|major|different|various|basic|typical|general)\ )+
        (?!.{0,20}\b(?:reasons|effects|impacts|consequences|benefits|advantages|disadvantages|risks|differences|arguments|ways)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_FOLLOW_UP = re.compile(
    r"""^(?:(?:how|what|where)\ can|(?:how|what)\ should|(?:can|should)\ (?:i|we|people)|what\ (?:\w+\ )?steps|how\ to)\b
    |^what\ (?:is|are|can|could|must)\ (?:\w+\ )?be(?:ing)?\ done\b
    |^how\ (?:do|can|should)\ (?:\w+\ ){0,2}(?:individuals|people|companies|businesses|schools|parents|professionals)\b
    |\b(?:mitigat\w+|combat\w*|remed(?:y|ies)|overcom\w+|solutions?|alternatives?|challenges|innovations|misconceptions?
        |future|next\ steps?|recommend(?:ed|ations?)?|best\ practices)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_CRITERION = re.compile(r"\b(?:or|vs\.?|versus|than)\b.*\b(?!better)(?:\w+(?:ier|er)|more\ \w+)\b", re.IGNORECASE)
_OTHER_CRITERIA = re.compile(
    r"\b(?:costs?|prices?|afford\w*|expens\w+|cheap\w*|environment\w*|sustainab\w+|ethic\w+|legal\w*|tast(?:e|es|y)|convenien\w+)\b",
    re.IGNORECASE,
)


def role_of(question: str, sub_question: str) -> Role:
    """Return the role of a sub-question by its words.

    >>> role_of("How does climate change affect the earth?", "What is climate change?")
    <Role.BACKGROUND: 'background'>
    >>> role_of("How does climate change affect the earth?", "How can individuals help to mitigate climate change?")
    <Role.FOLLOW_UP: 'follow-up'>
    >>> role_of("How can climate change be mitigated?", "How do forests mitigate climate change?")
    <Role.CORE: 'core'>
    """
    asked, whole = sub_question.strip(), question.strip()
    if _same(whole, asked):
        return Role.CORE
    if _beyond(_FOLLOW_UP, whole, asked) or (_CRITERION.search(whole) and _beyond(_OTHER_CRITERIA, whole, asked)):
        return Role.FOLLOW_UP
    return Role.BACKGROUND if _beyond(_BACKGROUND, whole, asked) else Role.CORE


def _beyond(cue: re.Pattern[str], question: str, sub_question: str) -> bool:
    return bool(cue.search(sub_question)) and not cue.search(question)


def _same(question: str, sub_question: str) -> bool:
    return question.strip(" ?").casefold() == sub_question.strip(" ?").casefold()
