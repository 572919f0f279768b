"""What the evaluators return: openevals' mapping and LangSmith's `EvaluationResult`, with rag_cover's whole result as JSON.

What could not be scored has the score None, which LangSmith's tables and means leave out, and says why.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any
from uuid import UUID

from langsmith.evaluation import EvaluationResult

from rag_cover.coverage import CoverageResult
from rag_cover.integration import Scored
from rag_cover.questions import json_value, legible

__all__ = ["evaluation_result_of", "feedback_of"]


def feedback_of(key: str, scored: Scored) -> dict[str, Any]:
    """Return a score in the form of openevals' evaluators: ``key``, ``score``, ``comment``, ``metadata``.

    ``metadata`` is JSON data. Scored: ``result`` (`to_dict` of what was measured), ``judge`` (the model's name), ``passing``
    where a limit was given, and of coverage ``sub_questions``, each with where it was lost. Not scored: ``invalid`` (True),
    ``reason``, ``failure`` where something failed rather than was missing, and what there is of the rest.
    """
    said = scored.feedback if scored.invalid_reason is None else scored.invalid_reason
    comment = None if said is None else legible(said)
    return {"key": key, "score": scored.score, "comment": comment, "metadata": _metadata(scored)}


def evaluation_result_of(key: str, scored: Scored, run_id: UUID) -> EvaluationResult:
    """Return the score of a run as LangSmith's result; a failure, unlike a missing input, is shown there as an error."""
    return EvaluationResult(
        **feedback_of(key, scored),
        target_run_id=run_id,
        evaluator_info={} if scored.judge is None else {"judge": scored.judge},
        extra=None if scored.failure is None else {"error": True},
    )


def _metadata(scored: Scored) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if scored.invalid_reason is not None:
        metadata |= {"invalid": True, "reason": scored.invalid_reason}
    if scored.failure is not None:
        metadata["failure"] = asdict(scored.failure)
    if scored.passing is not None:
        metadata["passing"] = scored.passing
    if scored.judge is not None:
        metadata["judge"] = scored.judge
    if isinstance(scored.measured, CoverageResult):
        metadata["sub_questions"] = _sub_questions(scored.measured)
    if scored.measured is not None:
        metadata["result"] = scored.measured.to_dict()
    return dict(json.loads(legible(json.dumps(json_value(metadata), ensure_ascii=False))))


def _sub_questions(measured: CoverageResult) -> list[dict[str, Any]]:
    """List the sub-questions, each with whether the answer covers it and where it was lost, None where that is not known."""
    return [
        {
            "text": each.text,
            "role": each.role,
            "covered": None if each.answer is None else each.answer.covered,
            "lost": each.loss if each.is_loss_clear or each.loss is None else "unclear",
        }
        for each in measured.sub_questions
    ]
