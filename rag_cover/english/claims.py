"""Which sentences claim something: not headings, table rules, list numbers, questions and greetings.

A heading that runs into its paragraph ("**Costs.** A day pass is 4 euros.") is read with the sentence that follows it.
"""

from __future__ import annotations

import re

from rag_cover.backends import Span
from rag_cover.texts import flatten, is_table_rule, sentences

__all__ = ["claim_in", "sentences_with_headings", "strip_citations"]

_MARKER = re.compile(r"^(?:[-*•–]\s+|\(?\d{1,3}[.)]\s+)+")
_HEADING = re.compile(r"\s*#{1,6}(?:\s|$)")
_NUMBER_OF_ITEM = re.compile(r"\(?\d{1,3}[.)]")
_CITATION = re.compile(r"\s?\[\^?\d+(?:\s*[,;–-]\s*\d+)*\]")
_RUN_IN = re.compile(
    r"""\s*(?:[-*•–]\s+|\(?\d{1,3}[.)]\s+)?[*_]{1,3}(?:[^\s*_]\S*[ ]){0,5}[^\s*_]\S*\s*  # up to six words in bold or italics
    |\s*(?:[-*•–]|\(?\d{1,3}[.)])\s+(?:\S+[ ]){0,2}\S+\.\s*""",  # up to three words that begin an item
    re.VERBOSE,
)
_BOLD_LINE = re.compile(r"\s*(\*\*|__)(?:[^\s*_]\S*[ ]){0,5}[^\s*_]\S*(?<![.!?])\1\s*")
_TALK = re.compile(
    r"""^(?:(?:hi|hello|hey|thanks|thank\ you|sure|certainly|of\ course|absolutely|(?:great|good)\ question|you['’]re\ welcome)
        \b[^.]{0,40}[.!]?$
    |(?:enjoy|good\ luck|happy\ \w+ing|have\ (?:fun|an?\ (?:good|great|nice|safe)))\b[^.]{0,40}[.!]$
    |what\ an?\b[^.?]{0,60}!$
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


def sentences_with_headings(text: str) -> list[Span]:
    """Split a text into sentences without the heads of tables; a heading in bold goes with the sentence after it.

    >>> text = "**Costs.** A day pass is 4 euros. Bring cash."
    >>> [span.of(text) for span in sentences_with_headings(text)]
    ['**Costs.** A day pass is 4 euros.', 'Bring cash.']
    """
    found: list[Span] = []
    for span in sentences(text):
        if found and "|" in found[-1].of(text) and is_table_rule(span.of(text)):
            found.pop()
        elif found and _leads_into(text, found[-1], span):
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return found


def _leads_into(text: str, heading: Span, span: Span) -> bool:
    """Return whether a sentence is a heading of the one after it: in its line, or in bold on the line before."""
    words, between = heading.of(text), text[heading.end : span.start]
    if "\n" not in between:
        return bool(_RUN_IN.fullmatch(words))
    return "\n\n" not in between and bool(_BOLD_LINE.fullmatch(words))


def strip_citations(text: str) -> str:
    """Take out citations such as "[1]" and "[2, 3]".

    >>> strip_citations("It is blue [1, 2].")
    'It is blue.'
    """
    return _CITATION.sub("", text)
