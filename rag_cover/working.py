"""The block function of an evaluation: what is measured by which models, in this process or in another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_cover.accounting import Ledger
from rag_cover.clocks import RunClock
from rag_cover.engines import Block
from rag_cover.measuring import OnError, chosen_measures, content_key, judge_among, kinds_asked, measure_block
from rag_cover.registry import Models
from rag_cover.remote import RemoteRun, ResponseCache, bound
from rag_cover.results import Measure, ModelKind, TraceResult
from rag_cover.traces import Trace

__all__ = ["Measuring"]


@dataclass(frozen=True, slots=True)
class Measuring:
    """Measures blocks of traces (`rag_cover.engines.BlockFunction`), with models opened once.

    Pickled, it is its measures and the names of its models: it opens them where it arrives, with a ledger of its own there
    and as much time as the run has left.
    """

    measures: tuple[Measure, ...]
    chosen: Models
    run: RemoteRun
    on_error: OnError = "record"
    models: Mapping[ModelKind, Any] = field(init=False)

    def __post_init__(self) -> None:
        """Open the models."""
        opened = self.chosen.open(kinds_asked(self.measures))
        object.__setattr__(self, "models", bound(opened, self.run))

    @classmethod
    def of(cls, measures: Sequence[str | Measure] | None, models: Models, run: RemoteRun, *, on_error: OnError) -> Measuring:
        """Choose the measures, by name or as values, and open the models."""
        return cls(chosen_measures(measures), models, run, on_error)

    def __call__(self, traces: Block) -> list[TraceResult]:
        """Measure a block of traces."""
        return measure_block(traces, measures=self.measures, models=self.models, on_error=self.on_error)

    @property
    def ledger(self) -> Ledger:
        """Return what its remote models were asked, in this process."""
        return self.run.ledger

    @property
    def names(self) -> tuple[str, ...]:
        """Name the measures."""
        return tuple(measure.name for measure in self.measures)

    @property
    def judge(self) -> str:
        """Name who judges, by its fingerprint."""
        return judge_among(self.models)

    @property
    def key_of(self) -> Callable[[Trace], str]:
        """Return the function that names a trace's result by all that it depends on."""
        return content_key(self.measures, self.models)

    def __reduce__(self) -> tuple[Callable[..., Measuring], tuple[object, ...]]:
        """Travel as what it was made from."""
        return _opened, (self.measures, self.chosen, self.on_error, self.run.cache, self.run.clock.remaining_s())


def _opened(
    measures: tuple[Measure, ...], models: Models, on_error: OnError, cache: ResponseCache | None, deadline_s: float | None
) -> Measuring:
    return Measuring(measures, models, RemoteRun(cache, clock=RunClock(deadline_s)), on_error)
