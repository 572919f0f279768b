"""What is said of a head after it, and how a chunk beside it is made whole: "or German" after "who speak Dutch"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.english.lexicon import ALL_PREPOSITIONS, AUXILIARIES, BE
from rag_cover.setqueries.parsing.clauses import PRONOUNS, Chunk, begins_post, is_verb
from rag_cover.setqueries.parsing.gazetteer import load_gazetteer, word_list

__all__ = ["Head", "find_negated_atoms", "follows", "head_of", "plainly", "posts_of", "standalone_phrase"]

Post = tuple[str, ...]

_MODIFIER = re.compile(r"(?:.*-.*|.*(?:ese|ish|ian|ean|ican)|\d{4}s?)")
_STEADY = frozenset({"in", "under", "over", "from", "at", "near", "below", "above"})
_PAST = {
    "go": "went", "win": "won", "take": "took", "write": "wrote", "make": "made", "have": "had", "come": "came", "get": "got",
    "give": "gave", "teach": "taught", "hold": "held", "lead": "led", "run": "ran", "pay": "paid", "buy": "bought",
    "see": "saw", "meet": "met", "leave": "left", "speak": "spoke", "begin": "began", "read": "read", "know": "knew",
}  # fmt: skip
_PRONOMINAL = frozenset({"those", "ones", "people", "any", "anyone", "everyone"})


@dataclass(frozen=True, slots=True)
class Head:
    """The words before the first modifier; ``bare`` of them without a modifier in front; ``who`` of "who likes …"."""

    words: tuple[str, ...]
    bare: tuple[str, ...]
    modifier: str = ""
    who: bool = False
    plural: bool = True


def head_of(chunk: Chunk) -> Head | None:
    """Find the head of a first chunk; None where there is none."""
    if chunk.pronoun == "who":
        return Head((), (), who=True, plural=not chunk.words[0].endswith("s"))
    if chunk.pronoun or chunk.denial:
        return None
    words = chunk.words
    at = next((place for place in range(1, len(words)) if begins_post(words, place)), len(words))
    head = tuple(words[:at])
    if not head or begins_post(words, 0) or not _is_many(head):
        return None
    modifier = _modifier(head)
    return Head(head, head[1:] if modifier else head, modifier)


def _is_many(head: Post) -> bool:
    """Check whether a head asks for many: one in the plural, not numbered, not a certain one."""
    low = head[-1].lower()
    plural = (low.endswith("s") and not low.endswith(("ss", "us", "is"))) or low in word_list("plurals")
    return plural and head[0].lower() not in word_list("numbered")


def _modifier(head: Post) -> str:
    """Return the modifier in front of a head: a nationality, "gluten-free", the name in "Elixir software libraries"."""
    if len(head) < 2:  # noqa: PLR2004  # nothing in front
        return ""
    first = head[0]
    known = load_gazetteer().kind(first.lower()) in {"nat", "language", "decade", "year", "century"}
    named = len(head) > 2 and first[0].isupper()  # noqa: PLR2004  # two words are often one noun
    listed = first.lower() in word_list("adjectives")
    return first if known or named or listed or _MODIFIER.fullmatch(first) else ""


def posts_of(chunk: Chunk, head: Head) -> list[Post]:
    """Return what a first chunk says after its head; "with …" stands apart from where or how much."""
    rest = chunk.words[len(head.words) :]
    if head.who:
        return [("who", *rest)]
    if not rest:
        return []
    at = rest.index("with", 1) if "with" in rest[1:] and rest[0] in _STEADY else len(rest)
    return [tuple(part) for part in (rest[:at], rest[at:]) if part]


def standalone_phrase(chunk: Chunk, head: Head) -> str:
    """Return a phrase with a head of its own, "scientists from India"; blank where the chunk has none."""
    words = list(chunk.words)
    if chunk.pronoun and words[0] in BE and len(words) > 2:  # noqa: PLR2004  # "that are fans of B"
        words = words[1:]
    elif chunk.pronoun or chunk.auxiliary or head.who:
        return ""
    at = next((at for at in range(1, len(words)) if words[at] in PRONOUNS or begins_post(words, at)), len(words))
    same = _same(words[at - 1], head.words)
    if chunk.link == "rel":
        return " ".join(words) if same else ""
    plural = words[at - 1].endswith("s") and all(word.islower() for word in words[:at]) and at < len(words)
    other = plural and not begins_post(words, 0) and not is_verb(words[0].lower()) and not _is_verbal(words)
    return " ".join(words) if same or (other and chunk.link in {"or", "beside"}) else ""


def _is_verbal(words: Sequence[str]) -> bool:
    return len(words) > 1 and words[1].lower() in ALL_PREPOSITIONS and not words[0].endswith("s")


def _same(word: str, head: Post) -> bool:
    return bool(head) and word.lower() == head[-1].lower()


def follows(chunk: Chunk, head: Head, groups: Sequence[Sequence[Post]]) -> Post:
    """Make a chunk a modifier of the head, by its form or by the modifier before it."""
    words, last = tuple(chunk.words), groups[-1][-1] if groups else ()
    if chunk.pronoun:
        return (chunk.pronoun, *words)
    if chunk.denial or not last:
        return words
    clausal = last[0] in PRONOUNS
    if clausal and last[1] in BE and _is_said_by_copula(words):
        return (*last[:2], *words)
    if words[0].lower() in AUXILIARIES or (clausal and _another_verb(words, last)):
        return (last[0] if clausal else "who" if head.who else "that", *words)
    if begins_post(words, 0):
        return _beside(words, last)
    return (*_opening(last), *words)


def _is_said_by_copula(words: Post) -> bool:
    """Check whether words may follow "are": "open on Mondays", "designed by …"."""
    low = words[0].lower()
    return low in word_list("postpositive") or low in word_list("participles") or (low.endswith("ed") and "by" in words[1:2])


def _another_verb(words: Post, last: Post) -> bool:
    """Check whether words beside a clause begin with a verb that agrees with the clause's."""
    low = words[0]
    if len(words) < 2 or not low.islower() or not is_verb(low):  # noqa: PLR2004  # a verb alone is an object
        return False
    singular = last[1].endswith("s") and last[1] not in {"is", "was", "has"}
    return singular == (low.endswith("s") and not low.endswith("ss")) or low.endswith("ed") or last[1] in AUXILIARIES


