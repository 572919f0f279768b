"""What is said of a result as it becomes known: to the log."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

from rag_cover.questions import Role
from rag_cover.results import CoverageResult, TraceResult, TraceUtility

__all__ = ["LOG", "FailureLog", "log_result"]

LOG = logging.getLogger("rag_cover.recording")
_WIDTH = 80


class FailureLog:
    """Warns of what went wrong in recording: of what goes wrong again and again the first, tenth, hundredth time and so on."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str]] = Counter()

    def warn(self, error: BaseException, where: str) -> None:
        """Write a line, unless it would be one of many alike."""
        kind = type(error).__name__
        self._times[where, kind] += 1
        times = self._times[where, kind]
        if str(times).rstrip("0") == "1":
            LOG.warning("%s: %s: %s%s", where, kind, error, f" ({times} times by now)" if times > 1 else "")


def log_result(result: TraceResult) -> None:
    """Write a line for each retrieval step, one for the coverage, and one for each measure that failed."""
    if not LOG.isEnabledFor(logging.INFO):
        return
    for line in _lines(result):
        LOG.info("%s", line)
    for name, failure in result.failures.items():
        LOG.warning("%s of %s failed: %s", name, _short(result.trace.question.text), failure.message)


def _lines(result: TraceResult) -> Iterator[str]:
    if result.utility is not None:
        yield from _worths(result.utility)
    if result.coverage is not None:
        yield _covered(result.trace.question.text, result.coverage)


def _worths(utility: TraceUtility) -> Iterator[str]:
    towards = "the gold answer" if utility.references == "gold" else "its own answer"
    for step in utility.steps:
        yield f"ΔSePer {step.marginal.value:+.2f} toward {towards}: {step.kind} {step.step!r} for {_short(step.query)}"


def _covered(question: str, coverage: CoverageResult) -> str:
    core = [each for each in coverage.sub_questions if each.role == Role.CORE and each.answer is not None]
    covered = sum(each.answer is not None and each.answer.covered for each in core)
    lost = [f"{_short(each.text)} ({each.loss})" for each in coverage.lost]
    said = f"coverage {covered} of {len(core)} core sub-questions of {_short(question)}"
    return f"{said}; lost: {', '.join(lost)}" if lost else said


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= _WIDTH else f"{flat[:_WIDTH]}…")
