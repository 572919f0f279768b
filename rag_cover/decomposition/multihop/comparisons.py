"""A comparison of two things as what has to be looked up for each of them."""

from __future__ import annotations

import re

from rag_cover.decomposition.multihop.chains import split_chain
from rag_cover.decomposition.multihop.pairs import DIFFERENCE, ComparedThings, pair_in
from rag_cover.decomposition.multihop.predicates import ask_of_both, ask_of_either
from rag_cover.decomposition.multihop.words import ROLES, append_steps, mask_quotes
from rag_cover.english.lexicon import AUXILIARIES

__all__ = ["compares", "read_comparison", "split_comparison"]


def compares(question: str) -> bool:
    """Check whether a question compares things, be it one that rules can split or not.

    >>> compares("Who is older, Homer or Plato"), compares("Who wrote Crime and Punishment")
    (True, False)
    """
    text = mask_quotes(question).lower()
    if DIFFERENCE.fullmatch(text):
        return True
    if text.split(" ", 1)[0] in AUXILIARIES:
        return bool(
            re.search(r" or | and .*\b(?:both|same|either)\b|\b(?:both|same|either)\b.* and |\bsame .* as | than ", text)
        )
    listed = r"^(?:who|which|what|whose|between|of|out of)\b.* or |^(?:between|of|out of)\b.* and .*, (?:who|which|what)\b"
    return bool(re.search(rf"{listed}| out of .* and |\bin common\b", text))


def split_comparison(question: str) -> tuple[str, ...]:
    """Ask of each of two things what a comparison needs to know; () where that is unclear.

    >>> split_comparison("Which film has the director who died first, Jaws or Alien")
    ('Who is the director of Jaws?', 'Who is the director of Alien?', 'When did #1 die?', 'When did #2 die?')
    """
    pair = read_comparison(question)
    return _steps(pair) if pair is not None else ()


def read_comparison(question: str) -> ComparedThings | None:
    """Read what a question compares, and by what; None where that is unclear."""
    return pair_in(f"{question[:1].lower()}{question[1:]}")


def _steps(pair: ComparedThings) -> tuple[str, ...]:
    found: tuple[str, ...] = ()
    questions_or_none = []
    for thing in (pair.first, pair.second):
        earlier = _lookup_steps(thing, pair.role)
        found = append_steps(found, earlier)
        questions_or_none.append(_ask(pair, f"#{len(found)}" if earlier else thing))
    questions = tuple(text for text in questions_or_none if text is not None)
    return (*found, *questions) if len(questions) == len(questions_or_none) else ()


def _ask(pair: ComparedThings, thing: str) -> str | None:
    if pair.both:
        return ask_of_both(pair.predicate, thing)
    return ask_of_either(pair.predicate, thing, noun=pair.role or pair.noun)


def _lookup_steps(thing: str, role: str) -> tuple[str, ...]:
    """Return the steps that find whom a comparison is about, where it only describes them."""
    if role:
        return split_chain(f"Who is the {role} of {thing}?")
    match = re.match(r"(?:the )?(?P<role>[a-z-]+) of (?P<thing>.+)", thing)
    return split_chain(f"Who is the {match['role']} of {match['thing']}?") if match and match["role"] in ROLES else ()