def _beside(words: Post, last: Post) -> Post:
    """Put "of B" in the place of the last "of A"; else it modifies the head, or goes on with "that are"."""
    places = [at for at, word in enumerate(last) if word == words[0] and at]
    if places:
        return (*last[: places[-1]], *words)
    return (*last[:2], *words) if last[0] in PRONOUNS and last[1] in BE else words


def _opening(last: Post) -> Post:
    """Return the words of a modifier up to its object: "who speak", "with", "that run on"."""
    lows = [word.lower() for word in last]
    copula = len(last) > 1 and last[0] in PRONOUNS and lows[1] in BE
    first = 1 if last[0] in PRONOUNS else 0
    places = [
        at
        for at in range(first, len(last) - 1)
        if last[at] in ALL_PREPOSITIONS and (last[at] != "of" or at == first or not last[at - 1][0].isupper())
    ]
    if places and not (copula and places[0] > 2):  # noqa: PLR2004  # after the copula
        return last[: places[-1] + 1]
    return last[: first + 1]


def find_negated_atoms(chunk: Chunk, head: Head, groups: Sequence[Sequence[Post]]) -> list[str]:
    """Return what a chunk takes away, as atoms."""
    words = tuple(chunk.words)
    pronoun = chunk.pronoun or _pronoun_of(head, groups)
    match chunk.denial:
        case "aux":
            post = (pronoun, *_affirm(chunk.auxiliary, words, head))
        case "dislike":
            post = (pronoun, "likes" if head.who and not head.plural else "like", *words)
        case "lack":
            post = (pronoun, "has" if head.who and not head.plural else "have", *words)
        case "without":
            post = _having(_with_article(words, groups), head, pronoun)
        case _ if chunk.pronoun:
            post = (pronoun, *words)
        case "apart":
            return [_apart(chunk, head, groups)]
        case _ if words[0].lower() in _PRONOMINAL and len(words) > 1:
            post = words[1:]
        case _ if len(words) == 1 and words[0].lower() == "both" and groups:
            post = _both(groups[-1])
        case _:
            if whole := standalone_phrase(chunk, head):
                return [whole]
            post = _participial(words, groups) or follows(Chunk("and", words=list(words)), head, groups)
    return [" ".join([*head.bare, *plainly(post)])]


