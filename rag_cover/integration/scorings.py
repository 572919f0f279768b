"""How evaluators score: what a trace must have, which measure is applied, and how its result becomes a score or a reason.

Every framework's evaluators score by these; they call no model themselves (`rag_cover.integration.scored_traces` does).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self, TypeVar

from rag_cover.argument_checks import refuse_outside, without_none
from rag_cover.backends import Failure
from rag_cover.belief import ReferenceSource, TraceUtility, UtilityMeasure
from rag_cover.complexity import Complexity, ComplexityMeasure
from rag_cover.coverage import CoverageMeasure, CoverageResult, GroundednessMeasure
from rag_cover.errors import InvalidValueError
from rag_cover.evaluation.blocks import select_measures
from rag_cover.grounding import GroundednessResult
from rag_cover.integration.feedback import (
    feedback_on_complexity,
    feedback_on_coverage,
    feedback_on_groundedness,
    feedback_on_rating,
    feedback_on_utility,
)
from rag_cover.integration.inputs import Terms
from rag_cover.measures import Measure, MeasureResult
from rag_cover.traces import Trace

__all__ = [
    "ComplexityScoring",
    "CoverageScoring",
    "GroundednessScoring",
    "MeasureScoring",
    "RatingScoring",
    "Scored",
    "Scoring",
    "UtilityScoring",
]

Measured_contra = TypeVar("Measured_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of one trace, or with ``invalid_reason`` why there is none.

    ``measured`` is the whole result of the measure; it may be present without a score. ``failure`` is the error of what failed;
    None where an input was missing. ``trace`` is None where none could be made. ``judge`` names the model that judged.
    """

    trace: Trace | None = None
    measured: MeasureResult | None = None
    score: float | None = None
    passing: bool | None = None
    feedback: str | None = None
    invalid_reason: str | None = None
    failure: Failure | None = None
    judge: str | None = None


class Scoring(Protocol[Measured_contra]):
    """How one kind of evaluator scores a trace."""

    @property
    def measure(self) -> Measure:
        """Return the measure, as it was given."""
        ...

    def lacking(self, trace: Trace, terms: Terms) -> Sequence[str]:
        """List what a trace lacks and how to give it; empty where it can be measured."""
        ...

    def measure_for(self, trace: Trace) -> Measure:
        """Choose the measure for a trace that lacks nothing."""
        ...

    def read(self, measured: Measured_contra, trace: Trace) -> Scored:
        """Return the score that a result stands for, whether it passes and what it says in words, or why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class MeasureScoring:
    """Score by any measure: by the number that it says stands for its result (`rag_cover.Measure.score`)."""

    measure: Measure
    fail_under: float | None = None

    @classmethod
    def of(cls, measure: str | Measure, fail_under: float | None = None) -> Self:
        """Choose the measure, by name or as a value.

        Raises:
            InvalidValueError: there is none of this name, or it is no measure; ``fail_under`` is no number.
        """
        if fail_under is not None and not isinstance(fail_under, int | float):
            message = f"fail_under is {fail_under!r}; it is a number, or None"
            raise InvalidValueError(message)
        return cls(select_measures([measure])[0], fail_under)

    def lacking(self, trace: Trace, terms: Terms) -> Sequence[str]:  # noqa: ARG002  # the measure says so itself
        """Return nothing: the measure itself reports what a trace lacks."""
        return ()

    def measure_for(self, trace: Trace) -> Measure:  # noqa: ARG002  # the same for all
        """Return the measure."""
        return self.measure

    def read(self, measured: MeasureResult, trace: Trace) -> Scored:  # noqa: ARG002  # needs no more
        """Return the measure's own score."""
        score = self.measure.score(measured)
        if score.value is None:
            reason = score.reason or f"{self.measure.name} is undefined for this trace"
            return Scored(measured=measured, invalid_reason=reason)
        return _at_least(self.fail_under, score.value, measured, score.reason)


