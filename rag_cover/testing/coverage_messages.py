"""What an assertion on an answer says where it fails: what is missing, by which verdict, where it was lost, and its passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_cover.backends import Failure
from rag_cover.coverage import CoverageResult, SubQuestionCoverage
from rag_cover.coverage.explanations import explain_loss
from rag_cover.grounding import GroundednessResult
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Passage, Role

__all__ = ["coverage_problem", "join_problems", "support_problem"]

_LONGEST = 240
_MOST_DIGITS = 17  # that tell any two floats apart


def coverage_problem(result: TraceResult, minimum: float) -> str | None:
    """Say why the share of core sub-questions that an answer covers is below a minimum; None where it is not.

    A share that is undefined is a problem.
    """
    coverage = result.coverage
    if coverage is None or coverage.core_coverage is None:
        return f"The coverage of the answer is undefined: {_undefined_reason(result, 'coverage')}.\n{_question_line(result)}"
    core = [each for each in coverage.sub_questions if each.role == Role.CORE and each.answer is not None]
    missing = [each for each in core if each.answer is not None and not each.answer.covered]
    if coverage.core_coverage >= minimum:
        return None
    noun = coverage.noun_of(Role.CORE)
    says = "states" if coverage.on_nuggets else "covers"
    digits = _digits_apart(100 * coverage.core_coverage, 100 * minimum, least=0)
    head = f"The answer {says} {len(core) - len(missing)} of {len(core)} {noun}s ({coverage.core_coverage:.{digits}%})"
    lines = [f"{head}; at least {minimum:.{digits}%} are required.", _question_line(result), _said(result)]
    for each in missing:
        lines += ["", *_missing_lines(each, coverage, result)]
    return "\n".join(lines)


def support_problem(result: TraceResult, most: int) -> str | None:
    """Say which sentences of an answer no passage supports, where there are more than ``most``; None where there are not.

    Sentences whose support is unknown are a problem.
    """
    found = result.groundedness
    if found is None:
        reason = _undefined_reason(result, "groundedness")
        return f"The support of the answer's sentences is undefined: {reason}.\n{_question_line(result)}"
    unsupported = [each for each in found.sentences if not each.supported]
    if len(unsupported) <= most:
        return None
    head = f"No passage supports {len(unsupported)} of the answer's {len(found.sentences)} sentences; at most {most} may be so."
    return "\n".join([head, _question_line(result), *_unsupported_lines(found, result.trace.answer or "")])


def _undefined_reason(result: TraceResult, measure: str) -> str:
    match result.outcomes.get(measure):
        case NotApplicable(reason):
            return reason.rstrip(".")
        case Failure(kind, message):
            return f"{message} ({kind})"
        case _:
            nothing = "there is no answer" if result.trace.answer is None else "none of its sub-questions is a core one"
            return f"{nothing}; give {'one' if result.trace.answer is None else 'sub_questions=[…]'}"


def _missing_lines(sub_question: SubQuestionCoverage, coverage: CoverageResult, result: TraceResult) -> Iterator[str]:
    verdict = sub_question.answer
    if verdict is None:
        return
    cut = coverage.threshold if coverage.reply_threshold is None else coverage.reply_threshold
    unsure = "" if verdict.certain else ", which is unsure"
    refused = "; the answer declines to answer it" if verdict.refused else ""
    yield f"  missing: {_cut(sub_question.text)}"
    yield f"    verdict: not covered, {_compare_with_cut(verdict.probability, cut)}{unsure}{refused}"
    if sub_question.loss is not None:
        unclear = "" if sub_question.is_loss_clear else " (unclear)"
        yield f"    lost: {explain_loss(sub_question)}{unclear}"
    if (passage := _answering_passage(sub_question, coverage, result)) is not None:
        yield f"    passage: {passage}"


def _compare_with_cut(probability: float, cut: float) -> str:
    """Say that a probability is below a cut, with as many digits as show it; one that is not is told alone.

    >>> _compare_with_cut(0.03, 0.5), _compare_with_cut(0.4996, 0.5), _compare_with_cut(0.7, 0.5)
    ('P = 0.03, below 0.50', 'P = 0.4996, below 0.5000', 'P = 0.70')
    """
    if probability >= cut:  # such as that of an answer that declines
        return f"P = {probability:.2f}"
    digits = _digits_apart(probability, cut, least=2)
    return f"P = {probability:.{digits}f}, below {cut:.{digits}f}"


def _digits_apart(lower: float, upper: float, *, least: int) -> int:
    """Return how many digits after the point show that one number is below another, at most 17."""
    return next((digits for digits in range(least, _MOST_DIGITS) if round(lower, digits) < round(upper, digits)), _MOST_DIGITS)


def _answering_passage(sub_question: SubQuestionCoverage, coverage: CoverageResult, result: TraceResult) -> str | None:
    """Quote the retrieved passage that likeliest covers a sub-question, of those that do."""
    passages = {passage.key: passage for passage in result.trace.chunks}
    covering = [
        (verdict.probability, key)
        for key, verdict in zip(coverage.chunk_keys, sub_question.chunks or (), strict=False)
        if verdict.covered and key in passages
    ]
    if not covering:
        return None
    probability, key = max(covering)
    return f"P = {probability:.2f}, {_quote_passage(passages[key])}"


def _unsupported_lines(found: GroundednessResult, answer: str) -> Iterator[str]:
    for each in found.sentences:
        if not each.supported:
            yield f"  {each.finding}: {_cut(answer[each.start : each.end])}"
            yield f"    verdict: P(supported) = {each.probability:.2f}"


def _question_line(result: TraceResult) -> str:
    return f"  question: {_cut(result.trace.question.text)}"


def _said(result: TraceResult) -> str:
    return f"  answer: {_cut(result.trace.answer or '')!r}"


def _quote_passage(passage: Passage) -> str:
    title = f"{_cut(passage.title)}: " if passage.title else ""
    return f"{title}{_cut(passage.text)!r}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def join_problems(problems: Sequence[str | None]) -> str | None:
    """Put several problems under each other; None without any."""
    return "\n\n".join(each for each in problems if each is not None) or None
