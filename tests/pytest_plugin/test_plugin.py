"""The plugin in real test sessions: loaded only where it is asked for, it sums up what was checked and keeps it in a store."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rag_cover.evaluation import Evaluation
from rag_cover.stores import Store

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

TESTS = """
import pytest
from rag_cover.testing import KeywordScorer, assert_covers

PARTS = ["How long is the warranty?", "Why do leaves turn yellow?"]
SAID = {"question": "How long is the warranty, and why do leaves turn yellow?", "answer": "That is how long the warranty is."}
JUDGE = KeywordScorer(threshold=0.6)

@pytest.mark.parametrize("n", [1, 2])
def test_half_will_do(n):
    answer = {**SAID, "question": f"{n}. {SAID['question']}"}
    assert_covers(answer, sub_questions=PARTS, min_core_coverage=0.5, judge=JUDGE)

def test_all_is_too_much():
    assert_covers(SAID, sub_questions=PARTS, judge=JUDGE)

@pytest.mark.rag_cover(min_core_coverage=0.5, sub_questions=PARTS, judge=JUDGE)
def test_the_marker_says_what_will_do(rag_cover_results):
    before = len(rag_cover_results())
    assert assert_covers({"question": "What else?", "answer": SAID["answer"]}).coverage.core_coverage == 0.5
    assert len(rag_cover_results()) == before + 1
"""
OPTIONS = ("-p", "rag_cover.pytest_plugin", "-p", "no:asyncio", "-p", "no:cacheprovider", "-W", "error")


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the plugins of all that is installed here, which take seconds to load."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(test_answers=TESTS)
    return pytester


def _run(session: pytest.Pytester, *options: str) -> pytest.RunResult:
    return session.runpytest_subprocess(*OPTIONS, *options)


def test_nothing_loads_the_plugin_by_itself(session: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")

    result = session.runpytest_subprocess("-p", "no:asyncio", "-p", "no:cacheprovider", "--help")

    result.stdout.no_fnmatch_line("*rag-cover-store*")
    assert not [entry for entry in entry_points(group="pytest11") if entry.value.startswith("rag_cover")]


def test_importing_it_opens_no_model_and_no_socket() -> None:
    watched = """
import sys
seen = []
sys.addaudithook(lambda event, _: seen.append(event) if event.startswith("socket.") else None)
import rag_cover.pytest_plugin
print(seen, [name for name in ("onnxruntime", "llama_index", "langchain_core", "typer") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True, env=dict(os.environ))

    assert done.stdout.strip() == "[] []"


def test_a_session_ends_with_a_summary_and_the_worst_answers(session: pytest.Pytester) -> None:
    result = _run(session)

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*missing: Why do leaves turn yellow?",
            "*verdict: not covered, P = 0.00, below 0.60",
            "*= rag_cover =*",
            "4 answers to 4 questions, 1 failed; judged by testing:keyword-scorer:0.6",
            "core answered: 50% (95% interval *)",
            "The worst:",
            "* 50%  test_answers.py::test_all_is_too_much  How long is the warranty*",
        ]
    )


