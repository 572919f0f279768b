"""Tests that run again, as plugins that repeat failed ones let them."""

from __future__ import annotations

from types import SimpleNamespace

from rag_cover.measures import TraceResult
from rag_cover.pytest_plugin.session import REPORTED, CheckingSession, TestedAnswer, in_order, read_test
from rag_cover.questions import Question
from rag_cover.testing.coverage_assertion import CheckedAnswer
from rag_cover.traces import Trace


def _report(test: str, *answers: str) -> SimpleNamespace:
    texts = [
        TestedAnswer(
            test, number, CheckedAnswer(TraceResult(Trace(question=Question("Why?"), answer=answer)), "j", None)
        ).to_json()
        for number, answer in enumerate(answers)
    ]
    return SimpleNamespace(**{REPORTED: texts})


def test_of_a_test_that_ran_again_only_the_last_run_counts() -> None:
    session = CheckingSession()

    for report in (_report("a", "one", "two"), _report("b", "three"), _report("a", "four"), _report("a")):
        session.gather(report)  # type: ignore[arg-type]

    kept = [(each.test, each.checked.result.trace.answer) for each in in_order(session.gathered)]
    assert kept == [("a", "four"), ("b", "three")]


def test_a_key_names_its_test() -> None:
    key = TestedAnswer(
        "tests/test_a.py::test[x:1]", 3, CheckedAnswer(TraceResult(Trace(question=Question("Why?"))), "j", None)
    ).key

    assert read_test(key) == "tests/test_a.py::test[x:1]"
