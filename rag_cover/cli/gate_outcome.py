"""How a gate ended, for people and for machines: a headline with the cause, JUnit XML, Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET  # nosec B405  # which writes here, and reads nothing

from rag_cover.coverage import Loss
from rag_cover.coverage.summary import AnswerCounts
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import format_count
from rag_cover.summaries import ChangedQuestion, Comparison

__all__ = ["MARKER", "GateOutcome", "GateRow", "find_cause"]

MARKER = "<!-- rag_cover gate -->"
"""The first line of the Markdown: who posts it again finds the comment by it, and replaces it."""
_LINES = 40
_QUESTION = 160
_TENTH = 10
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~@:>-])")


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate: the option that set it, why it failed, None where it holds, and what a failure would have taken.

    ``weak`` marks a gate that so few questions cannot fail.
    """

    option: str
    problem: str | None
    note: str = ""
    weak: bool = False


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """All gates of one comparison; ``flaky`` are questions that differ between two runs of the baseline."""

    rows: tuple[GateRow, ...]
    comparison: Comparison
    cause: str | None
    flaky: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether all gates hold."""
        return all(row.problem is None for row in self.rows)

    @property
    def headline(self) -> str:
        """Return one line: what failed, and why."""
        failed = [row.problem for row in self.rows if row.problem is not None]
        if not failed:
            weak = sum(row.weak for row in self.rows)
            unable = f"; too few questions to fail {'it' if weak == len(self.rows) == 1 else f'{weak} of them'}" if weak else ""
            return f"Gate passed: {format_count(len(self.rows), 'gate')}, {self._questions_held}{unable}."
        because = f"Cause: {self.cause}. " if self.cause else ""
        return f"Gate failed: {because}{failed[0]}; {self._questions_held}."

    @property
    def _questions_held(self) -> str:
        """Say how many questions counted, how many are missing, and how many of those that counted are flaky."""
        missing, flaky = self.comparison.only_a, len(self.flaky)
        left_out = [f"{missing} of the baseline missing in the candidate" if missing else "", f"{flaky} flaky" if flaky else ""]
        return ", ".join([format_count(self.comparison.questions, "question"), *filter(None, left_out)])

    @property
    def worse(self) -> tuple[ChangedQuestion, ...]:
        """Return the questions of which the candidate answers less, those that lost most first."""
        lost = [each for each in self.comparison.changed if len(each.lost) > len(each.gained)]
        return tuple(sorted(lost, key=lambda each: len(each.gained) - len(each.lost)))

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {
            "passed": self.passed,
            "headline": self.headline,
            "cause": self.cause,
            "gates": [{"option": row.option, "passed": row.problem is None, "problem": row.problem} for row in self.rows],
            "worse": [{"question": each.question, "lost": list(each.lost)} for each in self.worse],
            "flaky": list(self.flaky),
        }

    def to_junit(self) -> str:
        """Write JUnit XML: a test case for each gate, and one for each question that lost something."""
        suite = ET.Element(
            "testsuite",
            name="rag-cover gate",
            tests=str(len(self.rows) + len(self.worse) + len(self.flaky)),
            failures=str(sum(row.problem is not None for row in self.rows)),
            errors="0",
            skipped=str(len(self.worse) + len(self.flaky)),
        )
        for row in self.rows:
            case = ET.SubElement(suite, "testcase", classname="rag-cover.gates", name=_xml(row.option))
            if row.problem is not None:
                ET.SubElement(case, "failure", message=_xml(row.problem)).text = _xml(self.headline)
        for name, questions in (
            ("worse", [_lost(each) for each in self.worse]),
            ("flaky", [(each, "") for each in self.flaky]),
        ):
            for question, said in questions:
                case = ET.SubElement(suite, "testcase", classname=f"rag-cover.questions.{name}", name=_xml(question))
                ET.SubElement(case, "skipped", message=_xml(said or "two runs of the baseline differ"))
        suites = ET.Element("testsuites")
        suites.append(suite)
        ET.indent(suites)
        return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"

    def to_markdown(self) -> str:
        """Write at most 40 lines for a pull request; texts of traces can make no link, mention or markup."""
        lines = [*self._head(), *self._questions()]
        return "\n".join(lines[:_LINES]) + "\n"

    def _head(self) -> Iterator[str]:
        yield MARKER
        yield f"### rag_cover: {'passed' if self.passed else 'failed'}"
        yield ""
        yield _plain(self.headline)
        yield ""
        yield "| gate | result |"
        yield "|---|---|"
        for row in self.rows[:10]:
            yield f"| `{row.option.replace('`', '')}` | {_plain(row.problem or row.note or 'holds')} |"

    def _questions(self) -> Iterator[str]:
        if self.worse:
            yield from ("", f"**{format_count(len(self.worse), 'question')} of which less is answered**", "")
            yield from (f"- {_plain(question)}: {_plain(said)}" for question, said in map(_lost, self.worse[:10]))
            if len(self.worse) > 10:  # noqa: PLR2004 - as shown
                yield f"- and {len(self.worse) - 10} more"
        if self.flaky:
            yield from ("", f"{format_count(len(self.flaky), 'question')} differ between two runs of the baseline.")


def find_cause(comparison: Comparison, before: AnswerCounts | None, after: AnswerCounts | None) -> str | None:
    """Name what there is most more of: answers that decline, or core sub-questions lost at a stage; None without more.

    That answers decline is the cause only where most is lost behind the prompt: what was not retrieved is rightly declined.
    """
    more = {loss: comparison.losses_b.get(loss, 0) - comparison.losses_a.get(loss, 0) for loss in Loss}
    loss = max(more, key=more.__getitem__)
    behind_the_prompt = loss is Loss.UNUSED or more[loss] <= 0
    if before and after and behind_the_prompt and after.declined > before.declined:
        declined = after.declined - before.declined
        if 2 * declined >= more[loss] and _TENTH * declined >= after.answers:
            return f"{declined} more answers decline ({before.declined} before, {after.declined} now)"
    unclear = comparison.unclear_b - comparison.unclear_a
    if max(more[loss], unclear) <= 0:
        return None
    if unclear > more[loss]:
        counts, where = (comparison.unclear_a, comparison.unclear_b), "lost at a stage that is unclear"
    else:
        counts, where = (comparison.losses_a.get(loss, 0), comparison.losses_b.get(loss, 0)), str(loss)
    return f"{format_count(counts[1] - counts[0], 'core sub-question')} more {where} ({counts[0]} before, {counts[1]} now)"


def _lost(changed: ChangedQuestion) -> tuple[str, str]:
    return one_line(changed.question)[:_QUESTION], f"no longer answers {'; '.join(one_line(each) for each in changed.lost)}"[
        :_QUESTION
    ]


def _plain(text: str) -> str:
    """Write a text so that Markdown shows it as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", one_line(text).replace("&", "&amp;").replace("<", "&lt;"))


def _xml(text: str) -> str:
    """Leave out what XML 1.0 cannot hold (section 2.2, Char)."""
    return _NO_XML.sub("", one_line(text))
