"""Questions about things of which no category names are known, read by their grammar alone.

The words before the first modifier are the head. What follows are modifiers ("in Spain"), clauses ("who speak Dutch"), objects
beside the last object ("or German") and phrases with a head of their own; each becomes an atom that repeats the head. There is
one reading, or none where the grammar finds no operation that it knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rag_cover.english.lexicon import BE
from rag_cover.setqueries.parsing.candidates import Parse
from rag_cover.setqueries.parsing.clauses import Chunk, begins_post, chunks_of, is_verb
from rag_cover.setqueries.parsing.gazetteer import load_gazetteer
from rag_cover.setqueries.parsing.naming import Atom
from rag_cover.setqueries.parsing.phrases import fragment_of
from rag_cover.setqueries.parsing.postmodifier_attachment import (
    Head,
    find_negated_atoms,
    follows,
    head_of,
    plainly,
    posts_of,
    standalone_phrase,
)
from rag_cover.setqueries.parsing.premodifiers import alternatives_in_front
from rag_cover.setqueries.parsing.tokens import join_tokens

__all__ = ["general_readings"]

_MOST_WAYS = 64  # to choose one alternative of each group; what is more is left to the other grammar
_INNER = frozenset({"of", "about", "on", "between"})
_FACTS = frozenset(["their", "its", "provide", "specify", "what", "tell", "list", "give", "how", "when"])
_UNFINISHED = BE | {"as", "called", "be", "the", "which"}


@dataclass(slots=True)
class Described:
    """What was said of a head so far.

    Attributes:
        head: the words before the first modifier.
        groups: modifiers that all hold, each as its alternatives.
        away: atoms that are taken away.
        wholes: phrases with heads of their own that are alternatives, or hold as well.
        operators: how often something joined.
    """

    head: Head
    groups: list[list[tuple[str, ...]]] = field(default_factory=list)
    away: list[str] = field(default_factory=list)
    wholes: list[str] = field(default_factory=list)
    operators: int = 0
    beside: bool = False


def general_readings(tokens: Sequence[str]) -> list[Parse]:
    """Read a description of things of an unknown kind; nothing where it is of a known kind, or joins nothing.

    >>> [str(each.atoms[0].head) for each in general_readings("employees who speak Dutch or German".split())]
    ['employees who speak Dutch']
    """
    chunks = chunks_of(tokens)
    head = head_of(chunks[0]) if chunks else None
    if not _names_a_known_kind(tokens) and (pair := alternatives_in_front(tokens)):
        return [Parse("union", _atoms(pair), (), ("general",))]
    if head is None or _is_known(head, chunks):
        return []
    if len(chunks) > 1 and not head.who and not chunks[0].words[len(head.words) :] and chunks[1].link != "rel":
        return []
    if _is_ordinary(chunks):
        return []
    described = Described(head)
    described.groups = [[post] for post in posts_of(chunks[0], head)]
    chunks = _phrasal(chunks)
    for before, chunk in pairwise(chunks):
        _tell(described, chunk, before)
    reading = _reading(described)
    return [reading] if reading else []


def _is_ordinary(chunks: Sequence[Chunk]) -> bool:
    """Check whether a question asks for no set: it breaks off, asks for facts of each, or says more of another thing."""
    words = chunks[0].words
    recurs = any(words[0].lower() in {word.lower() for word in chunk.words} for chunk in chunks[1:])
    of_another = bool({"a", "an"} & set(words[-2:-1])) and not _is_said_of_several(chunks[1:])
    nested = "of" in words[1:-1] or of_another
    owned = nested and not recurs and not any(chunk.denial or chunk.link in {"and", "or", "but", "beside"} for chunk in chunks)
    tells = any(chunk.words[0].lower() in _FACTS and chunk.link == "and" for chunk in chunks)
    return owned or tells or chunks[-1].words[-1].lower() in _UNFINISHED


def _is_said_of_several(chunks: Sequence[Chunk]) -> bool:
    """Check whether the first clause has the verb of a plural: "that allow dogs" is not said of "a sauna"."""
    verb = chunks[0].words[0].lower() if chunks and chunks[0].link == "rel" else ""
    return verb in {"are", "have", "do", "were"} or (is_verb(verb) and is_verb(f"{verb}s"))


def _phrasal(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Leave "and" within a phrase where nothing else is joined or denied: "between Texas and Oklahoma"."""
    denied = any(chunk.denial for chunk in chunks)
    found = list(chunks[:1])
    for chunk in chunks[1:]:
        last = found[-1]
        lows = [word.lower() for word in last.words]
        inner = "between" in lows or (not denied and not last.pronoun and bool(_INNER & set(lows)))
        bare = chunk.link == "and" and not (chunk.pronoun or chunk.denial or last.both or begins_post(chunk.words, 0))
        if inner and bare and not is_verb(chunk.words[0].lower()):
            last.words += ["and", *chunk.words]
        else:
            found.append(chunk)
    return found


