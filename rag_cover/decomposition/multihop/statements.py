"""A statement that ends in a question: "Jaws was directed by a man who was born in which city?"."""

from __future__ import annotations

from rag_cover.decomposition.multihop.chains import split_chain
from rag_cover.decomposition.multihop.descriptions import find_head_noun
from rag_cover.decomposition.multihop.words import DETERMINERS, VERB_FORMS, Wording, wording_of
from rag_cover.english.lexicon import AUXILIARIES, BE, PREPOSITIONS, QUESTION_WORDS
from rag_cover.english.words import words_of

__all__ = ["split_statement"]

_NO_NOUN = AUXILIARIES | frozenset(words_of("been being and also be then later"))
_LASTING = frozenset(words_of("owned based located situated headquartered operated sponsored hosted led named"))
_PHRASE = 14  # words of what a relative clause may describe


def split_statement(statement: str) -> tuple[str, ...]:
    """Ask for what a statement describes, then the question in its relative clause; () where it is no such statement.

    >>> split_statement("Jaws stars an actor who was born in which city")
    ('Jaws stars which actor?', '#1 was born in which city?')
    """
    wording = wording_of(statement)
    if wording.plain[0] in QUESTION_WORDS | AUXILIARIES:
        return ()
    question_word = max((at for at, word in enumerate(wording.plain) if word in QUESTION_WORDS), default=0)
    clause = next((at for at in range(question_word - 1, 1, -1) if _opens_clause(wording, at)), None)
    article = _article_before(wording, clause) if clause is not None else None
    if clause is None or article is None:
        return ()
    described = " ".join((*wording.words[:article], "which", wording.text(article + 1, clause)))
    earlier = split_chain(f"{described}?")
    return (*earlier, f"#{len(earlier)}{_clause(wording, clause)}?")


def _clause(wording: Wording, at: int) -> str:
    """Return what a clause says of its subject, as it follows that."""
    if wording.plain[at] == "whose":
        return f"'s {wording.text(at + 1)}"
    if not _is_reduced(wording, at):
        return f" {wording.text(at + 1)}"
    return f" {'is' if wording.plain[at] in _LASTING else 'was'} {wording.text(at)}"


def _opens_clause(wording: Wording, at: int) -> bool:
    """Check whether a clause begins whose subject is what comes before it."""
    word, following = wording.plain[at], wording.plain[at + 1]
    pronoun = word == "whose" or (word in ("who", "that", "which") and _is_verb(following))
    return pronoun or _is_reduced(wording, at)


def _is_reduced(wording: Wording, at: int) -> bool:
    """Check whether "owned by", "based in" begins at a word."""
    word, following = wording.plain[at], wording.plain[at + 1]
    participle = word.endswith("ed") or word in ("written", "held", "made", "sung", "won", "built")
    return participle and following in PREPOSITIONS and bool(wording.plain[at - 1]) and wording.plain[at - 1] not in _NO_NOUN


def _is_verb(word: str) -> bool:
    return word in VERB_FORMS | AUXILIARIES or word.endswith(("ed", "es")) or word in ("also", "once", "currently", "later")


def _article_before(wording: Wording, pronoun: int) -> int | None:
    """Find where the phrase begins that a pronoun stands for; none where the phrase says what the statement's subject is."""
    for start in range(pronoun - 2, max(-1, pronoun - _PHRASE), -1):
        if wording.plain[start] in DETERMINERS:
            says = start > 1 and (any(map(_is_verb, wording.plain[:start])) or wording.plain[start - 1].endswith("s"))
            fits = says and wording.plain[start - 1] not in BE and not wording.words[start - 1].endswith(",")
            return start if fits and find_head_noun(wording, start, pronoun) is not None else None
    return None
