"""The hooks: options, and what becomes of the answers that tests check.

Every process attaches the answers of a test to its report; the controller alone, with pytest-xdist or without, gathers them.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rag_cover.errors import RagCoverError
from rag_cover.pytest_plugin.fixtures import MARKER
from rag_cover.pytest_plugin.results_store import ResultsStore
from rag_cover.pytest_plugin.session import SESSION, CheckingSession, in_order
from rag_cover.pytest_plugin.session_summary import summary_lines
from rag_cover.testing.coverage_assertion import observe_assertions

__all__ = [
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_unconfigure",
]

_OBSERVED = pytest.StashKey[ExitStack]()
_STORE = pytest.StashKey[ResultsStore]()
_STORED = pytest.StashKey[str]()
_MARKER_LINE = (
    f"{MARKER}(sub_questions, nuggets, min_core_coverage, max_unsupported, judge): what the answers that assert_covers checks "
    "in the test must do, where it does not say otherwise."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("rag_cover", "answers that assert_covers checks")
    group.addoption(
        "--rag-cover-store",
        type=Path,
        metavar="FILE",
        help="Keep what was measured in this store, which rag-cover report reads.",
    )
    group.addoption(
        "--rag-cover-resume", action="store_true", help="Add to the store; an answer that is checked again takes its place."
    )
    group.addoption("--rag-cover-force", action="store_true", help="Replace what the store holds.")
    group.addoption(
        "--rag-cover-judge", default="embedded", metavar="NAME", help="The judge, where none is named (default: embedded)."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch assertions; refuse a store that may not be written.

    Raises:
        UsageError: the store may not be written, or an option of it is given without it.
    """
    config.addinivalue_line("markers", _MARKER_LINE)
    session = config.stash[SESSION] = CheckingSession()
    if not _is_worker(config):
        _prepare_store(config)
    stack = config.stash[_OBSERVED] = ExitStack()
    stack.enter_context(observe_assertions(session))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Watch assertions no longer."""
    if (stack := config.stash.get(_OBSERVED, None)) is not None:
        stack.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach to a report the answers that its test checked."""
    report = yield
    item.config.stash[SESSION].attach(report, is_first=call.when == "setup")
    return report


class _Gatherer:
    """Gathers the answers of the reports, in the controller."""

    def __init__(self, session: CheckingSession) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._session.gather(report)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the store; a session whose results could not be kept does not succeed."""
    config = session.config
    store = config.stash.get(_STORE, None)
    answers = in_order(config.stash[SESSION].gathered)
    if store is None or not answers:
        return
    try:
        count = store.write(answers)
    except RagCoverError as unwritable:
        config.stash[_STORED] = f"The results were not kept: {unwritable}"
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return
    config.stash[_STORED] = f"Results: {store.path} ({count:,} in all); rag-cover report {store.path} shows them"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the summary of the session, where answers were checked."""
    answers = in_order(config.stash[SESSION].gathered)
    if not answers:
        if _STORE in config.stash:
            terminalreporter.write_line("rag_cover: no answers were checked, and no store was written.")
        return
    terminalreporter.section("rag_cover")
    for line in summary_lines(answers):
        terminalreporter.write_line(line)
    if stored := config.stash.get(_STORED, None):
        terminalreporter.write_line(stored)


def _prepare_store(config: pytest.Config) -> None:
    config.pluginmanager.register(_Gatherer(config.stash[SESSION]), "rag_cover_gatherer")
    path: Path | None = config.getoption("rag_cover_store")
    resume, overwrite = (bool(config.getoption(name)) for name in ("rag_cover_resume", "rag_cover_force"))
    if path is None:
        if resume or overwrite:
            message = "--rag-cover-resume and --rag-cover-force are about a store; name it with --rag-cover-store FILE"
            raise pytest.UsageError(message)
        return
    store = ResultsStore(path, resume=resume, overwrite=overwrite)
    store.refuse_unwritable()
    config.stash[_STORE] = store


def _is_worker(config: pytest.Config) -> bool:
    """Return whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")
