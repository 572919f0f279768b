"""What is said of a result as it becomes known, and of what went wrong: to the log, and to whoever listens."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator

from rag_cover.backends import Failure
from rag_cover.belief import TraceUtility
from rag_cover.coverage import CoverageResult
from rag_cover.errors import StoreError
from rag_cover.measures import TraceResult
from rag_cover.plugin_manager import notify_plugins
from rag_cover.questions import Role
from rag_cover.recording.telemetry import emit
from rag_cover.redaction import Redaction, redact_failure

__all__ = ["LOG", "FailureLog", "log_result", "notify"]

LOG = logging.getLogger("rag_cover.recording")
_WIDTH = 80


class FailureLog:
    """Warns of what went wrong in recording: of what goes wrong again and again the first, tenth, hundredth time and so on.

    With a redaction, what an error says is redacted, unless it is of a store, and so quotes no text.
    """

    def __init__(self, redaction: Redaction | None = None) -> None:
        self._redaction = redaction
        self._times: Counter[tuple[str, str]] = Counter()

    def warn(self, error: BaseException, where: str) -> Failure:
        """Write a line, unless it would be one of many alike, and return what it says."""
        kind = type(error).__name__
        failure = Failure(kind, str(error))
        if self._redaction and not isinstance(error, StoreError):
            failure = redact_failure(failure, self._redaction)
        self._times[where, kind] += 1
        times = self._times[where, kind]
        if str(times).rstrip("0") == "1":
            LOG.warning("%s: %s: %s%s", where, kind, failure.message, f" ({times} times by now)" if times > 1 else "")
        return Failure(kind, f"{where}: {failure.message}")


def notify(
    result: TraceResult,
    on_result: Callable[[TraceResult], object] | None,
    fail: Callable[[Exception, str], object],
) -> None:
    """Tell the log, plugins, OpenTelemetry and ``on_result`` of a result; where one of them breaks, the others hear of it."""
    for tell in (log_result, notify_plugins, emit, on_result):
        if tell is not None:
            try:
                tell(result)
            except Exception as error:  # noqa: BLE001  # somebody else's code, and the handlers' boundary: recorded
                fail(error, "telling of a result")


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
        yield _describe_coverage(result.trace.question.text, result.coverage)


def _worths(utility: TraceUtility) -> Iterator[str]:
    towards = "the gold answer" if utility.references == "gold" else "its own answer"
    for step in utility.steps:
        yield f"ΔSePer {step.marginal.value:+.2f} toward {towards}: {step.kind} {step.step!r} for {_short(step.query)}"


def _describe_coverage(question: str, coverage: CoverageResult) -> str:
    core = [each for each in coverage.sub_questions if each.role == Role.CORE and each.answer is not None]
    covered = sum(each.answer is not None and each.answer.covered for each in core)
    lost = [f"{_short(each.text)} ({each.loss if each.is_loss_clear else 'unclear where'})" for each in coverage.unanswered]
    said = f"coverage {covered} of {len(core)} {coverage.noun_of(Role.CORE)}s of {_short(question)}"
    return f"{said}; not answered: {', '.join(lost)}" if lost else said


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= _WIDTH else f"{flat[:_WIDTH]}…")
