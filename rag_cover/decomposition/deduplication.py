"""Questions that ask the same thing in other words, of which the first is kept."""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.backends import Embedder
from rag_cover.english.lexicon import ARTICLES, FUNCTION_WORDS, NEGATIONS
from rag_cover.english.words import content_words, words_of

__all__ = ["ALIKE", "distinct_questions", "plain_wording"]

ALIKE = 0.95
"""The cosine from which two questions may mean the same: with the embedded judge, paraphrases reach 0.95 to 0.98, and no two
of the 318 sub-questions that the local typer was fitted on, each within its own question, more than 0.91."""

_LIGHT = ARTICLES | {"is", "are"}  # "was" asks something else
_TURNING = (NEGATIONS & FUNCTION_WORDS) | {"from", "into", "over", "under", "more", "most"}
"""Function words that turn a question into another one."""


def distinct_questions(texts: Sequence[str], embedder: Embedder | None = None) -> list[str]:
    """Keep the first of those that ask the same, in their order.

    The same is what differs in articles, number and punctuation only; with an embedder also what is close in meaning, where
    all that the one names the other names too and in this order (not "fresh vegetables" and "frozen vegetables", nor "from a
    to b" and "from b to a").

    >>> distinct_questions(["What is a heat pump?", "What are heat pumps?", "What does a heat pump cost?"])
    ['What is a heat pump?', 'What does a heat pump cost?']
    """
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(plain_wording(text), text)
    kept = list(first.values())
    if embedder is None or len(kept) < 2:  # noqa: PLR2004  # a pair
        return kept
    vectors = embedder.embed(kept)
    chosen: list[int] = []
    for place, text in enumerate(kept):
        close = (earlier for earlier in chosen if float(vectors[earlier] @ vectors[place]) >= ALIKE)
        if not any(_about_the_same(kept[earlier], text) for earlier in close):
            chosen.append(place)
    return [kept[place] for place in chosen]


def plain_wording(text: str) -> str:
    """Return what of a question's words tells it from others.

    >>> plain_wording("What are the causes?") == plain_wording("what is a cause")
    True
    """
    return " ".join(word.rstrip("s") for word in words_of(text) if word not in _LIGHT) or text


def _about_the_same(first: str, second: str) -> bool:
    one, other = sorted((_key_words(first), _key_words(second)), key=len)
    rest = iter(other)
    if [name for name in one if name in _TURNING] != [name for name in other if name in _TURNING]:
        return False
    return all(name in rest for name in one)  # a subsequence: "in" moves the iterator on


def _key_words(text: str) -> list[str]:
    """List in order what a question names: content words without their endings, and what turns it around."""
    return [name for word in words_of(text) for name in (content_words(word) or _TURNING.intersection([word]))]
