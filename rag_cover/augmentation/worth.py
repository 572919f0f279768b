"""What the searches of an augmentation were worth: ΔSePer, where there is somebody whose belief it can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_cover.backends import Entailer, Failure, Receiver
from rag_cover.belief import TraceUtility, step_utilities
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Question
from rag_cover.traces import RetrievalStep, Trace

__all__ = ["worth_of"]

_UNMEASURED = "the searches' worth was not measured"


def worth_of(
    question: Question,
    steps: Sequence[RetrievalStep],
    *,
    receiver: Receiver | None,
    entailer: Entailer | None,
    seed: int = 0,
) -> TraceUtility | Failure | None:
    """Measure what each search was worth on top of those before it.

    None where that is not defined: without a receiver and an entailer, references, or a search that succeeded.
    """
    found = tuple(step for step in steps if step.error is None)
    if receiver is None or entailer is None or not question.references or not found:
        return None
    try:
        return step_utilities(Trace(question=question, steps=found), entailer=entailer, receiver=receiver, seed=seed)
    except ModelFailedError as failed:
        return replace(Failure.of(failed), message=f"{_UNMEASURED}: {failed}")
    except InvalidValueError as refused:
        return Failure("undefined", f"{_UNMEASURED}: {refused}")
