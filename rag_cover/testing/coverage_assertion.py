"""Asserts in a test that an answer covers its core sub-questions, and that passages support its sentences.

An `AssertionObserver` gives defaults and is shown every answer that was checked: `rag_cover.pytest_plugin` is one, while pytest
runs. Without one, an assertion leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Protocol

from rag_cover.argument_checks import refuse_below, refuse_one_text, refuse_outside, without_none
from rag_cover.backends import CalibrationShift, Mode, Scorer
from rag_cover.errors import InvalidValueError, ModelFailedError, nearest
from rag_cover.evaluation import evaluate
from rag_cover.measures import TraceResult
from rag_cover.nuggets import Importance, Nugget
from rag_cover.questions import Role, SubQuestion
from rag_cover.registry import Models
from rag_cover.testing.answer_traces import trace_of_answer
from rag_cover.testing.coverage_messages import coverage_problem, join_problems, support_problem
from rag_cover.traces import Trace

__all__ = ["AssertionObserver", "CheckedAnswer", "Requirements", "assert_covers", "observe_assertions"]

_ALL = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """What an answer must do; what is None is not given.

    ``min_core_coverage`` is the least share of core sub-questions that it covers, ``max_unsupported`` how many of its sentences
    no passage need support. ``sub_questions`` take the place of the trace's own, a text alone being a core one; ``nuggets`` are
    statements that it makes, a text alone being vital, in the place of sub-questions.
    """

    sub_questions: Sequence[str | SubQuestion] | None = None
    nuggets: Sequence[str | Nugget] | None = None
    min_core_coverage: float | None = None
    max_unsupported: int | None = None
    judge: str | Scorer | None = None

    def __post_init__(self) -> None:
        """Refuse what no answer can do, and one text where several are meant."""
        refuse_one_text(sub_questions=self.sub_questions, nuggets=self.nuggets)
        refuse_outside(0, 1, **without_none(min_core_coverage=self.min_core_coverage))
        refuse_below(0, **without_none(max_unsupported=self.max_unsupported))
        if self.sub_questions is not None and self.nuggets is not None:
            message = "with nuggets no sub-questions are used; leave sub_questions or nuggets out"
            raise InvalidValueError(message)

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Requirements:
        """Read requirements by name, as a marker gives them.

        Raises:
            InvalidValueError: there is no such requirement, or it asks for what no answer can do.
        """
        known = [each.name for each in fields(cls)]
        if unknown := [name for name in given if name not in known]:
            named = " or ".join(map(repr, unknown))
            message = f"an answer has no requirement {named}.{nearest(unknown[0], known)} There are: {', '.join(known)}."
            raise InvalidValueError(message)
        return cls(**given)  # type: ignore[arg-type]  # checked above, and when they are used

    def over(self, defaults: Requirements) -> Requirements:
        """Take what is not given here from defaults; nuggets and sub-questions take each other's place."""
        given = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}
        units = {"sub_questions", "nuggets"}
        others = {
            each.name: value
            for each in fields(self)
            if (value := getattr(defaults, each.name)) is not None and not (each.name in units and units & {*given})
        }
        return Requirements.of(others | given)


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer that was held against its requirements: what was measured, by whom, and why it failed, None where it did not.

    ``shifts`` tell how far the judge's probabilities lie off on labelled sets (`CalibrationShift`).
    """

    result: TraceResult
    judge: str
    problem: str | None
    shifts: Mapping[Mode, CalibrationShift] = field(default_factory=dict)


class AssertionObserver(Protocol):
    """Gives assertions their defaults, and is shown what they checked."""

    def defaults(self) -> Requirements:
        """Return what holds where an assertion does not say otherwise."""
        ...

    def open_judge(self) -> Scorer | None:
        """Open the judge that is asked where neither an assertion nor the defaults name one; None: the embedded one."""
        ...

    def observe(self, checked: CheckedAnswer) -> None:
        """Take note of an answer that was checked."""
        ...


_observers: list[AssertionObserver] = []


@contextmanager
def observe_assertions(observer: AssertionObserver) -> Iterator[None]:
    """Show every assertion of the process to an observer; of several the last one gives the defaults."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


