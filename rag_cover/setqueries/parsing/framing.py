"""What stands around the description of a set in a question: "what are some …", "find me …", "which … are …".

Only a question that asks for a set is read on. One that asks why, how, when, whether, which of two, or for one thing is
ordinary: it is one atom, as it was asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rag_cover.english.lexicon import QUESTION_WORDS, SIMPLE_PREPOSITIONS, YES_NO_OPENERS, one_of
from rag_cover.setqueries.parsing.gazetteer import word_list

__all__ = ["Frame", "Framed", "strip_frame"]

Frame = Literal["set", "ordinary"]
"""Asked for a set, or for anything else."""

_LEAD = re.compile(r"^[\s,;:.\-–—*•]+")
_POLITE = re.compile(
    r"""^(?:(?:please|hi|hello|hey|ok|so|well)\b[\s,]*)+
      | ^(?:can|could|would|will)\ you\ (?:please\ )?(?=(?:find|list|show|tell|give|name|recommend|suggest|search|identify)\b)
      | ^i(?:\ am|['’]m)\ (?=looking) | ^i(?:['’]d|\ would)\ (?=like)""",
    re.VERBOSE | re.IGNORECASE,
)
_ASKED = re.compile(
    r"""^(?:(?:what|which|who|where)\s+(?:are|were)\s+(?:there\s+)?(?:all\s+|some\s+|any\s+|other\s+)?
          (?:of\s+)?(?:the\s+(?:names?\s+of\s+)?)?
      | whare\s+(?:some\s+)?
      | (?:find|list|show|give|name|tell|get|recommend|suggest|search|enumerate|identify|return|look|looking|searching|need|want
          |like)
          (?:,?\s+(?:me,?|us|up|out|for|to\s+(?:find|see|know|read|watch|have|get)))*
          \s+(?:all\s+|some\s+|any\s+|every\s+|about\s+)*(?:of\s+)?(?:the\s+)?
      | i\s+(?:want|need|like)(?:\s+to\s+(?:find|see|know|read|watch|get))?\s+(?:all\s+|some\s+|any\s+)?(?:the\s+)?
      | are\s+there\s+(?:any\s+|some\s+)
      | (?:any|some|all)\s+(?:of\s+the\s+|the\s+)?
      )(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_SINGLE = re.compile(r"^what(?:\s+is|['’]?s)\s+(?:an?\s+|the\s+|some\s+)?(?=\S)", re.IGNORECASE)
_WHICH = re.compile(
    r"""^(?:which|what)\s+(?P<noun>(?!(?:are|is|was|were|do|does|did|if)\b)[^?]{1,120}?)\s+
        (?P<verb>are|were|have|can|can['’]t|cannot|don['’]?t|aren['’]?t|weren['’]?t|haven['’]?t
          |serve|speak|offer|support|accept|allow|sell|contain|mention|cite)\b
        (?!\s+(?:the|you|i|we|they|he|she|it)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_ORDINARY = re.compile(
    rf"""^(?:{one_of(QUESTION_WORDS - {"who", "what", "which"})}|{one_of(YES_NO_OPENERS)}|am|shall|may|might|must
        |isn['’]?t|aren['’]?t|don['’]?t|doesn['’]?t|didn['’]?t|won['’]?t
        |if|{one_of(SIMPLE_PREPOSITIONS)}|between|among|during|since|after|before|under|about
        |who(?:\s+(?:is|was|were|are|did|does|has|had|will|can|could|would|should|else)\b|['’]s\b)
        |what(?:\s+(?:is|was|were|did|does|do|has|had|have|would|will|can|could|should|happens|happened|if|makes|made|causes|caused
              |color|colour|year|time|kind|type)\b|['’]?s\b)
        |what\s+(?:are|were)\s+the\s+(?:differences?|similarities|odds|chances|pros|advantages|benefits|causes|effects|reasons
              |names?|main|most|best|top|first|last|two|three|four|five|\d+)\b
        |as|out|while|until|q\d|there|it|this|that|he|she|they|we|you|i|my|the\s+\w+\s+(?:is|was|are|were)
        )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_CHOICE = re.compile(r"[,:]\s*(?:the\s+)?[^,?]{1,120}\s+or\s+[^,?]{1,120}\??\s*$", re.IGNORECASE)
_WHO = re.compile(r"^who\s+(?=\w)", re.IGNORECASE)
_OPERATED = re.compile(r"\b(?:but\s+(?:is\s+|are\s+)?not|that\s+(?:is|are)\s+(?:also|not|both)|excluding)\b", re.IGNORECASE)
_SETS = re.compile(
    r"""^who\s+[a-z]+s\b(?!.*\b(?:more|less|most|least|better|best)\b)
        .*?(?:\b(?:or|but\s+(?:not|never|no|doesn['’]?t|don['’]?t|dislikes|hates|lacks)|except|excluding|and\s+also
              |without\s+[a-z]+ing|both\s+\S.*\sand|any\s+of|one\s+of)\b|,\s+all\s+(?:three|four|of\s+them)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_LISTED = re.compile(r"^who\s+[a-z]+s\b(?!.*(?:\b(?:more|less|most|least|better|best|first)\b|:))[^,]+,.*\bor\b", re.IGNORECASE)
_PLURAL = re.compile(r"(?:\w+s|people|men|women|children|fish|flora|fauna|species|series)", re.IGNORECASE)
_PEOPLE = re.compile(
    r"(?:(?!(?:who|what|which)\b)[\w-]+\s+){0,2}?(?:\w+s|people|men|women)\s+(?:who|from|in|of|with)\b", re.IGNORECASE
)
_INNER = re.compile(
    r"""\b(?:what|when|why|how|whom)\b | \b(?:of|in|is|was|by|from|to|with|for|and|at|on|are|were)\s+which\b
      | \band\s+(?:\w+\s+)?(?:where|who)\b | [a-z]{3,}[.?!]\s+\S
      | \bwhere\s+(?:is|are|was|were|do|does|did)\b | \bwho\s+(?:is|was)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_FINITE = re.compile(  # "do" may be the verb of a relative clause: "people who do sports"
    rf"""(?:(?P<before>[\w'’,]+)\s+)?
        \b{one_of((YES_NO_OPENERS - {"do"}) | {"must"})}\b(?!-|\s+in\s+common)""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Framed:
    """What a question asks for: how it asks, and the words that describe it."""

    frame: Frame
    body: str


def strip_frame(question: str) -> Framed:
    """Take the frame off a question.

    >>> strip_frame("What are some novels by Colette?").body
    'novels by Colette?'
    >>> strip_frame("Why is the sky blue?").frame
    'ordinary'
    """
    text = _POLITE.sub("", _LEAD.sub("", question.strip()))
    if _ORDINARY.match(text):
        return _special(text)
    choice = _CHOICE.search(text) and not _LISTED.match(text)
    if choice and re.match(r"(?:which|who|what)\b(?!\s+are\b)", text, re.IGNORECASE):
        return Framed("ordinary", text)
    if match := _ASKED.match(text):
        body = text[match.end() :]
        return Framed("ordinary", text) if _INNER.search(body) else Framed("set", body)
    if match := _WHICH.match(text):
        return _which(text, match)
    if _WHO.match(text):
        return Framed("set" if _SETS.search(text) else "ordinary", text)
    inner = _INNER.search(re.sub(r"\s+and\s+(?:\w+\s+)?who\b", "", text) if _PEOPLE.match(text) else text)
    asks = re.match(r"(?:which|what)\b", text, re.IGNORECASE) or inner or _is_sentence(text)
    return Framed("ordinary" if asks else "set", text)


def _is_sentence(text: str) -> bool:
    """Check whether a text is a sentence, not a description: its first verb follows no "that" or the like."""
    first = _FINITE.search(text)
    if not first:
        return False
    before = (first["before"] or "").lower().strip(",")
    return before not in word_list("before_verbs") and not re.search(
        r"\b(?:that|which|who)\b", text[: first.start()], re.IGNORECASE
    )


def _special(text: str) -> Framed:
    """Take those that look ordinary and ask for a set all the same: "what is fauna of Fiji that is also …"."""
    if (match := _ASKED.match(text)) and match.group().lower().startswith("are"):
        return Framed("set", text[match.end() :])
    if (match := _SINGLE.match(text)) and re.match(r"(?:[a-z]+ )?(?:flora|fauna)\b", text[match.end() :], re.IGNORECASE):
        return Framed("set", text[match.end() :])
    if (match := _SINGLE.match(text)) and _OPERATED.search(text):
        return Framed("set", text[match.end() :])
    return Framed("ordinary", text)


def _which(text: str, match: re.Match[str]) -> Framed:
    """Turn "which films are set in …" into "films that are set in …"; of one thing it is ordinary."""
    noun = re.split(r"\s+(?:of|in|from|by|on|at|for|with|about|set|shot|based|that|which|who)\b", match["noun"], maxsplit=1)[0]
    if not _PLURAL.fullmatch(noun.split()[-1]) or _INNER.search(text[match.end() :]):
        return Framed("ordinary", text)
    relative = "" if re.search(r"\b(?:that|which|who)$", match["noun"], re.IGNORECASE) else "that "
    return Framed("set", f"{match['noun']} {relative}{text[match.start('verb') :]}")