def plainly(post: Post) -> Post:
    """Shorten "that are in NATO" to "in NATO".

    >>> plainly(("that", "are", "in", "NATO"))
    ('in', 'NATO')
    """
    clause = post[0] in PRONOUNS and len(post) > 3  # noqa: PLR2004  # "that are in …"
    placed = clause and post[1] in {"are", "is"} and post[2] in ALL_PREPOSITIONS
    return post[2:] if placed else post


def _both(group: Sequence[Post]) -> Post:
    """Join all alternatives by "and", for "Latin or Greek but not both"."""
    first, *others = group
    size = len(_opening(first))
    return (*first, *(word for other in others for word in ("and", *other[size:])))


def _participial(words: Post, groups: Sequence[Sequence[Post]]) -> Post:
    """Read a lone participle beside another: "sent to Acme but not paid"."""
    past = words[0].endswith("ed") or words[0] in word_list("participles") or words[0] in {"paid", "done"}
    clausal = bool(groups) and groups[-1][-1][0] in PRONOUNS
    return ("that", "are", *words) if len(words) == 1 and past and words[0].islower() and not clausal else ()


def _with_article(words: Post, groups: Sequence[Sequence[Post]]) -> Post:
    """Give back the article that "no" took: "with a touch screen but no fan"."""
    has_article = any(word in {"a", "an"} for group in groups for post in group for word in post)
    single = len(words) == 1 and words[0].islower() and not words[0].endswith(("s", "ing"))
    return ("an" if words[0][0] in "aeiou" else "a", *words) if has_article and single else words


def _pronoun_of(head: Head, groups: Sequence[Sequence[Post]]) -> str:
    pronouns = [post[0] for group in groups for post in group if post[0] in {"that", "which", "who"}]
    return pronouns[-1] if pronouns else "who" if head.who else "that"


def _having(words: Post, head: Head, pronoun: str) -> Post:
    """Affirm "without liking B" and "without a contract"."""
    gerund = words[0].lower()
    if gerund.endswith("ing") and len(words) > 1 and (verb := _verb_of(gerund)):
        return (pronoun, f"{verb}s" if head.who and not head.plural else verb, *words[1:])
    return (pronoun, "has", *words) if head.who else ("with", *words)


def _verb_of(gerund: str) -> str:
    stem = gerund.removesuffix("ing")
    tries = (stem, f"{stem}e", stem[:-1])
    verbs = word_list("verbs") | word_list("clause_verbs")
    return next((each for each in tries if each in verbs), "")


def _affirm(auxiliary: str, words: Post, head: Head) -> Post:
    """Write a denied verb without its denial: "did not receive" is "received", "doesn't like" "likes"."""
    verb = words[0]
    if auxiliary == "did":
        return (_past(verb), *words[1:])
    if auxiliary == "does" or (auxiliary == "do" and head.who and not head.plural):
        return ("has" if verb == "have" else f"{verb}s", *words[1:])
    if auxiliary == "do" or not auxiliary:
        return words
    return (auxiliary, *words)


def _past(verb: str) -> str:
    if verb in _PAST:
        return _PAST[verb]
    return f"{verb}d" if verb.endswith("e") else f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def _apart(chunk: Chunk, head: Head, groups: Sequence[Sequence[Post]]) -> str:
    """Return an exception: of the same head, of places beside a place, or a phrase of its own."""
    words = tuple(chunk.words)
    if words[0].lower() in _PRONOMINAL and len(words) > 1:
        words = words[1:]
    if begins_post(words, 0):
        return " ".join([*head.bare, *words])
    if groups and load_gazetteer().place(" ".join(words)):
        return " ".join([*head.bare, *_opening(groups[-1][-1]), *words])
    return " ".join(words)
