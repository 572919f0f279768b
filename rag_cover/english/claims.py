"""Which sentences claim something: not headings, table rules, list numbers, questions and greetings."""

from __future__ import annotations

import re

from rag_cover.texts import flatten

__all__ = ["claim_in", "strip_citations"]

_MARKER = re.compile(r"^(?:[-*•–]\s+|\(?\d{1,3}[.)]\s+)+")
_HEADING = re.compile(r"\s*#{1,6}(?:\s|$)")
_NUMBER_OF_ITEM = re.compile(r"\(?\d{1,3}[.)]")
_CITATION = re.compile(r"\s?\[\^?\d+(?:\s*[,;–-]\s*\d+)*\]")
_TALK = re.compile(
    r"""^(?:(?:hi|hello|hey|thanks|thank\ you|sure|certainly|of\ course|absolutely|(?:great|good)\ question|you['’]re\ welcome)
        \b[^.]{0,40}$
    |(?:i\ hope|let\ me\ know|feel\ free|please\ (?:let|feel)|if\ you\ have\ any|(?:here|below)(?:['’]s|\ is|\ are))\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_CLAIM_ENDS = (":", "?", "\uff1f", "\u061f")  # the last two: question marks, full-width and Arabic


def claim_in(sentence: str) -> str | None:
    """Reduce a sentence to what it claims, without list markers, citations and markup; None where it claims nothing.

    >>> claim_in("- The sky is blue [1]."), claim_in("## Colours"), claim_in("Is it?")
    ('The sky is blue.', None, None)
    """
    if _HEADING.match(sentence):
        return None
    text = " ".join(strip_citations(_MARKER.sub("", flatten(sentence).strip())).split())
    if text.endswith(_NO_CLAIM_ENDS) or _TALK.match(text) or _NUMBER_OF_ITEM.fullmatch(text) or not any(map(str.isalnum, text)):
        return None
    return text


def strip_citations(text: str) -> str:
    """Take out citations such as "[1]" and "[2, 3]".

    >>> strip_citations("It is blue [1, 2].")
    'It is blue.'
    """
    return _CITATION.sub("", text)