def test_a_conftest_may_load_it_and_choose_the_judge(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
import pytest
from rag_cover.testing import KeywordScorer
pytest_plugins = ["rag_cover.pytest_plugin"]

@pytest.fixture(scope="session")
def rag_cover_judge():
    return KeywordScorer(threshold=0.25)
"""
    )
    pytester.makepyfile(
        """
from rag_cover.pytest_plugin import assert_covers

def test_it():
    assert_covers("The warranty.", question="How long is the warranty?", sub_questions=["How long is the warranty?"])
"""
    )

    result = pytester.runpytest_subprocess("-p", "no:asyncio", "-p", "no:cacheprovider", "-W", "error")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*judged by testing:keyword-scorer:0.25"])


def test_a_session_without_checked_answers_says_nothing_and_writes_no_store(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")

    plain = _run(pytester)
    stored = _run(pytester, "--rag-cover-store", "answers.sqlite")

    plain.stdout.no_fnmatch_line("*rag_cover*answer*")
    stored.stdout.fnmatch_lines(["rag_cover: no answers were checked, and no store was written."])
    assert not (pytester.path / "answers.sqlite").exists()


def test_the_store_is_an_evaluation_that_others_can_read(session: pytest.Pytester) -> None:
    result = _run(session, "--rag-cover-store", "answers.sqlite")

    result.stdout.fnmatch_lines(["Results: answers.sqlite (4 in all); rag-cover report answers.sqlite shows them"])
    evaluation = Evaluation.open(session.path / "answers.sqlite")
    assert (len(evaluation.results), evaluation.judge) == (4, "testing:keyword-scorer:0.6")
    metric = evaluation.summary().metrics["core_coverage"].interval
    assert metric is not None
    assert metric.estimate == 0.5


def test_workers_bring_their_answers_into_one_store_and_one_summary(session: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    alone = _run(session, "--rag-cover-store", "alone.sqlite")
    together = _run(session, "-p", "xdist", "-n", "2", "--rag-cover-store", "together.sqlite")

    together.assert_outcomes(passed=3, failed=1)
    together.stdout.fnmatch_lines(["4 answers to 4 questions, 1 failed; *", "*(4 in all)*"])
    assert str(together.stdout).count("= rag_cover =") == str(alone.stdout).count("= rag_cover =") == 1
    assert _kept(session.path / "alone.sqlite") == _kept(session.path / "together.sqlite")


def test_a_store_that_is_there_is_refused_before_any_test_gone_on_with_or_replaced(session: pytest.Pytester) -> None:
    store = session.path / "answers.sqlite"
    _run(session, "--rag-cover-store", "answers.sqlite", "-k", "half")
    first = _kept(store)

    refused = _run(session, "--rag-cover-store", "answers.sqlite")
    gone_on = _run(session, "--rag-cover-store", "answers.sqlite", "--rag-cover-resume", "-k", "marker or n1 or 1")
    second = _kept(store)
    replaced = _run(session, "--rag-cover-store", "answers.sqlite", "--rag-cover-force", "-k", "marker")

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*answers.sqlite exists already; add to it with --rag-cover-resume, replace it with*"])
    assert (len(first), len(second), len(_kept(store))) == (2, 3, 1)
    assert {*first} < {*second}
    assert gone_on.ret == replaced.ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--rag-cover-store", "test_answers.py"], "*test_answers.py is not a store*"),
        (["--rag-cover-store", "nowhere/answers.sqlite"], "*there is no folder nowhere*"),
        (["--rag-cover-resume"], "*name it with --rag-cover-store FILE*"),
        (["--rag-cover-store", "a.sqlite", "--rag-cover-resume", "--rag-cover-force"], "*choose one*"),
    ],
    ids=["no store", "no folder", "resume without store", "resume and force"],
)
def test_wrong_options_are_usage_errors(session: pytest.Pytester, options: list[str], problem: str) -> None:
    result = _run(session, *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([problem])


def test_a_marker_with_an_unknown_requirement_is_an_error_that_names_the_nearest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import pytest

@pytest.mark.rag_cover(min_coverage=0.5, strict=True)
def test_it(): pass
"""
    )

    result = _run(pytester)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no requirement 'min_coverage' or 'strict'. Did you mean 'min_core_coverage'?*"])


def test_the_embedded_judge_judges_where_none_is_named(pytester: pytest.Pytester) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    pytester.makepyfile(
        """
from rag_cover.testing import assert_covers

def test_good():
    assert_covers("Paris is the capital of France.", question="What is the capital of France?")

def test_bad():
    assert_covers("Paris has many cafés.", question="What is the capital of Norway?")
"""
    )

    result = _run(pytester)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*judged by embedded:*", "With the judge*errors*of 3,089 labels*"])


def test_the_tests_of_the_guide_pass(source_tree: Path, pytester: pytest.Pytester) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    page = (source_tree / "docs/guides/pytest.md").read_text(encoding="utf-8")
    pytester.makepyfile(test_guide="\n".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)))

    _run(pytester).assert_outcomes(passed=2)


def _kept(path: Path) -> dict[str, object]:
    with Store.open(path, create=False) as store:
        return {key: store.result(ordinal).to_dict() for ordinal, key in store.keys().items()}