@dataclass(frozen=True, slots=True)
class CoverageScoring:
    """Score by the share of core sub-questions that the answer covers, in [0, 1] (coverage paper, metric #1).

    Undefined where none is core. Needs an answer.

    Raises:
        InvalidValueError: ``fail_under``, below which a score does not pass, lies outside [0, 1].
    """

    measure: CoverageMeasure = field(default_factory=CoverageMeasure)
    fail_under: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit out of range."""
        refuse_outside(0, 1, **without_none(fail_under=self.fail_under))

    def lacking(self, trace: Trace, terms: Terms) -> Sequence[str]:
        """List what a trace lacks."""
        return _no_answer(trace, terms)

    def measure_for(self, trace: Trace) -> CoverageMeasure:  # noqa: ARG002  # the same for all
        """Return the measure."""
        return self.measure

    def read(self, measured: CoverageResult, trace: Trace) -> Scored:  # noqa: ARG002  # needs no more
        """Return the share of core sub-questions that are covered."""
        score = measured.core_coverage
        if score is None:
            count = len(measured.sub_questions)
            reason = f"none of its {count} sub-questions is core; give some: sub_questions=[SubQuestion(…, role='core')]"
            if measured.on_nuggets:
                reason = f"none of its {count} nuggets is vital; give some: nuggets=[Nugget(…, importance='vital')]"
            return Scored(measured=measured, invalid_reason=reason)
        return _at_least(self.fail_under, score, measured, feedback_on_coverage(measured))


@dataclass(frozen=True, slots=True)
class RatingScoring:
    """Score by the rating: the weighted coverage of core, background and follow-up sub-questions (coverage paper, §4.3, §5).

    With the paper's weights (1, 0.5, -1) it lies in [-1, 1.5]. Undefined where no sub-question has a role. Needs an answer.

    Raises:
        InvalidValueError: ``fail_under`` lies outside what the measure's weights can give.
    """

    measure: CoverageMeasure = field(default_factory=CoverageMeasure)
    fail_under: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit out of range."""
        weights = self.measure.weights.values()
        lowest, highest = sum(min(weight, 0) for weight in weights), sum(max(weight, 0) for weight in weights)
        refuse_outside(lowest, highest, **without_none(fail_under=self.fail_under))

    def lacking(self, trace: Trace, terms: Terms) -> Sequence[str]:
        """List what a trace lacks."""
        return _no_answer(trace, terms)

    def measure_for(self, trace: Trace) -> CoverageMeasure:  # noqa: ARG002  # the same for all
        """Return the measure."""
        return self.measure

    def read(self, measured: CoverageResult, trace: Trace) -> Scored:  # noqa: ARG002  # needs no more
        """Return the rating."""
        if measured.rating is None:
            count = len(measured.sub_questions)
            reason = f"none of its {count} sub-questions has a role; give some: sub_questions=[SubQuestion(…, role='core')]"
            if measured.on_nuggets:
                reason = f"none of its {count} nuggets has an importance; give some: nuggets=[Nugget(…, importance='vital')]"
            return Scored(measured=measured, invalid_reason=reason)
        feedback = feedback_on_rating(measured, self.measure.weights)
        return _at_least(self.fail_under, measured.rating, measured, feedback)


