"""The work on one slice, done where it arrives: read, measured block by block, packed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from rag_cover.evaluation.blocks import blocks_of
from rag_cover.evaluation.files.slice_reader import Refusal, read_slice
from rag_cover.evaluation.files.slices import Slice
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.llm.usage import UsageMeter
from rag_cover.stores.parts import PartRow
from rag_cover.traces import Trace, name_of

__all__ = ["MeasuringSlices", "Packed"]


@dataclass(frozen=True, slots=True)
class Packed:
    """The outcome of a slice: its results, and the rows that were no traces."""

    rows: tuple[PartRow, ...]
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class MeasuringSlices:
    """Measures slices; without ``skips`` it is done with a slice at what is no trace.

    A trace without an id is named by its content; where the name is taken, only who sees all slices can tell.
    """

    plan: EvaluationPlan
    skips: bool = False

    @property
    def ledger(self) -> UsageMeter:
        """Return what its remote models were asked, in this process."""
        return self.plan.ledger

    def __call__(self, piece: Slice) -> Packed:
        """Measure a slice, holding one block of traces at a time.

        Raises:
            InputError: the file is not what it was when it was cut.
        """
        refusals: list[Refusal] = []
        places: deque[tuple[int, bool, str]] = deque()
        rows = []
        for block in blocks_of(self._traces(piece, places, refusals)):
            for result in self.plan(block):
                number, own_id, key = places.popleft()
                rows.append(PartRow.of(result, key, number=number, own_id=own_id))
        return Packed(tuple(rows), tuple(refusals))

    def _traces(self, piece: Slice, places: deque[tuple[int, bool, str]], refusals: list[Refusal]) -> Iterator[Trace]:
        key_of = self.plan.key_of
        for found in read_slice(piece):
            if isinstance(found, Refusal):
                refusals.append(found if self.plan.redaction is None else found.redact(piece.file))
                if not self.skips:
                    return
                continue
            number, trace = found
            named = trace if trace.id is not None else trace.model_copy(update={"id": name_of(trace)})
            places.append((number, trace.id is not None, key_of(named)))
            yield named
