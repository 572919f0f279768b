"""What is measured of a block of traces, in as few model calls as the measures can do with, and the name of the result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast, get_args

from rag_cover.backends import Failure, fingerprint_of
from rag_cover.engines import Block
from rag_cover.errors import EvaluationError, InvalidValueError, ModelFailedError, TextTooLongError
from rag_cover.evaluation.languages import unread_language
from rag_cover.known_measures import DEFAULT_MEASURES, measure_named, own_measure_names
from rag_cover.measures import RESULT_SCHEMA, Measure, ModelKind, NotApplicable, Outcome, TraceResult
from rag_cover.traces import Trace, content_hash, content_of, describe_pipeline_failure

__all__ = [
    "LONGEST_TEXT",
    "DefaultMeasures",
    "OnFailure",
    "blocks_of",
    "content_key",
    "judge_among",
    "measure_block",
    "model_kinds",
    "reason_not_to_measure",
    "select_measures",
    "surroundings",
]

OnFailure = Literal["record", "raise"]

_MEMBERS = (
    "name",
    "version",
    "parameters",
    "required_inputs",
    "required_models",
    "optional_models",
    "result_type",
    "metrics",
    "not_applicable_reason",
    "measure",
    "score",
)
"""What every measure has."""
RESERVED = frozenset(
    (
        *("trace", "pipeline", "question", "sub_question", "role", "answered", "answer_probability", "retrieved", "in_prompt"),
        *("position", "loss", "rating", "is_complex", "answerable", "max_answer_probability"),
    )
)
"""Columns of the data frame that no measure may be called as."""
_OF_RESULTS = ("to_dict", "from_dict", "values")
"""What every result has."""

BLOCK_TRACES = 32
BLOCK_CHARACTERS = 2_000_000
LONGEST_TEXT = 1_000_000
"""How many characters a text may have that a model is asked about, where nothing else is said."""


class DefaultMeasures(tuple[Measure, ...]):
    """The measures of an evaluation that names none: what cannot be measured for want of a receiver is left out."""

    __slots__ = ()


def select_measures(measures: Sequence[str | Measure] | None) -> tuple[Measure, ...]:
    """Return the measures asked for, by name or as values; None: `DefaultMeasures`.

    Raises:
        InvalidValueError: an unknown name, no measure, one asked for twice, two with a metric of the same name, or one whose
            results could not be stored.
    """
    if isinstance(measures, str) or (measures is not None and not isinstance(measures, Iterable)):
        message = f"measures is {measures!r}; give a list, even of one: [{measures!r}]"
        raise InvalidValueError(message)
    asked: Sequence[str | Measure] = DEFAULT_MEASURES if measures is None else measures
    chosen = tuple(map(_measure, asked))
    names = [measure.name for measure in chosen]
    if not names or len(set(names)) < len(names):
        message = f"each measure may be asked for once, and one at least; asked for: {', '.join(names) or 'none'}"
        raise InvalidValueError(message)
    metrics = Counter(metric.name for measure in chosen for metric in measure.metrics)
    if twice := [name for name, count in metrics.items() if count > 1]:
        message = f"two of the measures {', '.join(names)} have a metric called {twice[0]!r}; give one of them another name"
        raise InvalidValueError(message)
    return DefaultMeasures(chosen) if measures is None or isinstance(measures, DefaultMeasures) else chosen


def _measure(asked: object) -> Measure:
    """Return the measure asked for; refuse what is none, and one whose results a store could not keep.

    That is known before anything is paid for.
    """
    if isinstance(asked, str):
        return measure_named(asked)
    if missing := [name for name in _MEMBERS if not hasattr(asked, name)]:
        message = (
            f"{asked!r} is no measure: it has no {', '.join(missing)} (rag_cover.Measure). rag_cover.measure_of makes one of a "
            "function."
        )
        raise InvalidValueError(message)
    measure = cast("Measure", asked)
    if missing := [name for name in _OF_RESULTS if not hasattr(measure.result_type, name)]:
        message = (
            f"The results of the measure {measure.name!r} cannot be stored: {measure.result_type.__name__} has no "
            f"{', '.join(missing)} (rag_cover.MeasureResult)."
        )
        raise InvalidValueError(message)
    _refuse_wrong(measure)
    return measure


def _refuse_wrong(measure: Measure) -> None:
    """Refuse a measure whose members cannot be used."""
    if isinstance(measure, type):
        problem = "it is a class; give an instance of it"
    elif measure.name in own_measure_names() and not isinstance(measure, type(measure_named(measure.name))):
        problem = "that is the name of one of the package's own measures; give yours another"
    elif measure.name in RESERVED:
        problem = "that is a column of the data frame; give it another name"
    elif wrong := [kind for kind in (*measure.required_models, *measure.optional_models) if kind not in get_args(ModelKind)]:
        problem = f"it asks for a model {wrong[0]!r}; models are a tuple of {', '.join(get_args(ModelKind))}"
    elif not _is_json(dict(measure.parameters)):
        problem = f"its parameters are no JSON data: {dict(measure.parameters)!r}"
    else:
        return
    message = f"The measure {measure.name!r} cannot be used: {problem}."
    raise InvalidValueError(message)


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def model_kinds(measures: Sequence[Measure]) -> list[ModelKind]:
    """List the kinds of models that measures ask, each once."""
    return list(dict.fromkeys(kind for each in measures for kind in (*each.required_models, *each.optional_models)))


def judge_among(models: Mapping[ModelKind, Any]) -> str:
    """Name who judges: the scorer, or the entailer where none scores, by its fingerprint."""
    judge = models.get("scorer") or models.get("entailer")
    return "none" if judge is None else fingerprint_of(judge)


def content_key(measures: Sequence[Measure], models: Mapping[ModelKind, Any]) -> Callable[[Trace], str]:
    """Make the function that names a result by all it depends on: the trace's content, the measures, the models, the schema."""
    around = surroundings(measures, models)
    return lambda trace: content_hash({"trace": content_of(trace), **around})


