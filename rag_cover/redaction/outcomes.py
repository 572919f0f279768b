"""What was measured of a trace, without the texts that it was measured of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache

from rag_cover.backends import Failure
from rag_cover.belief import Belief, StepUtility, TraceUtility, Utility
from rag_cover.complexity import Complexity, DocumentEvidence
from rag_cover.coverage import CoverageResult
from rag_cover.measures import NotApplicable, Outcome, TraceResult
from rag_cover.redaction.hashing import Redaction
from rag_cover.redaction.marked import redacted_fields, refuse_unmarked
from rag_cover.redaction.traces import passage_keys, redacted_trace

__all__ = ["redacted_failure", "redacted_result"]


def redacted_result(result: TraceResult, by: Redaction, *, plain_reasons: Collection[str] = ()) -> TraceResult:
    """Replace every text of a result; its numbers and verdicts stay.

    ``plain_reasons`` names the measures whose reasons for not measuring a trace are known to quote nothing of it, and stay.

    Raises:
        InvalidValueError: an outcome of a kind that is not known here, which may hold any text.
    """
    redactor = _Outcomes(by, result.trace.question.text, passage_keys(result.trace, by))
    outcomes = {
        name: outcome if isinstance(outcome, NotApplicable) and name in plain_reasons else redactor.outcome(name, outcome)
        for name, outcome in result.outcomes.items()
    }
    return TraceResult(redacted_trace(result.trace, by), outcomes)


def redacted_failure(failure: Failure, by: Redaction) -> Failure:
    """Replace what a failure says, which may quote a text; its kind stays."""
    raw = None if failure.raw is None else by.text(failure.raw)
    return replace(failure, message=by.text(failure.message), raw=raw)


@dataclass(frozen=True)
class _Outcomes:
    """Redacts the outcomes of one trace; ``keys`` are those of its passages, by what they were."""

    by: Redaction
    question: str
    keys: Mapping[str, str]

    def outcome(self, measure: str, outcome: Outcome) -> Outcome:
        match outcome:
            case NotApplicable(reason):
                return NotApplicable(self.by.text(reason))
            case Failure():
                return redacted_failure(outcome, self.by)
            case CoverageResult():
                return self.coverage(outcome)
            case Complexity():
                return self.complexity(outcome)
            case TraceUtility():
                return self.utility(outcome)
        refuse_unmarked(measure, type(outcome))
        return redacted_fields(outcome, self.by)

    def coverage(self, found: CoverageResult) -> CoverageResult:
        asked = tuple(replace(each, text=self.by.text(each.text)) for each in found.sub_questions)
        return replace(found, sub_questions=asked, chunk_keys=tuple(map(self.key, found.chunk_keys)))

    def complexity(self, found: Complexity) -> Complexity:
        tokens = tuple(self.token(place, token) for place, token in enumerate(found.tokens))
        return replace(
            found, tokens=tokens, documents=tuple(map(self.document, found.documents)), notes=self.by.texts(found.notes)
        )

    def token(self, place: int, token: str) -> str:
        """Hash a token with its place and its question: by itself it would be guessed at once, and the question with it."""
        return self.by.identifier(f"{place}\n{token}\n{self.question}") if token.strip() else token

    def document(self, found: DocumentEvidence) -> DocumentEvidence:
        failure = None if found.failure is None else redacted_failure(found.failure, self.by)
        return replace(found, passage=self.key(found.passage), failure=failure)

    def utility(self, found: TraceUtility) -> TraceUtility:
        belief = cache(self.belief)  # each is in many places

        def worth(utility: Utility) -> Utility:
            return replace(utility, prior=belief(utility.prior), posterior=belief(utility.posterior))

        def step(each: StepUtility) -> StepUtility:
            return replace(
                each,
                step=self.by.step(each.step),
                query=self.by.text(each.query),
                alone=None if each.alone is None else worth(each.alone),
                marginal=worth(each.marginal),
                passages=tuple(replace(passage, passage=self.key(passage.passage)) for passage in each.passages),
            )

        return replace(found, prior=belief(found.prior), steps=tuple(map(step, found.steps)), total=worth(found.total))

    def belief(self, belief: Belief) -> Belief:
        return replace(belief, answers=tuple(replace(each, text=self.by.text(each.text)) for each in belief.answers))

    def key(self, key: str) -> str:
        return self.keys.get(key) or self.by.identifier(key)
