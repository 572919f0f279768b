r"""Set queries: atoms, and what is made of them by union, intersection and difference (QUEST; Malaviya et al., ACL 2023, §2).

A query is written as a tree. Nested unions are one union, nested intersections one intersection, and ``A \ B \ C`` is one
difference, A without each of the others; so equality holds up to associativity and commutativity. There is no complement: a
query always names something to start from.

>>> birds = SetQuery.atom("Birds of Chile") & "Birds of Peru"
>>> print(birds - "Fauna of the Guianas")
("Birds of Chile" ∩ "Birds of Peru") \ "Fauna of the Guianas"
>>> birds == SetQuery.atom("Birds of Peru") & "Birds of Chile"
True
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self, TypeVar, get_args

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries import notation
from rag_cover.setqueries.notation import DEEPEST

__all__ = ["MOST_ATOMS", "Operator", "SetQuery"]

MOST_ATOMS = 20
"""How many atoms a query may have that is asked of a retriever."""

Operator = Literal["atom", "union", "intersection", "difference"]
T = TypeVar("T")
Key = tuple[str, str, tuple["Key", ...]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SetQuery:
    """An atom, or an operator over queries; make it by `atom`, `union`, `intersection`, `difference`, or ``|``, ``&``, ``-``.

    Attributes:
        operator: what is done to the parts; ``"atom"`` has none.
        text: an atom's words; None for anything else.
        parts: what the operator joins, at least two; of a difference the first is what the others are taken from.
    """

    operator: Operator
    text: str | None = None
    parts: tuple[SetQuery, ...] = ()
    depth: int = field(init=False)
    key: Key = field(init=False)

    def __post_init__(self) -> None:
        """Refuse what is no query, write nested operators as one, and note what it is equal by."""
        if self.operator == "atom":
            _refuse_no_atom(self.text, self.parts)
            object.__setattr__(self, "text", " ".join(str(self.text).split()))
        else:
            _refuse_no_operator(self.operator, self.text, self.parts)
            object.__setattr__(self, "parts", _flat(self.operator, map(query_of, self.parts)))
        object.__setattr__(self, "depth", _depth(self.operator, self.parts))
        object.__setattr__(self, "key", self._compute_key())

    def _compute_key(self) -> Key:
        keys = [part.key for part in self.parts]
        first = keys[:1] if self.operator == "difference" else []
        return self.operator, self.text or "", (*first, *sorted(keys[len(first) :]))

    @classmethod
    def atom(cls, text: str) -> Self:
        """Ask for what one phrase describes; its spaces are made single.

        Raises:
            InvalidValueError: it is blank.
        """
        return cls("atom", text)

    @classmethod
    def union(cls, *parts: SetQuery | str) -> SetQuery:
        """Ask for what belongs to any part; of one part alone, for that."""
        return _join("union", parts)

    @classmethod
    def intersection(cls, *parts: SetQuery | str) -> SetQuery:
        """Ask for what belongs to every part; of one part alone, for that."""
        return _join("intersection", parts)

    @classmethod
    def difference(cls, of: SetQuery | str, *without: SetQuery | str) -> SetQuery:
        """Ask for what belongs to the first part and to none of the others."""
        return _join("difference", (of, *without))

    def __or__(self, other: SetQuery | str) -> SetQuery:
        """Ask for both sets' members."""
        return SetQuery.union(self, other) if _is_part(other) else NotImplemented

    def __ror__(self, other: SetQuery | str) -> SetQuery:
        """Ask for both sets' members."""
        return SetQuery.union(other, self) if _is_part(other) else NotImplemented

    def __and__(self, other: SetQuery | str) -> SetQuery:
        """Ask for what both sets share."""
        return SetQuery.intersection(self, other) if _is_part(other) else NotImplemented

    def __rand__(self, other: SetQuery | str) -> SetQuery:
        """Ask for what both sets share."""
        return SetQuery.intersection(other, self) if _is_part(other) else NotImplemented

    def __sub__(self, other: SetQuery | str) -> SetQuery:
        """Ask for what the other set does not have."""
        return SetQuery.difference(self, other) if _is_part(other) else NotImplemented

    def __rsub__(self, other: SetQuery | str) -> SetQuery:
        """Ask for what the other set has and this one does not."""
        return SetQuery.difference(other, self) if _is_part(other) else NotImplemented

    def __eq__(self, other: object) -> bool:
        """Compare up to associativity and commutativity."""
        return self.key == other.key if isinstance(other, SetQuery) else NotImplemented

    def __hash__(self) -> int:
        """Hash alike what is equal."""
        return hash(self.key)

    def __str__(self) -> str:
        """Write it as `rag_cover.setqueries.notation.read` reads it: atoms quoted, operators within operators in brackets."""
        return notation.text_of(self)

    def __repr__(self) -> str:
        """Show how it is made again from its text."""
        return f"SetQuery.from_text({str(self)!r})"

    @classmethod
    def from_text(cls, text: str) -> SetQuery:
        r"""Read what `str` wrote, or somebody by hand: ``|``, ``&``, ``-`` bind as in Python, ``∩`` and ``\`` as QUEST writes.

        >>> SetQuery.from_text("novels & (thrillers | satires) - 'books by women'").template
        'A ∩ ((B ∪ C) \\ D)'
        >>> print(SetQuery.from_text(r"novels ∩ satires \ 'books by women'"))
        ("novels" ∩ "satires") \ "books by women"

        Raises:
            InvalidValueError: the text is no set query; says at which character, and what was expected.
        """
        return notation.read(text, SetQuery.atom, _join)

    def to_dict(self) -> dict[str, object]:
        """Write it as JSON data: ``{"atom": "…"}``, or the operator's name with its parts."""
        return {self.operator: self.text if self.text is not None else [part.to_dict() for part in self.parts]}

    @classmethod
    def from_dict(cls, data: Mapping[str, object] | str) -> SetQuery:
        """Read what `to_dict` wrote; a plain string is an atom.

        Raises:
            InvalidValueError: the data has another form; the message names it.
        """
        return notation.read_data(data, SetQuery.atom, _join)

    @property
    def atoms(self) -> tuple[str, ...]:
        """Return the distinct atoms, in the order in which they are written."""
        leaves = (self.text,) if self.text is not None else (atom for part in self.parts for atom in part.atoms)
        return tuple(dict.fromkeys(leaves))

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the atoms that members can come from: all but those in what is taken away."""
        parts = self.parts[:1] if self.operator == "difference" else self.parts
        return (self.text,) if self.text is not None else tuple(dict.fromkeys(a for part in parts for a in part.sources))

    @property
    def template(self) -> str:
        r"""Name its shape as QUEST does (§2): atoms by letters in their order, one that recurs by the same.

        >>> (SetQuery.atom("Indian books") & "1959 books").template
        'A ∩ B'
        """
        return notation.template_of(self, self.atoms)

    def normal_form(self) -> SetQuery:
        r"""Return an equivalent query in one form: parts once and in order, what is taken away taken away at the end.

        ``A ∪ A`` is A, ``(A \ B) ∩ C`` is ``(A ∩ C) \ B``, and ``A \ (B ∪ C)`` is ``A \ B \ C``.
        """
        parts = [part.normal_form() for part in self.parts]
        match self.operator:
            case "atom":
                return self
            case "union":
                return _join_in_order("union", parts)
            case "intersection":
                heads = [part.parts[0] if part.operator == "difference" else part for part in parts]
                taken = [each for part in parts if part.operator == "difference" for each in part.parts[1:]]
                return _less(_join_in_order("intersection", heads), taken)
            case "difference":
                return _less(parts[0], parts[1:])

    def members(self, sets: Mapping[str, Collection[T]]) -> frozenset[T]:
        """Return the members, given those of every atom.

        >>> sorted((SetQuery.atom("A") - "B").members({"A": [1, 2], "B": [2, 3]}))
        [1]

        Raises:
            InvalidValueError: an atom has no set.
        """
        if self.text is not None:
            return frozenset(value_for_atom(self.text, sets))
        first, *others = (part.members(sets) for part in self.parts)
        match self.operator:
            case "union":
                return first.union(*others)
            case "intersection":
                return first.intersection(*others)
            case _:
                return first.difference(*others)


def query_of(part: SetQuery | str) -> SetQuery:
    """Take a plain string for an atom.

    Raises:
        InvalidValueError: it is neither a text nor a query.
    """
    if isinstance(part, str):
        return SetQuery.atom(part)
    if isinstance(part, SetQuery):
        return part
    message = f"{type(part).__name__} is no part of a set query; give a SetQuery, or an atom's text"
    raise InvalidValueError(message)


def value_for_atom(atom: str, values: Mapping[str, T]) -> T:
    """Look up what is given for an atom.

    Raises:
        InvalidValueError: nothing is.
    """
    if atom not in values:
        message = f"nothing is given for the atom {atom!r}; give something for each of SetQuery.atoms"
        raise InvalidValueError(message)
    return values[atom]


def _is_part(other: object) -> bool:
    return isinstance(other, SetQuery | str)


def _refuse_no_atom(text: object, parts: object) -> None:
    if not isinstance(text, str) or not text.strip() or parts:
        message = f"an atom is a phrase such as 'birds of Chile', not {text!r}"
        raise InvalidValueError(message)


def _refuse_no_operator(operator: object, text: object, parts: object) -> None:
    joins = operator in get_args(notation.Operator) and text is None
    if not joins or not isinstance(parts, list | tuple) or len(parts) < 2:  # noqa: PLR2004  # an operator joins
        message = f"{operator!r:.40} of {parts!r:.80} is no set query: write an atom, or an operator of at least two parts"
        raise InvalidValueError(message)


def _flat(operator: Operator, parts: Iterable[SetQuery]) -> tuple[SetQuery, ...]:
    """Put a nested operator's parts in its place where that means the same: of a difference, in the first place."""
    first, *others = parts
    if operator == "difference":
        return (*(first.parts if first.operator == operator else (first,)), *others)
    return tuple(each for part in (first, *others) for each in (part.parts if part.operator == operator else (part,)))


