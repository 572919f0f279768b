"""The numbers of set queries that ship: there for the judge that ships."""

from __future__ import annotations

import pytest

from rag_cover.setqueries.calibration import membership_calibration_for

pytest.importorskip("onnxruntime", reason="the embedded judge runs on it")


def test_the_shipped_judge_has_memberships() -> None:
    from rag_cover_embedded.weights import Weights

    found = membership_calibration_for(Weights.open().fingerprint)

    assert found is not None, (
        "the judge was trained anew; run 'python -m benchmarks.set_queries.fit_memberships' and commit memberships.json"
    )
    assert 0 < found.threshold < 1
    assert found.n >= 100
