"""A Ray of this machine, started once for all its tests, that takes itself to have a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_cover_ray.environment import prepare

prepare(None)  # before a test module imports Ray: the driver and the cluster it starts then agree on one token


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run them all in one process of pytest-xdist: two clusters that start at once may take each other's ports."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.xdist_group("ray"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    pytest.importorskip("ray", reason="needs ray (extra ray)")
    from rag_cover_ray.clusters import connect

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_OVERRIDE_RESOURCES", '{"GPU": 1}')
        with connect(None):
            yield
