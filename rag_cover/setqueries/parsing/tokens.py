"""A question cut into words, with what belongs together kept together: quoted phrases, names that hold an "and"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_cover.setqueries.parsing.gazetteer import load_gazetteer, word_list

__all__ = ["join_tokens", "tokens_of"]

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]{1,400}"|“[^”]{1,400}”|«[^»]{1,400}»)
      | (?P<bracket>\([^()]{0,200}\))
      | (?P<mark>[,;()])
      | (?P<word>(?:[^\s,;()"“”«»]|(?<=\d),(?=\d{3}\b))+)""",
    re.VERBOSE,
)
_CONNECTIVE = re.compile(r"\b(?:or|and|not|but|except|excluding|without)\b", re.IGNORECASE)
_END = re.compile(r"[?!.:]+$")
_ABBREVIATED = re.compile(r"(?:[A-Z]\.)+|(?:Dr|Mr|Mrs|Ms|St|Mt|Jr|Sr|No|vs|Co|Inc)\.")
_SPELT = (
    (re.compile(r"\b(?:WW|World War)[ -]?(?:1|one)\b|\bWWI\b|\bWW I\b", re.IGNORECASE), "World War I"),
    (re.compile(r"\b(?:WW|World War)[ -]?(?:2|two)\b|\bWWII\b|\bWW II\b", re.IGNORECASE), "World War II"),
    (re.compile(r"\b(?!U\.S\.|D\.C\.|U\.K\.)([A-Z]\.)(?=[A-Z]\.\s?[A-Z])"), r"\1 "),
    (re.compile(r"\bfims\b", re.IGNORECASE), "films"),
    (re.compile(r"\bsci[- ]?fi\b", re.IGNORECASE), "science fiction"),
)
_WIDEST = 5  # words on either side of the "and" of a name


def tokens_of(text: str) -> tuple[list[str], bool]:
    """Cut a question into words and commas; tell whether a quote was left open, which is ignored.

    >>> tokens_of('flora of Trinidad and Tobago, or "war and love"')[0]
    ['flora', 'of', 'Trinidad and Tobago', ',', 'or', '"war and love"']
    """
    found: list[str] = []
    for wrong, right in _SPELT:
        text = wrong.sub(right, text)
    for match in _TOKEN.finditer(text):
        _take(match, found)
    found = _in_common(found)
    open_quote = text.count('"') % 2 == 1 or text.count("“") != text.count("”")
    return _join_known_names([token for token in found if token]), open_quote


def _in_common(tokens: Sequence[str]) -> list[str]:
    """Turn "plants that Peru and Chile have in common" into plants found in both."""
    lows = [token.lower() for token in tokens]
    if lows[-3:] != ["have", "in", "common"] and lows[-1:] != ["share"]:
        return list(tokens)
    kept = list(tokens[:-3] if lows[-1] == "common" else tokens[:-1])
    head = next((place for place, low in enumerate(lows) if low in load_gazetteer().heads), None)
    if head is None or head + 1 >= len(kept):
        return list(tokens)
    start = head + 1 + (lows[head + 1] in {"that", "which"})
    return [*kept[: head + 1], "found", "in", "both", *kept[start + (lows[start] == "both") :]]


def _take(match: re.Match[str], found: list[str]) -> None:
    """Add what one match holds; brackets that hold no connective belong to the word before them."""
    token = match.group()
    if match["bracket"] and _CONNECTIVE.search(token):
        found += ["(", *tokens_of(token[1:-1])[0], ")"]
    elif match["bracket"] and found and found[-1] not in {",", "("}:
        found[-1] += f" {token}"
    elif match["word"]:
        bare = token if _ABBREVIATED.fullmatch(token) else _END.sub("", token)
        found.append(bare.strip("'\u2018") if bare.count("'") != 1 else bare)
    else:
        found.append(token.replace(";", ","))


def _join_known_names(tokens: Sequence[str]) -> list[str]:
    """Join the words of known names that hold a connective, and what "&" joins."""
    found = list(tokens)
    at = 0
    while at < len(found):
        if found[at].lower() in {"and", "or", "&"} and (span := _whole_around(found, at)):
            left, right = span
            found[left:right] = [" ".join(found[left:right])]
            at = left
        at += 1
    return found


def _whole_around(tokens: Sequence[str], at: int) -> tuple[int, int] | None:
    lows = [token.lower() for token in tokens[max(at - _WIDEST, 0) : at + _WIDEST + 1]]
    here = min(at, _WIDEST)
    lows[here] = "or" if lows[here] == "or" else "and"
    for left in range(here):
        for right in range(len(lows), here + 1, -1):
            if "," not in lows[left:right] and " ".join(lows[left:right]) in word_list("wholes"):
                return at - here + left, at - here + right
    if tokens[at] == "&" and 0 < at < len(tokens) - 1:
        return at - 1, at + 2
    return None


def join_tokens(tokens: Sequence[str]) -> str:
    """Write words as text.

    >>> join_tokens(["Tucson", ",", "Arizona"])
    'Tucson, Arizona'
    """
    return " ".join(tokens).replace(" ,", ",").replace("( ", "(").replace(" )", ")")
