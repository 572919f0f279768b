"""Tells whether LlamaIndex's evaluators are at work: what they ask is about an answer, and is no user's question."""

from __future__ import annotations

import inspect
from types import FrameType

from llama_index.core.evaluation import BaseEvaluator

__all__ = ["is_evaluating"]

_METHODS = ("evaluate", "aevaluate")


def is_evaluating() -> bool:
    """Tell whether the caller runs within an evaluator that was given an answer or passages to judge.

    Evaluators have no spans of their own, so the stack is read. An evaluator that is given a question alone, and asks a
    pipeline itself, asks a user's question.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name in _METHODS and _is_judging(frame):
            return True
        frame = frame.f_back
    return False


def _is_judging(frame: FrameType) -> bool:
    found = frame.f_locals
    is_given = found.get("response") is not None or found.get("contexts") is not None
    return is_given and isinstance(found.get("self"), BaseEvaluator)
