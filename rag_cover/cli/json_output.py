"""What commands write for programs, as JSON data, and the pages of reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag_cover.backends import Failure
from rag_cover.belief import PassageUtility, StepUtility, TraceUtility, Utility
from rag_cover.complexity import description_of
from rag_cover.coverage.summary import CascadeUse
from rag_cover.errors import StoreError
from rag_cover.llm.usage import Price, Usage, UsageReport
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.stats.intervals import Interval
from rag_cover.summaries import Comparison, JudgeError, Summary

__all__ = [
    "comparison_document",
    "complexity_document",
    "labels_document",
    "spending_document",
    "summary_document",
    "utility_document",
    "write_page",
]


def summary_document(summary: Summary) -> dict[str, Any]:
    """Write a summary as JSON data; an undefined figure is null, with its reason beside it."""
    metrics: dict[str, Any] = {
        name: _interval(metric.interval)
        | ({"undefined_because": metric.undefined_because} if metric.interval is None else {})
        | ({"with_judge_error": _interval(metric.with_judge_error)} if metric.with_judge_error else {})
        for name, metric in summary.metrics.items()
    }
    return {
        "traces": summary.traces,
        "questions": summary.questions,
        "pipelines": list(summary.pipelines),
        "judge": summary.judge,
        "metrics": metrics,
        "scenarios": {role: asdict(cells) for role, cells in summary.scenarios.items()},
        "losses": _plain(summary.losses),
        "unclear_losses": summary.unclear_losses,
        "judge_error": _judge_error(summary.judge_error),
        "outcomes": {name: asdict(counts) for name, counts in summary.outcomes.items()},
        "notes": list(summary.notes),
        **({"utility": asdict(summary.utility)} if summary.utility else {}),
        **({"complexity": asdict(summary.complexity)} if summary.complexity else {}),
        **({"labels": asdict(summary.labels)} if summary.labels else {}),
        **({"answers": asdict(summary.answers)} if summary.answers else {}),
        **({"nuggets": asdict(summary.nuggets)} if summary.nuggets else {}),
        **({"corpus": asdict(summary.corpus)} if summary.corpus else {}),
        **({"cascade": _cascade(summary.cascade)} if summary.cascade else {}),
        **({"single_sub_questions": single} if (single := summary.single_sub_questions) is not None else {}),
    }


def utility_document(result: TraceResult) -> dict[str, Any]:
    """Write what a trace's steps were worth as JSON data, without the sampled answers; where that is not known, why."""
    about = {"trace": result.trace.id, "question": result.trace.question.text, "pipeline": result.trace.pipeline}
    match result.outcomes.get("utility"):
        case TraceUtility() as utility:
            return about | {
                "prior": utility.prior.score,
                "posterior": utility.total.posterior.score,
                "total": _worth(utility.total),
                "steps": [_step(step) for step in utility.steps],
                "receiver": utility.receiver,
                "references": utility.references,
                "kind": utility.kind,
                "preset": utility.preset,
                "samples": utility.samples,
                "approximations": list(utility.approximations),
            }
        case NotApplicable(reason):
            return about | {"not_applicable": reason}
        case Failure(kind, message):
            return about | {"failed": f"{kind}: {message}"}
        case _:
            return about


def complexity_document(result: TraceResult) -> dict[str, Any]:
    """Write how hard a question is as JSON data, and what each passage says of it; where that is not known, why."""
    found = result.complexity
    documents = [
        {"passage": each.passage, "answer_probability": each.answer_probability, "entropy": each.entropy}
        for each in (found.documents if found else ())
    ]
    about = {"trace": result.trace.id, "question": result.trace.question.text, "pipeline": result.trace.pipeline}
    return about | dict(description_of(result)) | ({"documents": documents} if found else {})


def spending_document(spending: UsageReport, prices: Mapping[str, Price]) -> dict[str, Any]:
    """Write what remote models were asked as JSON data; a cost that cannot be known is null, with its reason beside it."""
    rows = [_usage(usage, prices) for usage in spending.usage]
    return {"usage": rows, **_cost(spending.cost(prices)), "notes": list(spending.notes)}


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Write a comparison as JSON data; differences are b - a."""
    metrics = {
        name: {"a": _interval(metric.a), "b": _interval(metric.b), "difference": metric.difference, "p_value": metric.p_value}
        | {"interval": _interval(metric.interval)}
        | ({"with_judge_error": _interval(metric.with_judge_error)} if metric.with_judge_error else {})
        for name, metric in comparison.metrics.items()
    }
    return {
        "a": comparison.name_a,
        "b": comparison.name_b,
        "questions": comparison.questions,
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "metrics": metrics,
        "losses_a": _plain(comparison.losses_a),
        "losses_b": _plain(comparison.losses_b),
        "unclear_a": comparison.unclear_a,
        "unclear_b": comparison.unclear_b,
        "changed": [asdict(change) for change in comparison.changed],
        "notes": list(comparison.notes),
        **labels_document(comparison),
    }


def labels_document(comparison: Comparison) -> dict[str, Any]:
    """Write what became of people's labels on both sides as JSON data; nothing where none were given."""
    sides = {"a": comparison.labels_a, "b": comparison.labels_b}
    found = {side: asdict(labels) for side, labels in sides.items() if labels}
    return {"labels": found} if found else {}


def _cascade(use: CascadeUse) -> dict[str, Any]:
    return {**asdict(use.counts), "share_asked": use.share_asked, "agreement": _interval(use.agreement)}


def _judge_error(error: JudgeError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    known = error.agreement
    return {
        "agreement": known.agreed / known.labels,
        "labels": known.labels,
        "own_labels": error.own_labels,
        "all_labelled": error.all_labelled,
        "losses": {loss: _interval(interval) for loss, interval in error.losses.items()},
    }


def write_page(path: Path, write: Callable[[], None]) -> None:
    """Write a report.

    Raises:
        StoreError: the file cannot be written.
    """
    try:
        write()
    except OSError as denied:
        if isinstance(denied, StoreError):
            raise
        message = f"The report {path} cannot be written ({denied.strerror or denied}); check the folder and its permissions."
        raise StoreError(message) from denied


def _step(step: StepUtility) -> dict[str, Any]:
    passages = [{"passage": each.passage} | _worth(each) for each in step.passages]
    return {
        "step": step.step,
        "kind": step.kind,
        "marginal": _worth(step.marginal),
        "alone": _worth(step.alone) if step.alone else None,
    } | ({"passages": passages} if passages else {})


def _worth(utility: Utility | PassageUtility) -> dict[str, Any]:
    interval = utility.interval
    bounds = (interval.lower, interval.upper) if interval else (None, None)
    return {"value": utility.value, "lower": bounds[0], "upper": bounds[1]}


def _usage(usage: Usage, prices: Mapping[str, Price]) -> dict[str, Any]:
    counted = asdict(usage) if usage.tokens_told else asdict(usage) | {"prompt_tokens": None, "completion_tokens": None}
    return {**counted, **_cost(usage.cost(prices))}


def _cost(cost: float | None) -> dict[str, Any]:
    return {"cost": cost} | ({"unknown_because": "a price or a count of tokens is not known"} if cost is None else {})


def _interval(interval: Interval | None) -> dict[str, Any]:
    if interval is None:
        return {"estimate": None, "lower": None, "upper": None, "n": None}
    return {"estimate": interval.estimate, "lower": interval.lower, "upper": interval.upper, "n": interval.n}


def _plain(counts: Mapping[Any, int]) -> dict[str, int]:
    return {str(name): count for name, count in counts.items()}
