"""The likeliest of the readings of a question, with what is to be said about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries.algebra import MOST_ATOMS, SetQuery
from rag_cover.setqueries.parsing.candidates import Parse, query_of_reading
from rag_cover.setqueries.parsing.naming import category_name, user_wording
from rag_cover.setqueries.parsing.parsed import ParsedQuery
from rag_cover.setqueries.parsing.scoring import ParseWeights, probabilities_of_readings

__all__ = ["Readable", "refuse_too_many", "select_reading", "whole"]

_ALTERNATIVES = 3
_ORDINARY = 0.95  # that a question framed as ordinary asks for no set; not fitted


class Readable(Protocol):
    """What a question may mean."""

    @property
    def asked(self) -> str: ...  # noqa: D102

    @property
    def readings(self) -> tuple[Parse, ...]: ...  # noqa: D102

    @property
    def notes(self) -> tuple[str, ...]: ...  # noqa: D102


def select_reading(question: str, proposals: Readable, weights: ParseWeights) -> ParsedQuery:
    """Choose among readings; those that come to the same query count together."""
    if not proposals.readings:
        return whole(question, proposals)
    shares: dict[SetQuery, float] = {}
    first: dict[SetQuery, Parse] = {}
    odds = probabilities_of_readings(proposals.readings, weights)
    for reading, share in zip(proposals.readings, odds, strict=True):
        query = query_of_reading(reading)
        shares[query] = shares.get(query, 0.0) + float(share)
        first.setdefault(query, reading)
    best, *others = _order_queries(shares)
    refuse_too_many(best)
    if best.operator == "atom" and not first[best].atoms[0].domain:
        return whole(question, proposals)
    confidence = weights.calibrate(shares[best])
    left = (1 - confidence) / max(1 - shares[best], 1e-9)
    alternatives = tuple((query, min(shares[query] * left, 1 - confidence)) for query in others[:_ALTERNATIVES])
    notes = proposals.notes + _contradiction(first[best])
    return ParsedQuery(question, best, confidence, "grammar", alternatives, notes, _words(first[best]))


def whole(question: str, proposals: Readable) -> ParsedQuery:
    """Take a question as one atom, as it was asked."""
    return ParsedQuery(question, SetQuery.atom(proposals.asked), _ORDINARY, "grammar", notes=proposals.notes)


def refuse_too_many(query: SetQuery) -> None:
    """Refuse what asks for too many sets.

    Raises:
        InvalidValueError: it names more than 20.
    """
    if (count := len(query.atoms)) > MOST_ATOMS:
        message = f"the question names {count} sets; at most {MOST_ATOMS} can be asked for at once: "
        message += "ask in parts, or name a larger set that holds several of them"
        raise InvalidValueError(message)


def _order_queries(shares: Mapping[SetQuery, float]) -> list[SetQuery]:
    """Order queries: the likeliest of the likeliest shape first, then the others, since a shape has many ways to fill it."""
    shapes: dict[str, float] = {}
    for query, share in shares.items():
        shapes[query.template] = shapes.get(query.template, 0.0) + share
    best = max(shares, key=lambda query: (shapes[query.template], shares[query]))
    return [best, *sorted((query for query in shares if query != best), key=lambda query: -shares[query])]


def _contradiction(reading: Parse) -> tuple[str, ...]:
    wanted = {category_name(atom).lower() for atom in reading.atoms}
    both = [category_name(atom) for atom in reading.without if category_name(atom).lower() in wanted]
    return tuple(f"{atom!r} is both asked for and taken away: nothing can be left of it." for atom in both)


def _words(reading: Parse) -> dict[str, str]:
    """Return the user's wording of each atom that was renamed."""
    return {
        category_name(atom): user_wording(atom)
        for atom in (*reading.atoms, *reading.without)
        if category_name(atom) != user_wording(atom)
    }
