"""How sure a reading by somebody else is: the opinions of two readers, the other one and the grammar, in equal parts.

A language model says what it reads, and not how sure it is; its replies' log-probabilities are of words, not of readings, and
few frameworks hand them on. So its opinion, 1 for what it read, and the grammar's, a probability for each of its readings, are
averaged (the linear opinion pool; Stone, Annals of Mathematical Statistics 1961). Nobody has measured which of the two is the
better reader of these questions, so they count alike: what the model alone reads has confidence 0.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.parsing import ParsedQuery
from rag_cover.setqueries.written import forms_in, rename_atoms

__all__ = ["pool_opinion"]

_TOLD = 0.1  # readings that are less probable than this are not told


def pool_opinion(question: str, query: SetQuery, source: str, other: ParsedQuery | None) -> ParsedQuery:
    """Estimate how sure a reading is by comparing it with another reader's, whose other readings become alternatives."""
    if other is None:
        return ParsedQuery(question, query, 0.5, source)
    opinions = [(other.query, other.confidence), *other.alternatives]
    same = [_is_alike(query, theirs) for theirs, _ in opinions]
    agreed = sum(value for (_, value), alike in zip(opinions, same, strict=True) if alike)
    rivals = [(theirs, value / 2) for (theirs, value), alike in zip(opinions, same, strict=True) if not alike]
    alternatives = tuple(each for each in rivals if each[1] >= _TOLD)
    return ParsedQuery(question, query, (1 + min(1.0, agreed)) / 2, source, alternatives, other.notes if same[0] else ())


def _is_alike(query: SetQuery, other: SetQuery) -> bool:
    """Check whether two readings differ in their atoms' wording alone: in the words of the one, the other is equal to it.

    >>> _is_alike(SetQuery.atom("birds of Peru") - "pet birds", SetQuery.atom("Peruvian birds") - "birds kept as pets")
    True
    """
    names = _names(query, other)
    return names is not None and rename_atoms(query, names.__getitem__) == other


def _names(query: SetQuery, other: SetQuery) -> Mapping[str, str] | None:
    """Give every atom one of the other reading's, those that share most words first; None where there are more or fewer."""
    if len(query.atoms) != len(other.atoms):
        return None
    pairs = sorted(product(query.atoms, other.atoms), key=lambda pair: -_overlap(*pair))
    names: dict[str, str] = {}
    for atom, theirs in pairs:
        if atom not in names and theirs not in names.values():
            names[atom] = theirs
    return names


def _overlap(atom: str, other: str) -> float:
    words, others = forms_in(atom), forms_in(other)
    return len(words & others) / len(words | others) if words | others else float(atom == other)
