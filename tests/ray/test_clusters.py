from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rag_cover.errors import EngineError
from rag_cover_ray.environment import prepare

ray = pytest.importorskip("ray", reason="needs ray (extra ray)")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
@pytest.mark.slow
def test_a_cluster_that_does_not_answer_is_told_at_once(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_cover_ray.clusters import connect

    monkeypatch.undo()  # connecting is what this is about
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    with pytest.raises(EngineError, match=rf"No Ray cluster answers at '{address}': .*refused"), connect(address):
        pass


@pytest.mark.usefixtures("cluster")
@pytest.mark.slow
def test_a_connection_that_was_there_is_left() -> None:
    from rag_cover_ray.clusters import connect

    with connect(None):
        pass

    assert ray.is_initialized()


class Crowded:
    """Stand in for a ray whose port another cluster takes, the first so many times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
        self.starts = 0
        self._failures = failures
        monkeypatch.setattr(ray, "is_initialized", lambda: False)
        monkeypatch.setattr(ray, "init", self._init)
        monkeypatch.setattr(ray, "shutdown", lambda: None)

    def _init(self, **_options: object) -> None:
        self.starts += 1
        if self.starts <= self._failures:
            message = "Failed to start GCS\nAuthenticationError"
            raise RuntimeError(message)


@pytest.mark.slow
def test_a_local_cluster_whose_port_was_taken_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_cover_ray.clusters import connect

    crowded = Crowded(monkeypatch, failures=2)

    with connect(None):
        pass

    assert crowded.starts == 3


@pytest.mark.slow
def test_a_local_cluster_that_never_starts_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_cover_ray.clusters import connect

    crowded = Crowded(monkeypatch, failures=9)

    with pytest.raises(EngineError, match="cannot be started here: Failed to start GCS; the local engine"), connect(None):
        pass
    assert crowded.starts == 3


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Be a process that has not imported Ray, on a machine without a cluster."""
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS"):
        monkeypatch.setenv(name, "")  # so that what a test sets is undone even where nothing was set before
        monkeypatch.delenv(name)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delitem(sys.modules, "ray")
    return monkeypatch


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("address", [None, "auto"])
@pytest.mark.slow
def test_a_local_cluster_sends_no_statistics_and_asks_for_a_token(address: str | None) -> None:

    prepare(address)

    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64


@pytest.mark.slow
def test_a_cluster_that_is_running_is_joined_as_it_is(fresh: pytest.MonkeyPatch) -> None:
    fresh.setenv("RAY_ADDRESS", "10.0.0.1:6379")

    prepare("auto")

    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert "RAY_AUTH_MODE" not in os.environ


@pytest.mark.slow
def test_what_the_user_has_set_stays(fresh: pytest.MonkeyPatch) -> None:
    fresh.setenv("RAY_AUTH_MODE", "disabled")

    prepare(None)

    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    assert "RAY_AUTH_TOKEN" not in os.environ