def surroundings(measures: Sequence[Measure], models: Mapping[ModelKind, Any]) -> dict[str, Any]:
    """Return as JSON data what results depend on besides their traces: measures, models, schema."""
    return {
        "schema": RESULT_SCHEMA,
        "measures": {measure.name: _version(measure) | dict(measure.parameters) for measure in measures},
        "models": {kind: fingerprint_of(model) for kind, model in models.items()},
    }


def _version(measure: Measure) -> dict[str, int]:
    return {} if measure.version == 1 else {"version": measure.version}


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
    on_error: OnFailure = "record",
    longest_text: int = LONGEST_TEXT,
) -> list[TraceResult]:
    """Measure a block of traces with as few model calls as the measures can do with.

    A result does not mention one of `DefaultMeasures` that has no receiver. No model reads a trace with a text of more than
    ``longest_text`` characters: that is a failure.
    """
    auto_selected = isinstance(measures, DefaultMeasures)
    outcomes: list[dict[str, Outcome]] = [{} for _ in traces]
    for measure in measures:
        missing = [_missing_models(measure, models, trace) for trace in traces]
        reasons = [
            _without_models(measure, trace, kinds, is_asked_for=not auto_selected)
            or reason_not_to_measure(measure, trace, models, on_error=on_error, longest_text=longest_text)
            for kinds, trace in zip(missing, traces, strict=True)
        ]
        able = [index for index, reason in enumerate(reasons) if reason is None]
        measured = iter(_measure_traces(measure, [traces[index] for index in able], models, on_error))
        for index, reason in enumerate(reasons):
            if reason is None:
                outcomes[index][measure.name] = next(measured)
            elif isinstance(reason, Failure):
                outcomes[index][measure.name] = reason
            elif not (auto_selected and "receiver" in missing[index]):
                outcomes[index][measure.name] = NotApplicable(reason)
    return [TraceResult(trace, outcome) for trace, outcome in zip(traces, outcomes, strict=True)]


def reason_not_to_measure(
    measure: Measure,
    trace: Trace,
    models: Mapping[ModelKind, Any],
    *,
    on_error: OnFailure = "record",
    longest_text: int = LONGEST_TEXT,
) -> str | Failure | None:
    """Return why a measure that has its models does not measure a trace; None where it does."""
    if (reason := _inapplicable(measure, trace, on_error)) is not None:
        return reason
    if measure.required_models and (too_long := _find_long_text(trace, longest_text)) is not None:
        if on_error == "raise":
            message = f"{measure.name} failed: {too_long}"
            raise EvaluationError(message) from too_long
        return _failure(too_long)
    return unread_language(measure, trace, models)


