"""Evaluation results in words: what an answer left out and where it was lost, and what each retrieval step contributed."""

from __future__ import annotations

from collections.abc import Mapping

from rag_cover.belief import TraceUtility, Utility
from rag_cover.complexity import Complexity, standing_of
from rag_cover.coverage import CoverageResult, SubQuestionCoverage
from rag_cover.coverage.explanations import explain_loss
from rag_cover.coverage.notes import declines_in_words
from rag_cover.grounding import GroundednessResult
from rag_cover.questions import Role
from rag_cover.reports.text import format_count
from rag_cover.traces import Trace

__all__ = [
    "core_of",
    "feedback_on_complexity",
    "feedback_on_coverage",
    "feedback_on_groundedness",
    "feedback_on_rating",
    "feedback_on_utility",
]


def core_of(result: CoverageResult) -> tuple[SubQuestionCoverage, ...]:
    """Return the core sub-questions that were compared with an answer."""
    return tuple(each for each in result.sub_questions if each.role == Role.CORE and each.answer is not None)


def feedback_on_coverage(result: CoverageResult) -> str:
    """Describe how many core sub-questions an answer covers, which it does not, and where each of those was lost."""
    core = core_of(result)
    lost = [each for each in core if each.answer is not None and not each.answer.covered]
    lines = [f"The answer covers {len(core) - len(lost)} of {format_count(len(core), result.noun_of(Role.CORE))}."]
    lines += [f"Lost: {each.text} ({_place(each)})" for each in lost]
    return "\n".join([*lines, *_declines(result), *_makers(result)])


def feedback_on_rating(result: CoverageResult, weights: Mapping[Role, float]) -> str:
    """Describe a rating: how many sub-questions of each role the answer covers, and the points for covering all of them."""
    roles = [role for role in Role if _verdicts_of_role(result, role)]
    parts = [f"{_describe_coverage(result, role)} (all: {weights.get(role, 0.0):+g})" for role in roles]
    return "\n".join([f"The answer covers {', '.join(parts)}.", *_declines(result), *_makers(result)])


def feedback_on_utility(result: TraceUtility) -> str:
    """Describe how far the passages moved the belief in a right answer, in total and step by step."""
    total = result.total
    beliefs = f"{result.receiver} believed {total.prior.score:.2f}, then {total.posterior.score:.2f}"
    lines = [f"ΔSePer {_describe_change(total)}: {beliefs}."]
    lines += [f"{step.step} ({step.kind}: {step.query}): {_describe_change(step.marginal)}" for step in result.steps]
    if result.references == "answer":
        lines.append("Measured against the answer itself: self-consistency, not correctness.")
    return "\n".join(lines)


def feedback_on_complexity(result: Complexity) -> str:
    """Describe how complex a question is for what was retrieved, with the figures behind it and the basis of its score."""
    best = f"the best passage answers with probability {result.max_answer_probability or 0.0:.2f}"
    lines = [f"{standing_of(result).capitalize()}: {best} (one answers from {result.t_ans:.2f}), and {_completeness(result)}."]
    if result.probability is None:
        lines.append("No P(complex) was fitted for this judge: the score is how little the best passage answers.")
    else:
        lines.append(
            f"The score is P(complex) = {result.probability:.2f}, fitted: how likely one passage is not enough. Thresholds of "
            "their own decide between answerable, complex and unanswerable, so that the two may differ."
        )
    return "\n".join([*lines, *(f"Note: {note}." for note in result.notes)])


def feedback_on_groundedness(result: GroundednessResult, trace: Trace) -> str:
    """Describe how many sentences of an answer its passages support, and which they do not."""
    lost = [each for each in result.sentences if not each.supported]
    count = len(result.sentences)
    lines = [f"The passages support {count - len(lost)} of {format_count(count, 'sentence')}."]
    lines += [f"Not supported: {(trace.answer or '')[each.start : each.end].strip()}" for each in lost]
    return "\n".join(lines)


def _place(lost: SubQuestionCoverage) -> str:
    """Describe where a sub-question was lost; an unsure loss has no place."""
    if lost.loss is None:
        return "where is not known: no contexts were given"
    return explain_loss(lost) if lost.is_loss_clear else "unclear where: the judge is not sure"


def _declines(result: CoverageResult) -> list[str]:
    said = declines_in_words(result)
    return [f"{said[0].upper()}{said[1:]}."] if said else []


def _makers(result: CoverageResult) -> list[str]:
    made = result.decomposed_by != "given"
    return [f"Sub-questions made by {result.decomposed_by.removeprefix('model:')}."] if made else []


def _verdicts_of_role(result: CoverageResult, role: Role) -> list[bool]:
    return [each.answer.covered for each in result.sub_questions if each.role == role and each.answer is not None]


def _describe_coverage(result: CoverageResult, role: Role) -> str:
    covered = _verdicts_of_role(result, role)
    return f"{sum(covered)} of {format_count(len(covered), result.noun_of(role))}"


def _completeness(result: Complexity) -> str:
    if result.completeness is None:
        return "whether they are about all of the question is not known"
    return f"they are about {result.completeness:.2f} of the question (all of it from {result.t_com:.2f})"


def _describe_change(utility: Utility) -> str:
    interval = utility.interval
    if interval is None or interval.lower is None or interval.upper is None:
        return f"{utility.value:+.2f}"
    return f"{utility.value:+.2f} (95% {interval.lower:+.2f} to {interval.upper:+.2f})"
