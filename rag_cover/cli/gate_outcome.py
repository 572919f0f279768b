"""How a gate ended, for people and for machines: a headline with the cause, JUnit XML, Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET  # nosec B405  # which writes here, and reads nothing

from rag_cover.reports.sanitise import one_line
from rag_cover.reports.text import format_count
from rag_cover.summaries import ChangedQuestion, Comparison

__all__ = ["MARKER", "SHOWN", "GateOutcome", "GateRow"]

MARKER = "<!-- rag_cover gate -->"
"""The first line of the Markdown: who posts it again finds the comment by it, and replaces it."""
SHOWN = 10
"""How many questions of which less is answered are listed."""
_SHOWN_LOST = 3
_LINES = 40
_QUESTION = 160
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~@:>-])")


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate: the option that set it, why it failed, None where it holds, and what a failure would have taken.

    ``warning`` tells a loss that comes near to failing it. ``weak`` marks a gate that so few questions cannot fail, ``excused``
    one that fails with the flaky questions alone.
    """

    option: str
    problem: str | None
    note: str = ""
    weak: bool = False
    excused: bool = False
    warning: str = ""


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
            excused = sum(row.excused for row in self.rows)
            with_flaky = f"; {excused} would fail with the flaky questions" if excused else ""
            counts = f"{format_count(len(self.rows), 'gate')}, {self._questions_held}{unable}{with_flaky}"
            if warnings := self._warnings:
                return f"Gate passed, though {warnings}: too few questions to tell whether it is worse; {counts}."
            return f"Gate passed: {counts}."
        because = f"Cause: {self.cause}. " if self.cause else ""
        left_out = f"; {held}" if (held := self._left_out) else ""
        return f"Gate failed: {because}{failed[0]}{left_out}."

    @property
    def _warnings(self) -> str:
        return " and ".join(row.warning for row in self.rows if row.warning and row.problem is None)

    @property
    def _questions_held(self) -> str:
        """Say how many questions counted, and what `_left_out` says."""
        return ", ".join(filter(None, [format_count(self.comparison.questions, "question"), self._left_out]))

    @property
    def _left_out(self) -> str:
        """Say how many questions are missing, and how many of those that counted are flaky."""
        missing, flaky = self.comparison.only_a, len(self.flaky)
        said = [f"{missing} of the baseline missing in the candidate" if missing else "", f"{flaky} flaky" if flaky else ""]
        return ", ".join(filter(None, said))

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
            "gates": [
                {"option": row.option, "passed": row.problem is None, "problem": row.problem, "warning": row.warning or None}
                for row in self.rows
            ],
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
        though = f", though {_plain(warnings)}" if self.passed and (warnings := self._warnings) else ""
        yield f"### rag_cover: {'passed' if self.passed else 'failed'}{though}"
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
            for changed in self.worse[:SHOWN]:
                lost = ", ".join(_code(each[:_QUESTION]) for each in changed.lost[:_SHOWN_LOST])
                yield f"- {_code(changed.question[:_QUESTION])} no longer answers {lost}"
            if len(self.worse) > SHOWN:
                yield f"- and {len(self.worse) - SHOWN} more"
        if self.flaky:
            yield from ("", f"**{format_count(len(self.flaky), 'question')} differ between two runs of the baseline**", "")
            yield from (f"- {_code(each[:_QUESTION])}" for each in self.flaky[:SHOWN])
            if len(self.flaky) > SHOWN:
                yield f"- and {len(self.flaky) - SHOWN} more"


def _lost(changed: ChangedQuestion) -> tuple[str, str]:
    lost = "; ".join(one_line(each) for each in changed.lost)
    return one_line(changed.question)[:_QUESTION], f"no longer answers {lost}"[:_QUESTION]


def _code(text: str) -> str:
    """Write a text of a trace as a code span: no link, address, mention or number in it becomes one.

    >>> _code("see www.example.org, @you, `this`")
    '`` see www.example.org, @you, `this` ``'
    """
    shown = one_line(text) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    return f"{fence} {shown} {fence}" if "`" in shown else f"{fence}{shown}{fence}"


def _plain(text: str) -> str:
    """Write a text so that Markdown shows it as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", one_line(text).replace("&", "&amp;").replace("<", "&lt;"))


def _xml(text: str) -> str:
    """Leave out what XML 1.0 cannot hold (section 2.2, Char)."""
    return _NO_XML.sub("", one_line(text))
