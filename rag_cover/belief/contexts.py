"""What a receiver must be shown to tell what a trace's steps were worth, and which of it the trace has samples of.

The context after step k is `Trace.contexts`. A step's marginal utility is over the context before it; alone, its passages are
set against no passages at all. Left out one by one, a passage is missed in the context after its step; added one by one, it is
set against no passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.belief.result import Attribution
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace, distinct

__all__ = ["Context", "ContextKey", "PassageContexts", "StepContexts", "TraceContexts", "contexts_of", "key_of", "read_samples"]

Context = tuple[Passage, ...]
ContextKey = tuple[tuple[str, str], ...]
"""What tells contexts apart: the titles and texts that a receiver reads, in their order."""


@dataclass(frozen=True, slots=True)
class PassageContexts:
    """What a passage (its `Passage.key`) is measured between."""

    passage: str
    prior: Context
    posterior: Context


@dataclass(frozen=True, slots=True)
class StepContexts:
    """What a step is measured between; ``alone`` is None for a step without passages."""

    step: RetrievalStep
    before: Context
    after: Context
    alone: Context | None
    passages: tuple[PassageContexts, ...]


@dataclass(frozen=True, slots=True)
class TraceContexts:
    """All that a trace's steps are measured between; the first of it is no passages."""

    steps: tuple[StepContexts, ...]

    @property
    def final(self) -> Context:
        """Return the context after the last step."""
        return self.steps[-1].after if self.steps else ()

    def contexts_required(self) -> dict[ContextKey, str]:
        """Name the contexts without which utility is undefined: the empty one, and those after each step."""
        named = {key_of(step.after): f"after {step.step.id!r}" for step in reversed(self.steps)}
        return {**named, (): "without passages"}

    def comparisons(self) -> Iterator[tuple[ContextKey, ContextKey]]:
        """List what is compared with what: (prior, posterior), the whole way first."""
        yield (), key_of(self.final)
        for step in self.steps:
            yield key_of(step.before), key_of(step.after)
            if step.alone is not None:
                yield (), key_of(step.alone)
            for passage in step.passages:
                yield key_of(passage.prior), key_of(passage.posterior)

    def distinct(self) -> dict[ContextKey, Context]:
        """Return every context once, in the order of the steps."""
        return {key_of(context): context for context in self._all()}

    def _all(self) -> Iterator[Context]:
        yield ()
        for step in self.steps:
            yield step.after
            if step.alone is not None:
                yield step.alone
            for passage in step.passages:
                yield from (passage.prior, passage.posterior)


def key_of(context: Context) -> ContextKey:
    """Build a context's key of what a receiver reads: the same passage by id may have been shortened by a filter."""
    return tuple((passage.title or "", passage.text) for passage in context)


def contexts_of(trace: Trace, per_passage: Attribution | None = None) -> TraceContexts:
    """List what the trace's steps, and their passages where asked for, are measured between."""
    after = trace.contexts()
    before = ((), *after)
    return TraceContexts(
        tuple(
            StepContexts(
                step=step,
                before=before[position],
                after=after[position],
                alone=distinct(step.passages) or None,
                passages=_attribute_passages(distinct(step.passages), after[position], per_passage),
            )
            for position, step in enumerate(trace.steps)
        )
    )


def _attribute_passages(
    passages: Sequence[Passage], after: Context, per_passage: Attribution | None
) -> tuple[PassageContexts, ...]:
    match per_passage:
        case "leave-one-out":
            return tuple(PassageContexts(passage.key, _without(after, passage.key), after) for passage in passages)
        case "add-one-in":
            return tuple(PassageContexts(passage.key, (), (passage,)) for passage in passages)
        case None:
            return ()


def read_samples(trace: Trace, n: int) -> Mapping[str, dict[ContextKey, tuple[Sample, ...]]]:
    """Read the trace's recorded samples, by receiver and context; of each context the first n.

    Raises:
        InvalidValueError: a set that names a step or passage that the trace does not have.
    """
    found: dict[str, dict[ContextKey, tuple[Sample, ...]]] = {}
    after = trace.contexts()
    for position, samples in enumerate(trace.samples):
        key = key_of(_context_of(trace, after, samples, position))
        if not samples.samples:
            continue
        of_receiver = found.setdefault(samples.receiver, {})
        of_receiver[key] = (*of_receiver.get(key, ()), *samples.samples)[:n]
    return found


def _context_of(trace: Trace, after: Sequence[Context], samples: SampleSet, position: int) -> Context:
    if samples.context == "none":
        return ()
    index = _step_index(trace, samples, position)
    shown = distinct(trace.steps[index].passages)
    if samples.context == "after":
        return after[index]
    if samples.context == "alone" and samples.passage is None:
        return shown
    passage = _find_passage(shown, samples.passage, position)
    return (passage,) if samples.context == "alone" else _without(after[index], passage.key)


def _step_index(trace: Trace, samples: SampleSet, position: int) -> int:
    """Find the step that samples are of; without a name it is the last."""
    ids = [step.id for step in trace.steps]
    if not ids or (samples.step is not None and samples.step not in ids):
        known = ", ".join(map(repr, ids)) or "none"
        message = f"samples[{position}].step: no step is called {samples.step!r}; the trace's steps are: {known}"
        raise InvalidValueError(message)
    return len(ids) - 1 if samples.step is None else ids.index(samples.step)


def _find_passage(passages: Sequence[Passage], name: str | None, position: int) -> Passage:
    for passage in passages:
        if name is not None and name in (passage.key, passage.id):
            return passage
    message = f"samples[{position}].passage: the step has no passage {name!r}; name one by its id, or by its key"
    raise InvalidValueError(message)


def _without(context: Context, key: str) -> Context:
    return tuple(passage for passage in context if passage.key != key)
