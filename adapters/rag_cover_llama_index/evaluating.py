"""Tells whether LlamaIndex's evaluators are at work: what they ask is about an answer, and is no user's question."""

from __future__ import annotations

import inspect
from types import FrameType

from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.indices.base import BaseIndex

__all__ = ["is_evaluating", "is_indexing"]

_METHODS = ("evaluate", "aevaluate")
_INDEXING = ("build_index_from_nodes", "insert_nodes", "ainsert_nodes")


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


def is_indexing() -> bool:
    """Tell whether the caller runs within an index that is being built, such as one of summaries of its documents."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name in _INDEXING and isinstance(frame.f_locals.get("self"), BaseIndex):
            return True
        frame = frame.f_back
    return False


def _is_judging(frame: FrameType) -> bool:
    found = frame.f_locals
    is_given = found.get("response") is not None or found.get("contexts") is not None
    return is_given and isinstance(found.get("self"), BaseEvaluator)
