"""A description cut at its connectives: "or", "and", commas, "that are", and all the ways to say "not"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag_cover.english.lexicon import DO, HAVE, NEGATIONS
from rag_cover.setqueries.parsing.clauses import PRONOUNS
from rag_cover.setqueries.parsing.gazetteer import load_gazetteer
from rag_cover.setqueries.parsing.prefixes import extract_prefixed

__all__ = ["Cut", "Item", "cut_at_connectives", "sides_of"]

_CUE = re.compile(
    r"""(?:(?P<not>
          (?:(?:that|which|who)\s)?
            (?: (?:are|is|were|was|be)(?:\snot|n't|nt)
              | (?:can't|cant|couldn't|(?:can|could)\s?not)(?:\sbe)?
              | (?:do|does|did|have|has|had|will|would)(?:\snot|n't|nt)(?:\sbeen|\sbe)? )
        | (?:but\s)?not\s(?:including|counting) | not | neither | nor | never
        | (?:but\s)?(?:excluding|excludes?|except|excepting)(?:\sfor)? | with\sthe\sexception\sof | (?:any\s)?other\sthan
        | (?:but\s)?without | minus | apart\sfrom | aside\sfrom | unless(?:\sthey\sare|\sthey're|\sit\sis)? | lacking
        | (?:(?:and|but)\s)?(?:with\s)?no(?=\s)
        | (?:that|which|who)\s(?:have|has|had)\sno | (?:that|which|who)\slacks? )
      | (?P<and>and\s?/\s?or(?!.) | as\swell\sas | and\salso | and | but\s(?:are\s|is\s)?also | also | plus | along\swith )
      | (?P<or>and/or | or\selse | or )
      | (?P<comma>,)
      | (?P<rel>(?:that|which|who)\s(?:can\sbe|could\sbe|may\sbe|have\sbeen|has\sbeen|are|is|were|was)
        | (?:that|which|who)(?:\sthey)?(?=\s\w) | (?:are|is|were|was|they\sare)(?=\s) | where(?=\s) | whose(?=\s) )
      | (?P<none>both | either | all\sof | simultaneously | at\sthe\ssame\stime )
      | (?P<but>but)) (?![\w'])""",
    re.VERBOSE,
)
_CAN = frozenset({"can", "could", "can't", "cannot", "couldn't"})
_HAVE = HAVE | {"haven't", "hasn't", "hadn't"}
_DO = DO | {"don't", "doesn't", "didn't", "dont", "doesnt", "didnt", "will", "won't", "would", "wouldn't"}
_NEGATIONS = (NEGATIONS - {"no", "never"}) | {"except", "excluding", "cannot"}  # those that are counted
_APART = ("except", "but except", "excluding", "but excluding", "other than", "apart", "aside", "but not", "not")
_WINDOW = 5  # words of the longest cue
_STRENGTH = ("first", "rel", "comma", "and", "or")


@dataclass(slots=True)
class Item:
    """What stands between two connectives.

    Attributes:
        link: the connective before it: ``first``, ``rel``, ``comma``, ``and``, ``or``.
        lead: how a clause begins: ``are``, ``can``, ``do``, ``that``, or nothing.
        negated: how often it is negated.
        cue: the words of the negation.
        words: the words themselves.
        prefixed: whether the negation was "non-" before a word.
    """

    link: str
    lead: str = ""
    negated: int = 0
    cue: str = ""
    words: list[str] = field(default_factory=list)
    prefixed: bool = False
    pronoun: str = "that"
    also: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """The items of a description, and which of "both", "either", "also" were said."""

    items: list[Item]
    said: frozenset[str]
    doubled: bool = False


def cut_at_connectives(tokens: Sequence[str]) -> Cut:
    """Cut at every connective; consecutive connectives count as one, the strongest.

    >>> [(item.link, item.negated, item.words) for item in cut_at_connectives("birds of Chile but not of Peru".split()).items]
    [('first', 0, ['birds', 'of', 'Chile']), ('first', 1, ['of', 'Peru'])]
    """
    bare = extract_prefixed(tokens)
    tokens, doubled = bare.kept, bare.doubled
    lows = [token.lower().replace("’", "'") for token in tokens]
    items, said = [Item("first")], set[str]()
    at = 0
    several = sum(low in _NEGATIONS or low.endswith("n't") for low in lows) > 1
    while at < len(tokens):
        size = 0 if several and lows[at] == "without" else _cue(lows, at, items[-1], items, said)
        if not size:
            items[-1].words.append(tokens[at])
        at += size or 1
    kept = _with_clauses([item for item in items if item.words])
    prefixed = [Item("first", negated=1, cue="non", words=words, prefixed=True) for words in bare.negated]
    doubled = doubled or any(item.negated > 1 and not item.negated % 2 for item in kept)
    return Cut([*kept, *prefixed], frozenset(said), doubled)


def _with_clauses(items: Sequence[Item]) -> list[Item]:
    """Give "except those that …" and "excluding birds that …" their clause, in place of the bare head."""
    found: list[Item] = []
    for item in items:
        last = found[-1] if found else None
        bare = last is not None and last.cue.startswith(_APART) and len(last.words) == 1
        stands = last is not None and bare and last.words[0].lower() in {"those", "ones", *load_gazetteer().heads}
        if last is not None and stands and item.link == "rel" and not item.negated:
            found[-1] = replace(item, link=last.link, negated=last.negated, cue="that are not")
        else:
            if item.cue.startswith(_APART) and len(item.words) > 1 and item.words[0].lower() == "those":
                item.words = item.words[1:]
            found.append(item)
    return found


def sides_of(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Separate what is asked for from what is taken away; alternatives of what is taken away go with it."""
    positive: list[Item] = []
    negative: list[Item] = []
    away = False
    for item in items:
        if item.negated % 2:
            away = True
        elif item.negated or (away and (item.lead or item.link not in {"or", "and", "comma"})):
            away = away and item.link == "rel" and not item.negated
        (negative if away else positive).append(item)
    return positive, negative


def _cue(lows: Sequence[str], at: int, last: Item, items: list[Item], said: set[str]) -> int:
    """Take a connective that begins at a word; return of how many words it is."""
    text = " ".join(lows[at : at + _WINDOW])
    match = _CUE.match(text)
    if not match:
        return 0
    kind, cue = match.lastgroup or "", match.group().strip()
    if kind == "none" and cue == "both":
        items[-1].also = items[-1].also or bool(items[-1].words)
    if kind == "none":
        said.add(cue)
        return len(cue.split())
    if kind == "but" and at + 1 < len(lows) and load_gazetteer().place(lows[at + 1]):
        kind = "not"  # "trees of Brazil but Venezuela"
    if kind == "rel" and cue in {"are", "is", "were", "was"} and last.words:
        return 0 if at else len(cue.split())
    if last.words:
        last = Item("first" if kind in {"not", "but"} else kind)
        items.append(last)
    _join(last, kind, cue)
    if "also" in cue or cue == "as well as" or (match.end() < len(text) and text[match.end() :].split()[0] == "also"):
        last.also = True
        said.add("also")
    return len(cue.split())


def _join(item: Item, kind: str, cue: str) -> None:
    """Let one more connective speak of the item that begins."""
    words = cue.split()
    if kind in {"not", "but"}:
        item.negated += kind == "not" and not (words[0] == "not" and item.cue.startswith("neither"))
        item.cue = f"{item.cue} {cue}".strip()
    elif _STRENGTH.index(kind) > _STRENGTH.index(item.link):
        item.link = kind
    if kind in {"rel", "not"} and (lead := _lead(words)):
        item.lead = lead
    if kind in {"rel", "not"} and words[0] in PRONOUNS:
        item.pronoun = words[0]


def _lead(words: Sequence[str]) -> str:
    """Name how a clause goes on: what "are" is followed by is said of the thing, "do" by a verb, "that" by an inflected one."""
    verb = words[1] if words[0] in PRONOUNS and len(words) > 1 else words[0]
    stem = verb.removesuffix("n't").removesuffix("nt")
    leads = {
        "with": words[-1] in {"without", "lacking", "lacks", "lack", "no"},
        "can": verb in _CAN,
        "do": verb in _DO or (verb in _HAVE and "been" not in words),
        "that": verb in PRONOUNS,
        "are": stem in {"are", "is", "were", "was", "be", "have", "has"} or verb == "they",
    }
    return next((lead for lead, fits in leads.items() if fits), "")