def assert_covers(
    answer: object,
    *,
    question: str | None = None,
    contexts: Sequence[object] | None = None,
    sub_questions: Sequence[str | SubQuestion] | None = None,
    nuggets: Sequence[str | Nugget] | None = None,
    min_core_coverage: float | None = None,
    max_unsupported: int | None = None,
    judge: str | Scorer | None = None,
) -> TraceResult:
    """Assert that an answer covers its core sub-questions; return what was measured.

    >>> from rag_cover.testing import KeywordScorer
    >>> answer = {"question": "Why is the sky blue?", "answer": "The sky is blue since air scatters blue light."}
    >>> assert_covers(answer, sub_questions=["Why is the sky blue?"], judge=KeywordScorer()).coverage.core_coverage
    1.0

    Args:
        answer: a trace, a dict with a question and an answer, a response of LlamaIndex, a result of a LangChain chain, a
            recording of one question, a LangSmith run, or the answer's text.
        question: what was asked, where the answer does not say it: a response of LlamaIndex, a text.
        contexts: the passages that the answer was written from, where it does not bring them.
        sub_questions: what a full answer addresses, a text alone being a core sub-question; None: those of the trace, else
            those that rules make of the question.
        nuggets: statements that a full answer makes, a text alone being vital, in the place of sub-questions.
        min_core_coverage: the least share of core sub-questions that the answer covers, in [0, 1]; None: all of them.
        max_unsupported: how many sentences of the answer may be supported by no passage; None: that is not asked.
        judge: the judge, or its name; None: the embedded one, or that of the test session.

    Raises:
        AssertionError: the answer covers less, or more of its sentences are unsupported, or that is undefined.
        InputError: the answer cannot be read, or lacks its question.
        InvalidValueError: a requirement that no answer can meet.
        ModelFailedError: the judge failed.
    """
    __tracebackhide__ = True
    asked = Requirements(
        sub_questions=sub_questions,
        nuggets=nuggets,
        min_core_coverage=min_core_coverage,
        max_unsupported=max_unsupported,
        judge=judge,
    )
    needed = _add_defaults(asked, _observers[-1]) if _observers else asked
    checked = _check(_with_units(trace_of_answer(answer, question, contexts), needed), needed)
    for observer in _observers:
        observer.observe(checked)
    if checked.problem is not None:
        raise AssertionError(checked.problem)
    return checked.result


def _add_defaults(asked: Requirements, observer: AssertionObserver) -> Requirements:
    needed = asked.over(observer.defaults())
    return needed if needed.judge is not None else replace(needed, judge=observer.open_judge())


def _with_units(trace: Trace, needed: Requirements) -> Trace:
    """Put the sub-questions or nuggets that are asked for in the place of the trace's own."""
    if needed.nuggets is not None:
        vital = (Nugget(each, importance=Importance.VITAL) if isinstance(each, str) else each for each in needed.nuggets)
        return Trace.model_validate(dict(trace) | {"nuggets": tuple(vital), "sub_questions": None})
    if needed.sub_questions is None:
        return trace
    units = [SubQuestion(each, role=Role.CORE) if isinstance(each, str) else each for each in needed.sub_questions]
    return Trace.model_validate(dict(trace) | {"sub_questions": tuple(units), "nuggets": None})


def _check(trace: Trace, needed: Requirements) -> CheckedAnswer:
    measures = ["coverage"] if needed.max_unsupported is None else ["coverage", "groundedness"]
    models = Models(judge="embedded" if needed.judge is None else needed.judge)
    run = evaluate([trace], measures=measures, models=models, workers=1)
    result = run.results[0]
    for failure in result.failures.values():
        raise ModelFailedError(failure.message, attempts=failure.attempts, kind=failure.kind, raw=failure.raw)
    minimum = _ALL if needed.min_core_coverage is None else needed.min_core_coverage
    support = None if needed.max_unsupported is None else support_problem(result, needed.max_unsupported)
    return CheckedAnswer(result, run.judge, join_problems([coverage_problem(result, minimum), support]), run.shifts)
