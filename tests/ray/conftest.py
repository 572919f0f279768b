"""A Ray of this machine, started once for all its tests, that takes itself to have a GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    pytest.importorskip("ray", reason="needs ray (extra ray)")
    from rag_cover_ray.environment import prepare

    prepare(None)
    from rag_cover_ray.clusters import connect

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_OVERRIDE_RESOURCES", '{"GPU": 1}')
        with connect(None):
            yield
