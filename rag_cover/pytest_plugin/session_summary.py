"""What is printed of a test session's answers: their core coverage with its interval, and the worst of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_cover.pytest_plugin.session import TestedAnswer
from rag_cover.reports.text import SHARE, format_count, interval_label, judge_error_sentence, percent
from rag_cover.summaries import JudgeKnowledge, MetricValue, Summary, summarise

__all__ = ["summary_lines"]

_WORST = 5
_LONGEST = 100


def summary_lines(answers: Sequence[TestedAnswer]) -> list[str]:
    """Sum up the answers of a session: how many, their core coverage and groundedness, and the worst."""
    judges = list(dict.fromkeys(each.checked.judge for each in answers))
    known = JudgeKnowledge.of(answers[0].checked.shifts) if len(judges) == 1 else JudgeKnowledge()
    results = [each.checked.result for each in answers]
    summary = summarise(results, judge=", ".join(judges), known_of_judge=known)
    failed = sum(each.checked.problem is not None for each in answers)
    head = f"{format_count(len(answers), 'answer')} to {format_count(summary.questions, 'question')}, {failed} failed"
    by = f"judged by {', '.join(judges)}"
    return [f"{head}; {by}", *_figures(summary), *_worst(answers)]


def _figures(summary: Summary) -> Iterator[str]:
    for name in ("core_coverage", "groundedness"):
        metric = summary.metrics.get(name)
        if metric is not None and metric.interval is not None:
            yield _figure(metric)
    if said := judge_error_sentence(summary):
        yield said


def _figure(metric: MetricValue) -> str:
    interval = metric.interval
    if interval is None:
        return f"{metric.label}: undefined ({metric.undefined_because})"
    return f"{metric.label}: {percent(interval.estimate)} ({interval_label(interval, SHARE)})"


def _worst(answers: Sequence[TestedAnswer]) -> Iterator[str]:
    """List the answers that cover least, where they leave something out."""
    found = [(share, each) for each in answers if (share := _share(each)) is not None and share < 1]
    if not found:
        return
    yield "The worst:"
    for share, each in sorted(found, key=lambda pair: pair[0])[:_WORST]:
        question = " ".join(each.checked.result.trace.question.text.split())
        cut = question if len(question) <= _LONGEST else f"{question[: _LONGEST - 1]}…"
        yield f"  {percent(share):>4}  {each.test}  {cut}"


def _share(answer: TestedAnswer) -> float | None:
    coverage = answer.checked.result.coverage
    return None if coverage is None else coverage.core_coverage
