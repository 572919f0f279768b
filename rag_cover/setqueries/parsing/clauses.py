"""A description of any kind of thing, cut at its connectives into chunks, each with what joins it and whether it is denied.

"Employees who speak Dutch or German and aren't on leave" is four chunks: the head, a clause, an object beside its object, and a
clause that is denied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_cover.english.lexicon import ALL_PREPOSITIONS, AUXILIARIES, RELATIVE_PRONOUNS, one_of
from rag_cover.setqueries.parsing.gazetteer import word_list

__all__ = ["PRONOUNS", "Chunk", "begins_post", "chunks_of", "is_verb"]

PRONOUNS = RELATIVE_PRONOUNS - {"whom"}  # no clause of a set query has it for its subject
_CUE = re.compile(
    rf"""(?:(?P<or>,?\s?(?:or\selse|and/or|or))
      | (?P<beside>,?\s?as\swell\sas)
      | (?P<apart>(?:,\s)?(?:but\s)?(?:except(?:ing)?|excluding|exclude|other\sthan|apart\sfrom|aside\sfrom|minus
            |not\s(?:including|counting)|with\sthe\sexception\sof)(?:\sfor)?(?:\s(?:those|ones|the\sones|any|all))*)
      | (?P<without>(?:,\s)?(?:and\s|but\s)?(?:without|lacking|with\sno|(?<=\s)no))
      | (?P<aux>{one_of(AUXILIARIES)}(?:\s(?:not|never)|n't)|cannot|can't
            |never(?!\s(?:an?|the)\s)(?=\s[a-z]))
      | (?P<dislike>(?:dislike|hate)s?)
      | (?P<lack>lacks?|(?:have|has)\sno)
      | (?P<not>neither|nor|not|never)
      | (?P<and>(?:,\s?)?(?:and|but)\salso|(?:,\s?)?and|plus|along\swith)
      | (?P<but>(?:,\s)?(?:but|yet))
      | (?P<comma>,))(?=\s|$)""",
    re.VERBOSE,
)
_NO = re.compile(r"no(?=\s|$)")
_STRAY = re.compile(r",?\s*\b(?:too|as well|all (?:three|two|four|of (?:them|these))|at the same time|alike|both of them)$")
_NEGATIONS = frozenset({"apart", "without", "aux", "dislike", "lack", "not"})
_WINDOW = 5  # words of the longest cue
_QUANTIFIERS = (["any", "of"], ["one", "of"], ["all", "of"], ["both"], ["either"], ["also"])


@dataclass(slots=True)
class Chunk:
    """What stands between two connectives.

    Attributes:
        link: what joins it: ``first``, ``comma``, ``and``, ``or``, ``beside`` ("as well as"), ``but``.
        denial: how it is denied: ``not``, ``aux`` ("don't"), ``without``, ``apart`` ("except"), ``dislike``, ``lack``, or not.
        pronoun: the relative pronoun that it begins with.
        auxiliary: the verb that the denial stood with.
        both: whether "both" precedes it.
        words: the words themselves.
    """

    link: str
    denial: str = ""
    pronoun: str = ""
    auxiliary: str = ""
    both: bool = False
    words: list[str] = field(default_factory=list)

    @property
    def said(self) -> bool:
        """Check whether it says anything yet."""
        return bool(self.words)


def chunks_of(tokens: Sequence[str]) -> list[Chunk]:
    """Cut at connectives, denials and relative pronouns.

    >>> [(each.link, each.denial, each.pronoun, each.words) for each in chunks_of("papers that cite A but not B".split())]
    [('first', '', '', ['papers']), ('rel', '', 'that', ['cite', 'A']), ('but', 'not', '', ['B'])]
    """
    tokens = _drop_stray_words(tokens)
    lows = [token.lower().replace("’", "'") for token in tokens]
    found = [Chunk("first")]
    at = 0
    while at < len(tokens):
        at += (
            _quantifier(lows, at, found[-1])
            or _take_connective(lows, at, found)
            or _pronoun(lows, at, found)
            or _word(tokens, at, found)
        )
    return _resolve_commas(_with_clauses([chunk for chunk in found if chunk.said]))


def _with_clauses(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Join a head that recurs with the clause that follows it: "or scientists who studied in Kyoto"."""
    found = list(chunks[:1])
    heads = {word.lower() for chunk in chunks[:1] for word in chunk.words if word.endswith("s") or len(chunk.words) == 1}
    for chunk in chunks[1:]:
        last = found[-1]
        recurs = len(found) > 1 and last.words[-1].lower() in heads and not last.pronoun
        stands = last.denial in {"not", "apart"} and last.words[0].lower() in {"those", "ones"} and len(last.words) == 1
        if (recurs or stands) and chunk.link == "rel" and chunk.pronoun and not chunk.denial:
            last.words += [chunk.pronoun, *chunk.words]
        else:
            found.append(chunk)
    return found


def _drop_stray_words(tokens: Sequence[str]) -> list[str]:
    text = " ".join(tokens)
    kept = _STRAY.sub("", text)
    return list(tokens[: len(tokens) - (text.count(" ") - kept.count(" "))]) if kept != text else list(tokens)


def _word(tokens: Sequence[str], at: int, found: list[Chunk]) -> int:
    found[-1].words.append(tokens[at])
    return 1


def _quantifier(lows: Sequence[str], at: int, last: Chunk) -> int:
    """Pass over "both", "any of" and the like; return of how many words it is."""
    for words in _QUANTIFIERS:
        if list(lows[at : at + len(words)]) == words and at + len(words) < len(lows):
            last.both = last.both or words == ["both"]
            return len(words)
    return 0


def _take_connective(lows: Sequence[str], at: int, found: list[Chunk]) -> int:
    """Take a connective or a denial that begins at a word."""
    text = " ".join(lows[at : at + _WINDOW])
    match = _CUE.match(text) or (_NO.match(text) if found[-1].link in {"but", "and"} and not found[-1].said else None)
    kind = (match.lastgroup or "without") if match else ""
    if not match or (kind in {"dislike", "lack"} and not _may_be_verb(found[-1])):
        return 0
    last = found[-1]
    if last.said:
        last = Chunk("rel" if kind in _NEGATIONS else kind)
        found.append(last)
    if kind in _NEGATIONS:
        _deny(last, kind, match.group())
    elif last.link in {"first", "comma", "rel"} or kind in {"or", "beside"}:
        last.link = kind if last.link != "first" else last.link
    return len(match.group().split())


def _may_be_verb(last: Chunk) -> bool:
    return not last.said and bool(last.pronoun or last.link in {"but", "and"})


def _deny(last: Chunk, kind: str, cue: str) -> None:
    last.denial = "not" if kind == "aux" and cue == "never" and last.link == "but" else kind
    if last.denial == "aux":
        verb = cue.partition(" ")[0].removesuffix("n't")
        last.auxiliary = "can" if verb in {"ca", "cannot"} else "" if verb == "never" else verb


def _pronoun(lows: Sequence[str], at: int, found: list[Chunk]) -> int:
    """Take a relative pronoun that a clause follows."""
    after_preposition = found[-1].said and found[-1].words[-1].lower() in ALL_PREPOSITIONS
    if lows[at] not in PRONOUNS or at + 1 >= len(lows) or after_preposition:
        return 0
    if found[-1].said:
        found.append(Chunk("rel"))
    found[-1].pronoun = lows[at]
    return 1


def _resolve_commas(found: list[Chunk]) -> list[Chunk]:
    """Let commas join as the next connective does that is none."""
    following = "and"
    for chunk in reversed(found):
        if chunk.link == "comma":
            chunk.link = following
        elif chunk.link in {"or", "and"}:
            following = chunk.link
        elif chunk.link != "beside":
            following = "and"
    return found


def is_verb(word: str) -> bool:
    """Check whether a word is a common verb, or looks like one in the past."""
    past = word.endswith("ed") and word.islower() and len(word) > 4  # noqa: PLR2004  # "red", "bed"
    return past or word in AUXILIARIES or word in word_list("verbs") or word in word_list("clause_verbs")


def begins_post(words: Sequence[str], at: int) -> bool:
    """Check whether a modifier that follows its head begins at a word: "in …", "written …", "serving …", "fond of …"."""
    low = words[at]
    if low in ALL_PREPOSITIONS and at + 1 < len(words):
        return True
    adjective = low in word_list("postpositive")
    follows = at + 1 < len(words) and (words[at + 1].lower() in ALL_PREPOSITIONS or words[at + 1].lower() == "than")
    participle = low.islower() and (low in word_list("participles") or (low.endswith("ed") and follows))
    gerund = low.islower() and low.endswith("ing") and at > 0 and words[at - 1].endswith("s") and at + 1 < len(words)
    adverb = low in {"first", "originally", "newly", "last"} and at > 0 and at + 1 < len(words) and begins_post(words, at + 1)
    return (adjective and follows) or (participle and at + 1 < len(words)) or gerund or adverb