def _depth(operator: Operator, parts: Sequence[SetQuery]) -> int:
    r"""Count operators within operators; ``A ∩ B \ C`` is one, as QUEST writes it, so no normal form is deeper than its query.

    Raises:
        InvalidValueError: there are more than 50.
    """
    heads = parts[0].parts if operator == "difference" and parts[0].operator == "intersection" else parts[:1]
    depth = 1 + max((part.depth for part in (*heads, *parts[1:])), default=-1)
    if depth > DEEPEST:
        message = f"a set query nests at most {DEEPEST} operators; bring its parts into fewer by SetQuery.normal_form()"
        raise InvalidValueError(message)
    return depth


def _join(operator: notation.Operator, parts: Iterable[SetQuery | str]) -> SetQuery:
    queries = tuple(map(query_of, parts))
    return queries[0] if len(queries) == 1 else SetQuery(operator, parts=queries)


def _join_in_order(operator: notation.Operator, parts: Iterable[SetQuery]) -> SetQuery:
    """Join parts, those of nested joins among them, each once and in the order of their keys."""
    return _join(operator, _distinct(_flat(operator, parts)))


def _less(head: SetQuery, taken: Iterable[SetQuery]) -> SetQuery:
    """Take parts in normal form away from a head in normal form."""
    first, *before = head.parts if head.operator == "difference" else (head,)
    others = [*before, *taken]
    return SetQuery.difference(first, *_distinct(_flat("union", others) if others else ()))


def _distinct(parts: Iterable[SetQuery]) -> list[SetQuery]:
    return sorted(dict.fromkeys(parts), key=lambda part: part.key)
