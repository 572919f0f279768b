"""Passages that a model was given, where nothing else tells what was searched for.

A search within a function is not seen. What it found is: as the ``context`` that a prompt's template is filled with, or in the
prompt that the function makes, such as LangChain's ``dynamic_prompt``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.recording import TraceDraft
from rag_cover_langchain.calls import Run
from rag_cover_langchain.prompt_contexts import find_passages

__all__ = ["read_given_context"]


def read_given_context(draft: TraceDraft) -> None:
    """Note as given the contexts of templates, or what the prompt of the answer marks as context."""
    if any(call.passages or call.consumed or call.kind in ("retriever", "tool") for call in draft.calls):
        return
    runs = [call for call in draft.calls if isinstance(call, Run)]
    texts = list(dict.fromkeys(text for run in runs for text in run.given))
    if not texts and (answering := _answering(runs, draft.root.answer)) is not None:
        question = draft.root.query or ""
        texts = find_passages(answering.system or "", question) or find_passages(answering.prompt or "", question)
    draft.root.consumed = [{"text": text} for text in texts]


def _answering(runs: Sequence[Run], answer: str | None) -> Run | None:
    """Return the model's call that wrote the answer: not one that judges it afterwards."""
    asked = [run for run in runs if run.answer and run.prompt]
    own = [run for run in asked if answer and run.answer and run.answer.strip() in answer]
    return next(reversed(own or asked), None)
