"""Outcomes of measures without the texts that they were measured on."""

from __future__ import annotations

from collections.abc import Collection

from rag_cover.backends import Failure
from rag_cover.measures import NotApplicable, Outcome, TraceResult
from rag_cover.redaction.hashing import Redaction
from rag_cover.redaction.marked import Redactor, refuse_unmarked
from rag_cover.redaction.traces import passage_keys, redact_trace

__all__ = ["redact_failure", "redact_result"]


def redact_result(result: TraceResult, by: Redaction, *, plain_reasons: Collection[str] = ()) -> TraceResult:
    """Replace every text of a result by its hash; its numbers and verdicts stay.

    ``plain_reasons`` names the measures whose reasons for not measuring a trace are known to quote nothing of it, and stay.

    Raises:
        InvalidValueError: a result with a field that may hold a text and has no mark.
    """
    redactor = Redactor(by, question=result.trace.question.text, keys=passage_keys(result.trace, by))

    def redact(measure: str, outcome: Outcome) -> Outcome:
        match outcome:
            case NotApplicable(reason):
                return outcome if measure in plain_reasons else NotApplicable(by.text(reason))
            case Failure():
                return redactor.failure(outcome)
        refuse_unmarked(measure, type(outcome))
        return redactor.fields_of(outcome)

    outcomes = {name: redact(name, outcome) for name, outcome in result.outcomes.items()}
    return TraceResult(redact_trace(result.trace, by), outcomes)


def redact_failure(failure: Failure, by: Redaction) -> Failure:
    """Replace what a failure says, which may quote a text; its kind stays."""
    return Redactor(by).failure(failure)
