"""Questions of one conversation stand together in the report, in the order in which they were asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rag_cover.measures import TraceResult
from rag_cover.reports import write_report
from rag_cover.summaries import Summary

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def turn(result: TraceResult, thread: str | None, minute: int, asked: str | None = None) -> TraceResult:
    """Make a result one of a conversation's turn."""
    steps = tuple(step.model_copy(update={"started_at": NOON + timedelta(minutes=minute)}) for step in result.trace.steps)
    said = {} if asked is None else {"asked": asked}
    question = result.trace.question.model_copy(update={"text": f"Question {minute}?"})
    trace = result.trace.model_copy(update={"thread_id": thread, "steps": steps, "metadata": said, "question": question})
    return replace(result, trace=trace)


def page(results: list[TraceResult], summary: Summary, path: Path) -> str:
    write_report(path / "report.html", results, summary)
    return (path / "report.html").read_text(encoding="utf-8")


def test_turns_stand_together_in_the_order_in_which_they_were_asked(
    results: list[TraceResult], summary: Summary, tmp_path: Path
) -> None:
    one = results[1]

    written = page([turn(one, "chat <7>", 5, "And then?"), turn(one, None, 1), turn(one, "chat <7>", 2)], summary, tmp_path)

    section = written.partition('id="conversations"')[2].partition('id="questions"')[0]
    assert "One conversation" in section
    assert "chat &lt;7&gt;" in section
    assert section.index("Question 2?") < section.index("Question 5?")
    assert "said as: " in section
    assert "And then?" in section
    assert "Question 1?" not in section
    assert '<a href="#conversations">' in written


def test_a_report_without_conversations_has_no_section_of_them(
    results: list[TraceResult], summary: Summary, tmp_path: Path
) -> None:
    assert 'id="conversations"' not in page([turn(results[1], "alone", 1), turn(results[1], None, 2)], summary, tmp_path)