@dataclass(frozen=True, slots=True)
class GroundednessScoring:
    """Score by the share of the answer's sentences that some passage entails, in [0, 1].

    Undefined for an answer that claims nothing. Needs an answer and contexts.

    Raises:
        InvalidValueError: ``fail_under`` lies outside [0, 1].
    """

    measure: GroundednessMeasure = field(default_factory=GroundednessMeasure)
    fail_under: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit out of range."""
        refuse_outside(0, 1, **without_none(fail_under=self.fail_under))

    def lacking(self, trace: Trace, terms: Terms) -> Sequence[str]:
        """List what a trace lacks."""
        return [*_no_answer(trace, terms), *_no_contexts(trace, terms)]

    def measure_for(self, trace: Trace) -> GroundednessMeasure:  # noqa: ARG002  # the same for all
        """Return the measure."""
        return self.measure

    def read(self, measured: GroundednessResult, trace: Trace) -> Scored:
        """Return the share of sentences that are supported."""
        if measured.share is None:
            return Scored(measured=measured, invalid_reason="the answer has no sentence that claims anything")
        return _at_least(self.fail_under, measured.share, measured, feedback_on_groundedness(measured, trace))


@dataclass(frozen=True, slots=True)
class UtilityScoring:
    """Score by how far all retrieval steps together moved a receiver's belief (ΔSePer), in [-1, 1]; below 0 they did harm.

    Needs contexts, and gold answers. ``references`` ``"gold"`` or ``"answer"`` takes nothing else; with None the answer itself
    stands in where there are no gold answers, which tells self-consistency and not correctness.

    Raises:
        InvalidValueError: ``fail_under`` lies outside [-1, 1], or ``references`` is no source of references.
    """

    measure: UtilityMeasure = field(default_factory=UtilityMeasure)
    references: ReferenceSource | None = None
    fail_under: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit out of range; let a measure that holds beliefs against the answer do so."""
        if self.references is None and self.measure.references == "answer":
            object.__setattr__(self, "references", "answer")
        object.__setattr__(self, "measure", replace(self.measure, references=self.references or "gold"))
        refuse_outside(-1, 1, **without_none(fail_under=self.fail_under))

    def lacking(self, trace: Trace, terms: Terms) -> Sequence[str]:
        """List what a trace lacks: contexts, or the references that beliefs are measured against."""
        gold, answer = bool(trace.question.references), trace.answer is not None
        match self.references:
            case "gold" if not gold:
                lacking = [f"there is no gold answer; give {terms.give_gold}"]
            case "answer" if not answer:
                lacking = [f"there is no {terms.answer} to hold beliefs against; give {terms.give_answer}"]
            case None if not gold and not answer:
                stand_in = f"no {terms.answer} to stand in for it"
                lacking = [f"there is no gold answer, and {stand_in}; give {terms.give_either}"]
            case _:
                lacking = []
        return [*_no_contexts(trace, terms), *lacking]

    def measure_for(self, trace: Trace) -> UtilityMeasure:
        """Return the measure, which holds beliefs against the answer where that stands in for gold answers."""
        if self.references is None and not trace.question.references:
            return replace(self.measure, references="answer")
        return self.measure

    def read(self, measured: TraceUtility, trace: Trace) -> Scored:  # noqa: ARG002  # needs no more
        """Return the utility of all retrieval steps together."""
        return _at_least(self.fail_under, measured.total.value, measured, feedback_on_utility(measured))


@dataclass(frozen=True, slots=True)
class ComplexityScoring:
    """Score by how complex a question is for what was retrieved (RRCP), in [0, 1]: **lower is easier**.

    It is P(complex) where that was fitted for the judge, else 1 - P(the best passage answers). Undefined where nothing was
    retrieved. Needs contexts.

    Raises:
        InvalidValueError: ``fail_over``, above which a score does not pass, lies outside [0, 1].
    """

    measure: ComplexityMeasure = field(default_factory=ComplexityMeasure)
    fail_over: float | None = None

    def __post_init__(self) -> None:
        """Refuse a limit out of range."""
        refuse_outside(0, 1, **without_none(fail_over=self.fail_over))

    def lacking(self, trace: Trace, terms: Terms) -> Sequence[str]:
        """List what a trace lacks."""
        return _no_contexts(trace, terms)

    def measure_for(self, trace: Trace) -> ComplexityMeasure:  # noqa: ARG002  # the same for all
        """Return the measure."""
        return self.measure

    def read(self, measured: Complexity, trace: Trace) -> Scored:  # noqa: ARG002  # needs no more
        """Return how complex the question is."""
        if measured.max_answer_probability is None:
            reason = "nothing was retrieved by which the complexity of the question could be judged"
            return Scored(measured=measured, invalid_reason=reason)
        fitted = measured.probability
        score = 1 - measured.max_answer_probability if fitted is None else fitted
        passing = None if self.fail_over is None else score <= self.fail_over
        return Scored(measured=measured, score=score, passing=passing, feedback=feedback_on_complexity(measured))


def _at_least(limit: float | None, score: float, measured: MeasureResult, feedback: str) -> Scored:
    return Scored(measured=measured, score=score, passing=None if limit is None else score >= limit, feedback=feedback)


def _no_answer(trace: Trace, terms: Terms) -> Sequence[str]:
    return [f"there is no {terms.answer}; give {terms.give_answer}"] if trace.answer is None else []


def _no_contexts(trace: Trace, terms: Terms) -> Sequence[str]:
    there = bool(trace.steps) or trace.prompt is not None
    return [] if there else [f"there are no contexts; give {terms.give_contexts}"]
