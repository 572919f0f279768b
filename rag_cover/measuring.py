"""What is measured of a block of traces, in as few model calls as the measures can do with, and the name of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rag_cover.backends import Failure, fingerprint_of
from rag_cover.belief import UtilityMeasure
from rag_cover.complexity import ComplexityMeasure
from rag_cover.coverage import CoverageMeasure, GroundednessMeasure
from rag_cover.engines import Block
from rag_cover.errors import EvaluationError, InvalidValueError, ModelFailedError, nearest
from rag_cover.results import RESULT_SCHEMA, Measure, ModelKind, NotApplicable, Outcome, TraceResult
from rag_cover.traces import Trace, content_hash

__all__ = [
    "MEASURES",
    "OnError",
    "blocks_of",
    "chosen_measures",
    "content_key",
    "judge_among",
    "kinds_asked",
    "measure_block",
    "surroundings",
]

OnError = Literal["record", "raise"]

MEASURES: Mapping[str, Callable[[], Measure]] = {
    "coverage": CoverageMeasure,
    "groundedness": GroundednessMeasure,
    "utility": UtilityMeasure,
    "complexity": ComplexityMeasure,
}
"""The measures that may be asked for by name."""

_OPTIONAL = ("locator", "relevance", "decomposer", "embedder", "abstention")
"""Models that a measure asks where there is one, and does without."""

BLOCK_TRACES = 32
BLOCK_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True)
class Unasked:
    """A measure that nobody asked for by name: where it has no receiver, a result does not speak of it at all.

    Everything else about it is the measure's own.
    """

    measured: Measure

    @property
    def name(self) -> str:
        """Return the measure's name."""
        return self.measured.name

    @property
    def required_inputs(self) -> tuple[str, ...]:
        """Name what a trace must carry."""
        return self.measured.required_inputs

    @property
    def required_models(self) -> tuple[ModelKind, ...]:
        """Name the models the measure asks."""
        return self.measured.required_models

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the measure's parameters."""
        return self.measured.parameters

    def lacks(self, trace: Trace) -> str | None:
        """Say why a trace cannot be measured."""
        return self.measured.lacks(trace)

    def measure(self, traces: Sequence[Trace], models: Mapping[ModelKind, Any]) -> Sequence[Outcome]:
        """Measure traces that lack nothing."""
        return self.measured.measure(traces, models)


def chosen_measures(measures: Sequence[str | Measure] | None) -> tuple[Measure, ...]:
    """Return the measures asked for, by name or as values; None is all that can be measured with what there is.

    Raises:
        InvalidValueError: an unknown name, no measure, or one asked for twice.
    """
    if isinstance(measures, str):
        message = f"measures is one text; give a list, if only of one: [{measures!r}]"
        raise InvalidValueError(message)
    chosen = [Unasked(make()) for make in MEASURES.values()] if measures is None else [_measure(each) for each in measures]
    names = [measure.name for measure in chosen]
    if not names or len(set(names)) < len(names):
        message = f"each measure may be asked for once, and one at least; asked for: {', '.join(names) or 'none'}"
        raise InvalidValueError(message)
    return tuple(chosen)


def _measure(measure: str | Measure) -> Measure:
    if not isinstance(measure, str):
        return measure
    if measure not in MEASURES:
        message = f"No measure is called {measure!r}.{nearest(measure, MEASURES)} There are: {', '.join(MEASURES)}."
        raise InvalidValueError(message)
    return MEASURES[measure]()


def kinds_asked(measures: Sequence[Measure]) -> list[ModelKind]:
    """List the kinds of models that measures ask, each once."""
    return list(dict.fromkeys(kind for measure in measures for kind in measure.required_models))


def judge_among(models: Mapping[ModelKind, Any]) -> str:
    """Name who judges: the scorer, or the entailer where none scores, by its fingerprint."""
    return fingerprint_of(models.get("scorer") or models.get("entailer"))


