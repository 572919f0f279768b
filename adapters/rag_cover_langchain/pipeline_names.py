"""Names of pipelines: the name that somebody gave, else what a chain or a graph is made of.

LangChain calls every chain ``RunnableSequence`` and every graph ``LangGraph``, and tells its callbacks nothing else of them:
the object is that of the method which begins the run, further up the stack. Where that begins it in a task of its own, as
``abatch`` does, the steps that ran tell.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from langchain_core.runnables import Runnable, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase

from rag_cover.recording import TraceDraft

__all__ = ["name_by_calls", "pipeline_name", "structure_of"]

_HOW_FAR = 16  # from LangChain's call of a handler to the method that begins a run there are about eight
_HIDDEN = "__"  # how the nodes begin that a graph adds itself
_MOST = 100
_GENERIC = ("RunnableSequence", "LangGraph")


def pipeline_name(name: str) -> str:
    """Return the name of the pipeline that begins a run of this name; the name itself, unless LangChain calls all alike."""
    if name not in _GENERIC:
        return name
    frame = sys._getframe(1)  # noqa: SLF001  # nothing else knows the chain
    for _ in range(_HOW_FAR):
        if (around := frame.f_back) is None:
            break
        frame, begun = around, around.f_locals.get("self")
        if isinstance(begun, Runnable):
            return structure_of(begun) if begun.get_name() == name else name
    return name


def name_by_calls(draft: TraceDraft) -> str:
    """Return the name of a draft's pipeline: where it is still LangChain's for all alike, the steps that ran."""
    name = draft.root.name
    steps = [call.name for call in draft.calls if call.parent == draft.root.id]
    return _shorten(" > ".join(steps)) if name in _GENERIC and steps else name


def structure_of(runnable: Runnable[object, object]) -> str:
    """Describe a chain by its steps and a graph by its nodes, in at most 100 characters; anything else by its name.

    >>> from langchain_core.runnables import RunnableLambda
    >>> structure_of(RunnableLambda(len).with_config(tags=["x"]) | RunnableLambda(float))
    'len > float'
    """
    if isinstance(runnable, RunnableSequence):
        return _shorten(" > ".join(map(_label, runnable.steps)))
    nodes = getattr(runnable, "nodes", None)
    names = [node for node in nodes if not str(node).startswith(_HIDDEN)] if isinstance(nodes, Mapping) else []
    return _shorten(", ".join(map(str, names))) or runnable.get_name()


def _label(step: Runnable[object, object]) -> str:
    while isinstance(step, RunnableBindingBase):
        if run_name := step.config.get("run_name"):
            return run_name
        step = step.bound
    return step.get_name()


def _shorten(name: str) -> str:
    """Leave out the middle of a long name: pipelines often begin alike."""
    half = _MOST // 2
    return name if len(name) <= _MOST else f"{name[: half - 1]}…{name[-half:]}"
