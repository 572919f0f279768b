"""What an atom says of its members, apart from what they are: "set in Lisbon" of "novels set in Lisbon"."""

from __future__ import annotations

from rag_cover.english.lexicon import PREPOSITIONS, RELATIVE_PRONOUNS

__all__ = ["predicate_of"]

_PRONOUNS = RELATIVE_PRONOUNS - {"whom", "whose", "where"}  # those that are the subject of their clause
# Without "after", "before" and "than", which may begin a clause; "whose" begins what is said of a thing, as "with" does
_BEGINS = (PREPOSITIONS - {"after", "before", "than"}) | {"against", "during", "like", "since", "without", "whose"}
_IRREGULAR = frozenset("born built drawn found grown held known led made set shot sold sung won written".split())  # noqa: SIM905  # a line instead of a dozen


def predicate_of(atom: str) -> str:
    """Return what follows the words that name a kind, or precedes the kind at the end; the whole atom where neither does.

    The kind is left out since a text about a thing need not name it: few texts on a novel say "novel" where they say "crime".

    >>> predicate_of("Scientists who studied in Graz"), predicate_of("Novels set in Lisbon"), predicate_of("Campus novels")
    ('studied in Graz', 'set in Lisbon', 'Campus')
    >>> predicate_of("Novels"), predicate_of("science fiction"), predicate_of("who likes parrots")
    ('Novels', 'science fiction', 'who likes parrots')
    """
    words = atom.split()
    for place, word in enumerate(words[1:], 1):
        plain = word.casefold().strip(",")
        if plain in _PRONOUNS and words[place + 1 :]:
            return " ".join(words[place + 1 :])
        if plain in _BEGINS or plain in _IRREGULAR or _is_participle(plain):
            return " ".join(words[place:])
    noun_phrase = len(words) > 1 and words[0].casefold() not in RELATIVE_PRONOUNS and _is_plural(words[-1].casefold())
    return " ".join(words[:-1]) if noun_phrase else atom


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _is_participle(word: str) -> bool:
    return len(word) > 4 and word.endswith(("ed", "ing"))  # noqa: PLR2004  # "red", "king"