def content_key(measures: Sequence[Measure], models: Mapping[ModelKind, Any]) -> Callable[[Trace], str]:
    """Make the function that names a result by all it depends on: the trace, the measures, the models, the schema."""
    around = surroundings(measures, models)
    return lambda trace: content_hash({"trace": trace.to_dict(), **around})


def surroundings(measures: Sequence[Measure], models: Mapping[ModelKind, Any]) -> dict[str, Any]:
    """Tell as JSON data what results depend on beside their traces: the measures, the models, the schema."""
    return {
        "schema": RESULT_SCHEMA,
        "measures": {measure.name: dict(measure.parameters) for measure in measures},
        "models": {kind: fingerprint_of(model) for kind, model in models.items()},
    }


def blocks_of(traces: Iterable[Trace]) -> Iterator[Block]:
    """Cut a stream into blocks of at most 32 traces and, beyond the first trace, 2 million characters."""
    block: list[Trace] = []
    size = 0
    for trace in traces:
        length = _characters(trace)
        if block and (len(block) == BLOCK_TRACES or size + length > BLOCK_CHARACTERS):
            yield block
            block, size = [], 0
        block.append(trace)
        size += length
    if block:
        yield block


def _characters(trace: Trace) -> int:
    return len(trace.answer or "") + sum(len(passage.text) for step in trace.steps for passage in step.passages)


def measure_block(
    traces: Block,
    *,
    measures: Sequence[Measure],
    models: Mapping[ModelKind, Any],
    on_error: OnError = "record",
) -> list[TraceResult]:
    """Measure a block of traces with as few model calls as the measures can do with."""
    outcomes: list[dict[str, Outcome]] = [{} for _ in traces]
    for measure in measures:
        missing = [_missing_models(measure, models, trace) for trace in traces]
        reasons = [_reason(kinds) or measure.lacks(trace) for kinds, trace in zip(missing, traces, strict=True)]
        able = [index for index, reason in enumerate(reasons) if reason is None]
        measured = iter(_measured(measure, [traces[index] for index in able], models, on_error))
        for index, reason in enumerate(reasons):
            if reason is None:
                outcomes[index][measure.name] = next(measured)
            elif not (isinstance(measure, Unasked) and "receiver" in missing[index]):
                outcomes[index][measure.name] = NotApplicable(reason)
    return [TraceResult(trace, outcome) for trace, outcome in zip(traces, outcomes, strict=True)]


def _missing_models(measure: Measure, models: Mapping[ModelKind, Any], trace: Trace) -> list[ModelKind]:
    """List the models that a measure needs and does not have; samples in a trace stand in for their receiver."""
    spared = {*_OPTIONAL, "receiver"} if trace.samples else set(_OPTIONAL)
    return [kind for kind in measure.required_models if kind not in models and kind not in spared]


def _reason(missing: Sequence[ModelKind]) -> str | None:
    if "receiver" in missing:
        return "no receiver was named, and the trace has no recorded samples"
    return f"the judge offers no {missing[0]}, and none was named ({missing[0]}='embedded' has one)" if missing else None


def _measured(
    measure: Measure, traces: Sequence[Trace], models: Mapping[ModelKind, Any], on_error: OnError
) -> Sequence[Outcome]:
    """Measure together; where that fails, one by one, so that one trace's failure costs no other its result."""
    if not traces:
        return []
    try:
        outcomes = measure.measure(traces, models)
    except Exception as error:  # per item in evaluation: recorded below, or raised
        if on_error == "raise":
            message = f"{measure.name} failed: {error}"
            raise EvaluationError(message) from error
        if len(traces) > 1:
            return [outcome for trace in traces for outcome in _measured(measure, [trace], models, on_error)]
        return [_failure(error)]
    first = next((outcome for outcome in outcomes if isinstance(outcome, Failure)), None)
    if first and on_error == "raise":
        message = f"{measure.name} failed: {first.message}"
        raise EvaluationError(message)
    return outcomes


def _failure(error: Exception) -> Failure:
    if isinstance(error, ModelFailedError):
        return Failure.of(error)
    return Failure(type(error).__name__, str(error))
