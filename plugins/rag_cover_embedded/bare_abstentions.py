"""Replies that say only that nothing is said, such as "There is nothing in the documents on this".

To a question for yes or no, "There is nothing on this" looks like "There is none", and the network takes some of these for an
answer. A reply of such words alone answers nothing, whatever is asked. Where the question asks what a document says, the same
words may be the answer, and the network decides. Of 127,981 texts that answer, 0 are of such words alone
(`benchmarks/judge/word_rules.py`).
"""

from __future__ import annotations

import re

__all__ = ["only_abstains"]

_SOURCES = frozenset(
    """archive archives article articles chapter chapters chunk chunks content contents context contexts data database doc docs
    document documents documentation excerpt excerpts extract extracts faq file files guide handbook index info information
    knowledge leaflet manual material materials mention notes page pages paper papers paragraph paragraphs passage passages
    record records report reports result results search section sections site snippet snippets source sources text texts
    transcript transcripts website wiki""".split()  # noqa: SIM905  # lists of words, not of lines
)
_NEGATIONS = frozenset("no not nothing none nowhere never neither nor cannot unable silent without lacks lack missing".split())  # noqa: SIM905
_FRAME = (
    frozenset(
        """a able about above address addressed addresses afraid all also am an answer answers any anything anywhere are as at
        available base based be been being below but by can concerning contain contained contains could cover covered covers
        currently detail details did directly discuss discussed discusses do does don exist exists explicitly far find for found
        from gave get give given gives got had has have help here how i i'm in include included includes is isn it its know me
        mentioned mentions my of on or our point present provide provided provides question regarding regards retrieved said
        say says see seem seems shown so sorry specific specifically specified specifies specify state stated states subject
        supplied talk tell tells that that's the their them there there's these they this those to topic touch touches
        unfortunately us was we were what whatsoever which with you your""".split()  # noqa: SIM905
    )
    | _NEGATIONS
    | _SOURCES
)
_SAYS = r"there(?:['’]s| is| was)|(?:i|we)(?: have|['’]ve(?: got)?| found|(?: can| could)? find|(?: can)? see)"
_POINTS = r"(?:it|them|th(?:is|at|ese|ose)|th(?:is|at|e) (?:topic|subject|matter|question|point))"
_POINTER = re.compile(
    r"\W*(?:sorry|unfortunately|i['’]m afraid|i am afraid|alas)?\W*(?:but )?"
    rf"(?:{_SAYS})? ?nothing (?:(?:at all|here|more|further) )?(?:on|about|regarding|concerning) {_POINTS}\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NOT = re.compile(r"n['’]t$")
_MOST_WORDS = 24
_LONGEST = 300  # characters that are looked at


def only_abstains(question: str, text: str) -> bool:
    """Return whether a text has no words but those that say that a source says nothing.

    >>> only_abstains("Is there wifi?", "There is nothing in the documents on this."), only_abstains("Is there wifi?", "No.")
    (True, False)
    >>> asked = "What do the documents say?"
    >>> only_abstains("Is there wifi?", "I have nothing on that."), only_abstains(asked, "The documents say nothing.")
    (True, False)
    """
    if len(text) > _LONGEST:
        return False
    asked = frozenset(_words(question))
    if not asked.isdisjoint(_SOURCES):
        return False
    if _POINTER.fullmatch(text):
        return True
    words = _words(text)
    said = frozenset(words)
    return (
        0 < len(words) <= _MOST_WORDS and said <= _FRAME and not said.isdisjoint(_SOURCES) and not said.isdisjoint(_NEGATIONS)
    )


def _words(text: str) -> list[str]:
    """List words in lower case, with the negation of "doesn't" apart."""
    found = []
    for word in _WORD.findall(text.lower()):
        stem, negated = _NOT.subn("", word)
        found += [{"ca": "can", "wo": "will"}.get(stem, stem), "not"] if negated else [word.replace("’", "'")]
    return found