def _is_known(head: Head, chunks: Sequence[Chunk]) -> bool:
    """Check whether a head is of films, books or living things, before any clause."""
    clause = next((at for at, chunk in enumerate(chunks) if chunk.pronoun or chunk.auxiliary), len(chunks))
    found = (fragment_of(chunk.words).head for chunk in chunks[: max(clause, 1)])
    return not head.who and (_names_a_known_kind(head.words) or any(each is not None for each in found))


def _names_a_known_kind(words: Sequence[str]) -> bool:
    return any(word.lower() in load_gazetteer().heads for word in words)


def _tell(described: Described, chunk: Chunk, before: Chunk) -> None:
    """Add what one chunk says."""
    joins = chunk.link in {"or", "and", "beside", "but"} or bool(chunk.denial)
    described.operators += joins
    goes_on = bool(before.denial) and chunk.link in {"or", "and"} and not (chunk.pronoun or _finite(chunk))
    if chunk.denial or goes_on:
        chunk.denial = chunk.denial or before.denial
        described.away += find_negated_atoms(chunk, described.head, described.groups)
    elif whole := standalone_phrase(chunk, described.head):
        described.beside = described.beside or chunk.link in {"or", "beside"} or (chunk.link == "and" and not before.both)
        described.wholes.append(whole)
    else:
        _follow(described, chunk)


def _finite(chunk: Chunk) -> bool:
    return is_verb(chunk.words[0].lower()) and chunk.link == "and"


def _follow(described: Described, chunk: Chunk) -> None:
    """Add a modifier beside the last one, or one more that holds."""
    found = follows(chunk, described.head, described.groups)
    clausal = bool(described.groups) and described.groups[-1][-1][0] in {"that", "which", "who"}
    if chunk.link == "or" and described.groups:
        found, shared = _split_shared_tail(found, clausal=clausal)
        described.groups[-1].append(found)
        described.groups += [[shared]] if shared else []
    else:
        described.groups.append([found])


def _split_shared_tail(post: tuple[str, ...], *, clausal: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split off what follows the last alternative and holds for all: "from Alice or Bob about the budget"."""
    places = [at for at, word in enumerate(post) if at > 1 and word in {"about", "with", "for", "under", "over"}]
    return (post[: places[0]], post[places[0] :]) if places and not clausal else (post, ())


def _reading(described: Described) -> Parse | None:
    """Combine the parsed sets; None where there is only one, or no connective."""
    ways = math.prod(map(len, described.groups))
    if ways > _MOST_WAYS:
        return None
    atoms = _alternatives(described) if ways > 1 else _conjuncts(described)
    union = ways > 1
    if described.wholes:
        union = described.beside
        atoms = [*([" ".join(_whole(described))] if union else atoms), *described.wholes]
    if len(atoms) + len(described.away) < 2:  # noqa: PLR2004  # one set
        return None
    return Parse("union" if union else "intersection", _atoms(atoms), _atoms(described.away), ("general",))


def _atoms(texts: Sequence[str]) -> tuple[Atom, ...]:
    return tuple(Atom(text, "", ()) for text in dict.fromkeys(join_tokens(text.split()) for text in texts))


def _whole(described: Described) -> list[str]:
    return [*described.head.words, *(word for group in described.groups for post in group for word in post)]


def _alternatives(described: Described) -> list[str]:
    """Give every alternative all that holds of each."""
    found: list[list[str]] = [list(described.head.words)]
    for group in described.groups:
        found = [[*words, *_after(words, plainly(post))] for words in found for post in group]
    return [" ".join(words) for words in found]


def _after(words: Sequence[str], post: Sequence[str]) -> list[str]:
    """Join a second clause by "and", so that the whole stays a sentence."""
    clausal = any(word in {"who", "that", "which"} for word in words)
    return ["and", *post] if clausal and post[0] in {"who", "that", "which"} else list(post)


def _conjuncts(described: Described) -> list[str]:
    """Make an atom of each modifier; what precedes the head is one more, or goes with the first."""
    head, posts = described.head, [plainly(group[0]) for group in described.groups]
    if not posts:
        return [" ".join(head.words)]
    apart = bool(head.modifier) and (len(posts) > 1 or described.operators > 0)
    first = [" ".join(head.words)] if apart else [" ".join([*head.words, *posts[0]])]
    return [*first, *(" ".join([*head.bare, *post]) for post in (posts if apart else posts[1:]))]
