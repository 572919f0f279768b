"""Feedback names where a sub-question was lost only where the judge is sure of it."""

from __future__ import annotations

import pytest

from rag_cover.coverage.result import CoverageResult, Loss, LossEvidence, SubQuestionCoverage, Verdict
from rag_cover.integration.feedback import feedback_on_coverage
from rag_cover.questions import Role


@pytest.mark.parametrize(
    ("evidence", "place"),
    [
        (LossEvidence(0.1, 0.9, 0.0), "in the prompt, not used"),
        (LossEvidence(0.4, 0.6, 0.0), "unclear where: the judge is not sure"),
        (LossEvidence(0.1, 0.9, 0.0, contradicted=True), "unclear where: the judge is not sure"),
    ],
)
def test_a_loss_that_is_not_clear_has_no_place(evidence: LossEvidence, place: str) -> None:
    lost = SubQuestionCoverage(
        "Is there wifi?", Role.CORE, "given", answer=Verdict(0.1, covered=False), loss=Loss.UNUSED, evidence=evidence
    )
    result = CoverageResult((lost,), (), 0.5, None, prompt_assumed=False, decomposed_by="given")

    assert feedback_on_coverage(result) == f"The answer covers 0 of 1 core sub-question.\nLost: Is there wifi? ({place})"
