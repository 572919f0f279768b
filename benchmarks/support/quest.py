"""QUEST's queries as the benchmarks read them, and how a reading of one is scored.

A row has a person's paraphrase and the query it was made from, its atoms marked. Rows whose question lies in the test buckets
test; of the others only those that share no atom with a test row may teach, and folds keep rows that share an atom together.

The token F1 of two atoms is 2·|common tokens| / (|tokens| + |tokens|), tokens as a multiset, lower-cased (words with their
apostrophes and hyphens). Atoms of a reading and of the row are matched one to one so that the sum of F1 is largest; the sum is
divided by the larger number of the two sides, so that an unmatched atom counts 0. The measure is symmetric.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from benchmarks.support.datasets import lines, part_of
from rag_cover.setqueries import SetQuery

TEMPLATES = ("A", "A ∪ B", "A ∩ B", "A \\ B", "A ∪ B ∪ C", "A ∩ B ∩ C", "A ∩ B \\ C")

_MARKED = re.compile(r"<mark>(.*?)</mark>")
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*")
_JOINED = {
    "_": "A",
    "_ or _": "A ∪ B",
    "_ that are also _": "A ∩ B",
    "_ that are not _": "A \\ B",
    "_ or _ or _": "A ∪ B ∪ C",
    "_ that are also both _ and _": "A ∩ B ∩ C",
    "_ that are also _ but not _": "A ∩ B \\ C",
}
_MOST_MATCHED = 7  # atoms beyond are left unmatched: the number of ways grows with the factorial


@dataclass(frozen=True, slots=True)
class Row:
    """A question of QUEST, and the query that it paraphrases."""

    question: str
    query: SetQuery

    @property
    def template(self) -> str:
        """Return the template."""
        return self.query.template

    @property
    def atoms(self) -> tuple[str, ...]:
        """Return the atoms."""
        return self.query.atoms


@dataclass(frozen=True, slots=True)
class Score:
    """How near a reading came: its template, its atoms' token F1, all atoms exact, the whole expression exact."""

    template: bool
    token_f1: float
    atoms: bool
    expression: bool


def rows_of(data: Path) -> list[Row]:
    """Read all rows."""
    return [_row(row["query"], row["original_query"]) for row in lines(data / "setqueries/quest_queries_part.jsonl")]


def testing(data: Path) -> list[Row]:
    """Read the rows that test."""
    return part_of(rows_of(data), "test", key=lambda row: row.question)


def training(data: Path) -> list[Row]:
    """Read the rows that may teach: none shares an atom with one that tests."""
    tested = {atom.lower() for row in testing(data) for atom in row.atoms}
    rows = part_of(rows_of(data), "train", key=lambda row: row.question)
    return [row for row in rows if not any(atom.lower() in tested for atom in row.atoms)]


def _row(question: str, original: str) -> Row:
    first, *others = (atom.strip() for atom in _MARKED.findall(original))
    template = _JOINED[_MARKED.sub("_", original).strip()]
    match template:
        case "A ∩ B \\ C":
            return Row(question, SetQuery.difference(SetQuery.intersection(first, others[0]), others[1]))
        case "A \\ B":
            return Row(question, SetQuery.difference(first, *others))
        case _:
            join = SetQuery.union if "∪" in template else SetQuery.intersection
            return Row(question, join(first, *others))


def groups_of(rows: Sequence[Row]) -> list[str]:
    """Name the group of each row: rows that share an atom, directly or through others, have one name."""
    parent: dict[str, str] = {}

    def root(atom: str) -> str:
        while parent.setdefault(atom, atom) != atom:
            atom = parent[atom]
        return atom

    for row in rows:
        for atom in row.atoms:
            parent[root(atom.lower())] = root(row.atoms[0].lower())
    return [root(row.atoms[0].lower()) for row in rows]


def token_f1(one: str, other: str) -> float:
    """Return the F1 of two atoms' tokens.

    >>> token_f1("Films set in Lisbon", "films set in the Azores")
    0.6666666666666666
    """
    left, right = (Counter(_TOKEN.findall(text.lower())) for text in (one, other))
    both = left.total() + right.total()
    return 2 * (left & right).total() / both if both else 0.0


def atoms_f1(one: Sequence[str], other: Sequence[str]) -> float:
    """Match two lists of atoms as well as they can be, and return the mean F1 over the longer."""
    fewer, more = sorted((list(one)[:_MOST_MATCHED], list(other)[:_MOST_MATCHED]), key=len)
    table = [[token_f1(left, right) for right in more] for left in fewer]
    best = max(
        sum(table[row][column] for row, column in enumerate(chosen)) for chosen in permutations(range(len(more)), len(fewer))
    )
    return best / max(len(one), len(other))


def scored(query: SetQuery, row: Row) -> Score:
    """Compare a reading with a row."""
    said, gold = ({atom.lower() for atom in atoms} for atoms in (query.atoms, row.atoms))
    return Score(
        template=query.template == row.template,
        token_f1=atoms_f1(query.atoms, row.atoms),
        atoms=said == gold,
        expression=_lower(query) == _lower(row.query),
    )


def _lower(query: SetQuery) -> SetQuery:
    if query.text is not None:
        return SetQuery.atom(query.text.lower())
    return SetQuery(query.operator, parts=tuple(_lower(part) for part in query.parts))


_CUTS = re.compile(r"\s*,?\s+(?:or|and)\s+|\s*,\s*|\s+(?:that|which) are also\s+|\s+(?:that|which) are\s+", re.IGNORECASE)
_TAKEN = re.compile(
    r"\s*,?\s+(?:but not|that are not|that aren't|which are not|but are not|excluding|except|without|not)\s+", re.IGNORECASE
)


def by_connectives(question: str) -> SetQuery:
    r"""Read a question by splitting it at its connectives, and nothing else: the baseline.

    >>> print(by_connectives("Birds of Chile but not of Peru"))
    "Birds of Chile" \ "of Peru"
    """
    text = re.sub(r"^(?:what are(?: some)?|find me|,)\s*", "", question.strip(" ?."), flags=re.IGNORECASE)
    wanted, *taken = _TAKEN.split(text)
    parts = [part for part in _CUTS.split(wanted) if part.strip()] or [text]
    join = SetQuery.union if re.search(r"\bor\b", wanted, re.IGNORECASE) else SetQuery.intersection
    return SetQuery.difference(join(*parts), *(part for part in taken if part.strip()))
