"""What an atom says of its members, apart from what they are: "set in Lisbon" of "novels set in Lisbon"."""

from __future__ import annotations

from rag_cover.english.lexicon import PREPOSITIONS, RELATIVE_PRONOUNS

__all__ = ["predicate_of"]

_PRONOUNS = RELATIVE_PRONOUNS - {"whom", "whose", "where"}  # those that are the subject of their clause
# Without "after", "before" and "than", which may begin a clause; "whose" begins what is said of a thing, as "with" does
_BEGINS = (PREPOSITIONS - {"after", "before", "than"}) | {"against", "during", "like", "since", "without", "whose"}
_IRREGULAR = frozenset("born built drawn found grown held known led made set shot sold sung won written".split())  # noqa: SIM905  # a line instead of a dozen


def predicate_of(atom: str) -> str:
    """Return what follows the words that name a kind; the whole atom where nothing does.

    >>> predicate_of("Scientists who studied in Graz"), predicate_of("Novels set in Lisbon"), predicate_of("Campus novels")
    ('studied in Graz', 'set in Lisbon', 'Campus novels')
    """
    words = atom.split()
    for place, word in enumerate(words[1:], 1):
        plain = word.casefold().strip(",")
        if plain in _PRONOUNS and words[place + 1 :]:
            return " ".join(words[place + 1 :])
        if plain in _BEGINS or plain in _IRREGULAR or _is_participle(plain):
            return " ".join(words[place:])
    return atom


def _is_participle(word: str) -> bool:
    return len(word) > 4 and word.endswith(("ed", "ing"))  # noqa: PLR2004  # "red", "king"
