"""Where the results of whole files go: a folder of parts, which cuts, keeps order and ids, and writes; workers do the rest.

A part is named after its place, the bytes of its slice and all else that its results depend on. A run is gone on with by
measuring the slices whose parts are not there: whenever a run was killed, nothing is lost but what was being measured, and
nothing is there twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rag_cover.errors import InputError, StoreError
from rag_cover.evaluation.blocks import surroundings
from rag_cover.evaluation.files.ordering import Settling, place_rows
from rag_cover.evaluation.files.slice_reader import Refusal
from rag_cover.evaluation.files.slice_task import Packed
from rag_cover.evaluation.files.slices import FileCut, Slice, cut_file
from rag_cover.evaluation.loop import Progress, Watcher
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.evaluation.run import Evaluation
from rag_cover.importers.formats import is_parquet
from rag_cover.llm.usage import UsageReport
from rag_cover.plugin_manager import notify_plugins, plugins
from rag_cover.redaction import redact_problem, redaction_entry, refuse_other_redaction
from rag_cover.stores.folders import ResultFolder
from rag_cover.stores.jsonl import Skipped, no_traces_in
from rag_cover.stores.parts import PartFormat, PartRow, read_part, write_part
from rag_cover.traces import SCHEMA, content_hash

__all__ = ["PartSink"]


@dataclass(frozen=True, slots=True)
class _Due:
    """A slice whose turn comes, and its part; ``kept`` tells whether that is there already, ``packed`` whether its file was."""

    piece: Slice
    part: str
    kept: bool
    packed: bool


@dataclass(slots=True)
class PartSink:
    """Keeps the results of the slices of all files in a folder of parts (`rag_cover.evaluation.loop.ResultSink`)."""

    folder: ResultFolder
    paths: Sequence[Path]
    plan: EvaluationPlan
    judge: str
    format: PartFormat
    part_bytes: int
    skipped: Skipped | None = None
    seed: int = 0
    progress: Watcher | None = None
    spent: UsageReport = field(default_factory=UsageReport)
    settling: Settling = field(init=False)
    due: deque[_Due] = field(default_factory=deque)
    parts: set[str] = field(default_factory=set)
    found: set[Path] = field(default_factory=set)
    failed: int = 0
    resumed: int = 0

    def __post_init__(self) -> None:
        """Number the results from the first on."""
        self.settling = Settling(self.plan.redaction)

    def begin(self, *, resume: bool) -> None:
        """Write the manifest of the run; with ``resume=False`` delete existing parts first.

        Raises:
            StoreError: what is to be gone on with was redacted in another way.
        """
        about = self.folder.about
        if about and resume:
            refuse_other_redaction(about["evaluation"], self.plan.redaction, self.folder.path)
            self.spent = UsageReport.from_dict(about["spending"])
        self._tell(finished=False)
        if not resume:
            self.folder.remove_all_but(())

    def missing(self) -> Iterator[Slice]:
        """Yield the slices whose parts are not there, or hold a failure."""
        around = content_hash({"trace": SCHEMA, **surroundings(self.plan.measures, self.plan.models)})
        for number, path in enumerate(self.paths):
            for each in self._cut(path, number):
                part = self._part_of(each.slice, around)
                kept = self._keeps(part)
                piece = each.slice if kept else self._within_reach(each)
                self.due.append(_Due(piece, part, kept, packed=each.unpacked is not None))
                if not kept:
                    yield piece

    def write(self, measured: Packed, spent: UsageReport) -> None:
        """Put a slice's results in their place, after the parts before it that are there already."""
        self.spent += spent
        self._settle_kept()
        self._settle(self.due.popleft(), measured)
        self._settle_kept()
        if spent:
            self._tell(finished=False)

    def break_off(self, spent: UsageReport) -> None:
        """Keep what was spent, and remove what was unpacked."""
        self.spent += spent
        with suppress(StoreError):  # what was unpacked is removed all the same
            self._tell(finished=False)
        self.folder.remove_unpacked()

    def finish(self, spent: UsageReport) -> None:
        """Remove what earlier runs left, and mark the results as whole.

        Raises:
            InputError: a file holds no traces.
        """
        self.spent += spent
        self._settle_kept()
        for path in self.paths:
            if path not in self.found:
                raise no_traces_in(path)
        self.folder.remove_all_but(self.parts)
        self._tell(finished=True)

    @property
    def evaluation(self) -> Evaluation:
        """Open the results."""
        plan = self.plan
        results = self.folder.results(plan.measures)
        return Evaluation(results, self.judge, plan.names, self.seed, self.spent, plan.measures, plan.shifts)

    def _cut(self, path: Path, number: int) -> Iterator[FileCut]:
        try:
            yield from cut_file(path, number, part_bytes=self.part_bytes)
        except InputError as wrong:
            if self.plan.redaction and is_parquet(path):  # of which the names of columns may be quoted
                raise redact_problem(wrong) from None
            raise

    def _part_of(self, piece: Slice, around: str) -> str:
        depends, redaction = content_hash([piece.digest, piece.first, piece.table, around]), self.plan.redaction
        key = depends if redaction is None else redaction.content_key(depends)
        return f"part-{piece.name}-{key[:16]}.{self.format}"

    def _keeps(self, part: str) -> bool:
        """A part that left out a repeated id is measured again: the line that gave it first may be another now."""
        return self.folder.holds(part) and not any(each.repeated for each in self._list_left_out(part))

    def _list_left_out(self, part: str) -> list[Refusal]:
        return [Refusal.from_dict(each) for each in self.folder.read_skipped(part)]

    def _within_reach(self, each: FileCut) -> Slice:
        """Lay what was unpacked where the workers can read it: slices themselves are small, however many are under way."""
        if each.unpacked is None:
            return each.slice
        return replace(each.slice, source=self.folder.unpack(each.slice.name, each.unpacked), start=0)

    def _settle_kept(self) -> None:
        while self.due and self.due[0].kept:
            due = self.due.popleft()
            rows = tuple(read_part(self.folder.path / due.part, results=False))
            self.resumed += len(rows)
            self._settle(due, Packed(rows, tuple(self._list_left_out(due.part))))

    def _settle(self, due: _Due, packed: Packed) -> None:
        """Put a slice's rows in their places, and write them, where they are not written already."""
        piece, path = due.piece, self.folder.path / due.part
        settled = self.settling.settle(piece, packed.rows)
        refusals = sorted((*packed.refusals, *settled.repeated), key=lambda refusal: refusal.number)
        self._tell_of(refusals, piece.file)
        if not due.kept or settled.moved:
            rows = tuple(read_part(path)) if due.kept else packed.rows
            self._write(due, place_rows(rows, settled), refusals)
        if packed.rows or packed.refusals:
            self.found.add(piece.file)
        self.parts.add(due.part)
        if due.packed and not due.kept:
            with suppress(OSError):  # what cannot be removed now is told at the end
                piece.source.unlink()
        if self.progress:
            self.progress(Progress(self.settling.ordinal, None, self.failed, self.resumed))

    def _write(self, due: _Due, rows: Sequence[PartRow], refusals: Sequence[Refusal]) -> None:
        self.folder.keep_skipped(due.part, [refusal.to_dict() for refusal in refusals])
        write_part(self.folder.path / due.part, rows)
        self.failed += sum(row.failed for row in rows)
        if plugins().hook.on_result.get_hookimpls() and not due.kept:
            for row in rows:
                notify_plugins(row.unpack())

    def _tell_of(self, refusals: Sequence[Refusal], file: Path) -> None:
        """Hand over what is no trace, or stop at the first."""
        for refusal in refusals:
            error: InputError = refusal.error(file)
            if self.skipped is None:
                raise error
            self.skipped(error)

    def _tell(self, *, finished: bool) -> None:
        redacted = redaction_entry(self.plan.redaction)
        about: dict[str, Any] = {
            "evaluation": {**self.plan.judged_by, "measures": self.plan.names, "seed": self.seed, **redacted},
            "finished": finished,
            "spending": self.spent.to_dict(),
        }
        self.folder.tell(about)