def _find_long_text(trace: Trace, longest: int) -> TextTooLongError | None:
    """Return the error about the first text that is too long for a model to read; None without such a text."""
    for name, text in _named_texts(trace):
        if len(text) > longest:
            return TextTooLongError(name, len(text), longest)
    return None


def _named_texts(trace: Trace) -> Iterator[tuple[str, str]]:
    yield "the question", trace.question.text
    yield "the answer", trace.answer or ""
    for reference in trace.question.references:
        yield "a reference", reference
    for each in trace.sub_questions or ():
        yield "a sub-question", each.text
    for number, step in enumerate(trace.steps):
        for place, passage in enumerate(step.passages):
            yield f"steps[{number}].passages[{place}]", passage.text
    for place, passage in enumerate(trace.prompt or ()):
        yield f"prompt[{place}]", passage.text


def _inapplicable(measure: Measure, trace: Trace, on_error: OnFailure) -> str | Failure | None:
    """Ask a measure whether it applies; what it raises is the failure of that trace.

    Where the pipeline failed, that is the reason.
    """
    try:
        reason = measure.not_applicable_reason(trace)
        return reason and (describe_pipeline_failure(trace) or reason)
    except Exception as error:  # per item in evaluation: recorded, or raised
        if on_error == "raise":
            message = f"{measure.name} failed: {error}"
            raise EvaluationError(message) from error
        return _failure(error)


def _missing_models(measure: Measure, models: Mapping[ModelKind, Any], trace: Trace) -> list[ModelKind]:
    """List the models that a measure needs and does not have; samples in a trace stand in for their receiver."""
    spared = "receiver" if trace.samples else None
    return [kind for kind in measure.required_models if kind not in models and kind != spared]


def _without_models(measure: Measure, trace: Trace, missing: Sequence[ModelKind], *, is_asked_for: bool) -> str | None:
    """Say which model is missing, and for a measure that was asked for what else the trace lacks; None where none is."""
    reason = _reason(missing)
    other = _inapplicable(measure, trace, "record") if reason is not None and is_asked_for else None
    return f"{reason}; {other}" if isinstance(other, str) else reason


def _reason(missing: Sequence[ModelKind]) -> str | None:
    if "receiver" in missing:
        return "no receiver was named, and the trace has no recorded samples"
    return f"the judge offers no {missing[0]}, and none was named; 'embedded' offers one" if missing else None


def _measure_traces(
    measure: Measure, traces: Sequence[Trace], models: Mapping[ModelKind, Any], on_error: OnFailure
) -> Sequence[Outcome]:
    """Measure together; where that fails, one by one, so that one trace's failure costs no other its result."""
    if not traces:
        return []
    try:
        outcomes = measure.measure(traces, models)
        _refuse_wrong_results(measure, outcomes, len(traces))
    except Exception as error:  # per item in evaluation: recorded below, or raised
        if on_error == "raise":
            message = f"{measure.name} failed: {error}"
            raise EvaluationError(message) from error
        if len(traces) > 1:
            return [outcome for trace in traces for outcome in _measure_traces(measure, [trace], models, on_error)]
        return [_failure(error)]
    first = next((outcome for outcome in outcomes if isinstance(outcome, Failure)), None)
    if first and on_error == "raise":
        message = f"{measure.name} failed: {first.message}"
        raise EvaluationError(message)
    return outcomes


def _refuse_wrong_results(measure: Measure, outcomes: Sequence[Outcome], count: int) -> None:
    """Refuse results that are not one for each trace, or of another type than the measure says."""
    if len(outcomes) != count:
        message = f"{measure.name} returned {len(outcomes)} results for {count} traces; it must return one for each, in order"
        raise InvalidValueError(message)
    for outcome in outcomes:
        if not isinstance(outcome, measure.result_type | NotApplicable | Failure):
            expected = measure.result_type.__name__
            message = f"{measure.name} returned a {type(outcome).__name__}; results are {expected}, NotApplicable or Failure"
            raise InvalidValueError(message)


def _failure(error: Exception) -> Failure:
    if isinstance(error, ModelFailedError):
        return Failure.of(error)
    return Failure(type(error).__name__, str(error))
