"""The answers that were checked in a test session: as this process checks them, and as they come with the tests' reports.

A report carries the answers that its test checked, as JSON texts, so that they come from the workers of pytest-xdist as the
report does: with each test, also where a worker dies later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pytest

from rag_cover.backends import Scorer, read_shifts
from rag_cover.known_measures import result_types
from rag_cover.measures import TraceResult
from rag_cover.testing.coverage_assertion import CheckedAnswer, Requirements

__all__ = ["SESSION", "CheckingSession", "TestedAnswer", "in_order", "read_report", "read_test"]

REPORTED = "rag_cover"
"""The attribute of a report with the answers that its test checked."""


_KEY = "pytest:"


@dataclass(frozen=True, slots=True)
class TestedAnswer:
    """An answer that a test checked; ``number`` counts those of the test, from 0."""

    __test__ = False

    test: str
    number: int
    checked: CheckedAnswer

    @property
    def key(self) -> str:
        """Name it: what is checked here in a later session takes its place."""
        return f"{_KEY}{self.test}:{self.number}"

    def to_json(self) -> str:
        """Write as a JSON text in ASCII, which every worker can send."""
        data = {
            "test": self.test,
            "number": self.number,
            "judge": self.checked.judge,
            "problem": self.checked.problem,
            "shifts": {mode: shift.to_dict() for mode, shift in self.checked.shifts.items()},
            "result": self.checked.result.to_dict(),
        }
        return json.dumps(data)

    @classmethod
    def from_json(cls, text: str) -> TestedAnswer:
        """Read back what `to_json` wrote."""
        data = json.loads(text)
        result = TraceResult.from_dict(data["result"], result_types(()))
        checked = CheckedAnswer(result, data["judge"], data["problem"], read_shifts(data["shifts"]))
        return cls(data["test"], data["number"], checked)


class CheckingSession:
    """Watches the assertions of this process (`AssertionObserver`), and gathers what reports bring.

    ``judge_of_test`` opens the judge by the fixture as the running test sees it, ``required`` is what its marker says.
    """

    def __init__(self) -> None:
        self.judge_of_test: Callable[[], Scorer] | None = None
        self.required = Requirements()
        self.gathered: list[TestedAnswer] = []
        self._here: list[CheckedAnswer] = []
        self._unreported: list[CheckedAnswer] = []
        self._counts: dict[str, int] = {}

    @property
    def results(self) -> tuple[TraceResult, ...]:
        """Return what was measured of the answers that this process checked so far."""
        return tuple(each.result for each in self._here)

    def defaults(self) -> Requirements:
        """Return what the running test's marker says."""
        return self.required

    def open_judge(self) -> Scorer | None:
        """Open the session's judge; None outside of a test."""
        return None if self.judge_of_test is None else self.judge_of_test()

    def observe(self, checked: CheckedAnswer) -> None:
        """Keep an answer until the report of the running test takes it along."""
        self._here.append(checked)
        self._unreported.append(checked)

    def attach(self, report: pytest.TestReport, *, is_first: bool) -> None:
        """Let a report take along the answers that were checked since the last one; ``is_first``: its test begins anew."""
        if is_first:
            self._counts[report.nodeid] = 0
        texts = []
        for checked in self._unreported:
            number = self._counts.get(report.nodeid, 0)
            self._counts[report.nodeid] = number + 1
            texts.append(TestedAnswer(report.nodeid, number, checked).to_json())
        self._unreported.clear()
        if texts:
            setattr(report, REPORTED, texts)

    def gather(self, report: pytest.TestReport) -> None:
        """Keep the answers that a report brings; those of an earlier run of its test are given up where it begins anew."""
        answers = read_report(report)
        if answers and answers[0].number == 0:
            self.gathered = [each for each in self.gathered if each.test != answers[0].test]
        self.gathered += answers


SESSION = pytest.StashKey[CheckingSession]()


def read_report(report: pytest.TestReport) -> list[TestedAnswer]:
    """Read the answers that a report brings."""
    return [TestedAnswer.from_json(text) for text in getattr(report, REPORTED, ())]


def in_order(answers: Iterable[TestedAnswer]) -> Sequence[TestedAnswer]:
    """Put answers in the order of their tests' names."""
    return sorted(answers, key=lambda each: (each.test, each.number))


def read_test(key: str) -> str:
    """Return the test that a key names (`TestedAnswer.key`)."""
    return key.removeprefix(_KEY).rpartition(":")[0]
