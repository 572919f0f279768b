"""The fixtures: the judge of the session, the results so far, and what a marked test requires."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from rag_cover.backends import Scorer
from rag_cover.errors import InvalidValueError
from rag_cover.measures import TraceResult
from rag_cover.pytest_plugin.session import SESSION
from rag_cover.registry import open_scorer
from rag_cover.testing.coverage_assertion import Requirements

__all__ = ["MARKER", "provide_requirements", "rag_cover_judge", "rag_cover_results"]

MARKER = "rag_cover"


@pytest.fixture(scope="session")
def rag_cover_judge(request: pytest.FixtureRequest) -> Scorer:
    """Return the judge that assertions ask where they name none: that of ``--rag-cover-judge``, else the embedded one.

    A fixture of the same name in a ``conftest.py`` takes its place.
    """
    return open_scorer(str(request.config.getoption("rag_cover_judge")))


@pytest.fixture
def rag_cover_results(request: pytest.FixtureRequest) -> Callable[[], tuple[TraceResult, ...]]:
    """Return a function that returns what was measured of the answers that this process checked so far."""
    session = request.config.stash[SESSION]
    return lambda: session.results


@pytest.fixture(autouse=True, name="_rag_cover_requirements")
def provide_requirements(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the assertions of a test ask the session's judge, and require what the test's marker says."""
    session = request.config.stash[SESSION]
    session.judge_of_test = lambda: _judge_of(request)
    session.required = _required_by(request.node)
    yield
    session.judge_of_test, session.required = None, Requirements()


def _judge_of(request: pytest.FixtureRequest) -> Scorer:
    judge: Scorer = request.getfixturevalue("rag_cover_judge")
    return judge


def _required_by(node: pytest.Item) -> Requirements:
    """Read the markers of a test, the nearest last."""
    given: dict[str, object] = {}
    for marker in reversed(list(node.iter_markers(MARKER))):
        if marker.args:
            message = f"the marker rag_cover takes its requirements by name, such as min_core_coverage=0.5, not {marker.args!r}"
            raise InvalidValueError(message)
        given |= marker.kwargs
    return Requirements.of(given)
