"""Results put in their place: only who sees all slices, in order, can number them and tell their traces apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_cover.evaluation.files.slice_reader import Refusal
from rag_cover.evaluation.files.slices import Slice
from rag_cover.redaction import Redaction
from rag_cover.spill import SpillingDict
from rag_cover.stores.parts import PartRow
from rag_cover.traces import Identities

__all__ = ["Place", "Settled", "Settling", "place_rows"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the row at a ``position`` of its slice stands among all results, and the id of its trace."""

    position: int
    ordinal: int
    trace_id: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The places of a slice's rows, and the ids that were refused; ``moved`` tells whether a row says otherwise."""

    places: tuple[Place, ...]
    repeated: tuple[Refusal, ...]
    moved: bool


@dataclass(slots=True)
class Settling:
    """Goes through the slices in order: ids are unique within a file, ordinals over all of them.

    Redacted ids are equal where the ids are, so that duplicates are found and numbered in the same way.
    """

    redaction: Redaction | None = None
    ordinal: int = 0
    file_number: int = -1
    identities: Identities = field(default_factory=Identities)
    numbers: SpillingDict[int] = field(default_factory=SpillingDict)

    def settle(self, piece: Slice, rows: Sequence[PartRow]) -> Settled:
        """Give rows their places, and refuse ids that an earlier line gives.

        Raises:
            InputError: an id is the name that an earlier trace without an id was given.
        """
        if piece.file_number != self.file_number:
            self.file_number, self.identities, self.numbers = piece.file_number, Identities(), SpillingDict()
        places: list[Place] = []
        repeated: list[Refusal] = []
        for position, row in enumerate(rows):
            if not row.given and (earlier := self.numbers.setdefault(row.trace_id, row.number)) != row.number:
                repeated.append(Refusal.of_repeated(row.trace_id, piece, row.number, earlier))
                continue
            places.append(Place(position, self.ordinal, self._id_of(row)))
            self.ordinal += 1
        stays = all((rows[at.position].ordinal, rows[at.position].trace_id) == (at.ordinal, at.trace_id) for at in places)
        return Settled(tuple(places), tuple(repeated), bool(repeated) or not stays)

    def _id_of(self, row: PartRow) -> str:
        if not row.given:
            return self.identities.claim(row.trace_id)
        trace_id = self.identities.give(row.given)
        return trace_id if self.redaction is None or trace_id == row.given else self.redaction.trace(trace_id)


def place_rows(rows: Sequence[PartRow], settled: Settled) -> list[PartRow]:
    """Write places into the rows, and new ids into the results, too."""
    return [rows[place.position].at(place.ordinal, place.trace_id) for place in settled.places]
