"""Passages that a model was given, where nothing else tells what was searched for.

A search within a function is not seen. What it found is: as the ``context`` that a prompt's template is filled with, or in the
prompt that the function makes, such as LangChain's ``dynamic_prompt``.
"""

from __future__ import annotations

import re

from rag_cover.recording import TraceDraft
from rag_cover_langchain.calls import Run

__all__ = ["find_passages", "read_given_context"]

_NAMES = r"\b(?:contexts?|documents?|docs|passages?|sources?|excerpts?|snippets?|search results)\b"
_LABEL = re.compile(rf"^[^\n:]*{_NAMES}[ \t]*:\s*", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(rf"^[^\n:]*{_NAMES}[^\n:]*[:.]?[ \t]*\n\s*", re.IGNORECASE | re.MULTILINE)
_TAGGED = re.compile(r"<(context|documents?|passages?|sources?)>\s*(.+?)\s*</\1>", re.IGNORECASE | re.DOTALL)
_END = re.compile(r"^(?:question|query|user question|answer|helpful answer)\b[^\n]*:", re.IGNORECASE | re.MULTILINE)


def read_given_context(draft: TraceDraft) -> None:
    """Note as given the context of a template, or what a prompt holds after words such as "the following context:"."""
    if any(call.passages or call.consumed or call.kind in ("retriever", "tool") for call in draft.calls):
        return
    runs = [call for call in draft.calls if isinstance(call, Run)]
    filled = [run.given for run in runs if run.given]
    asked = [run for run in runs if run.answer and run.prompt]
    if filled:
        draft.root.consumed = [{"text": text} for text in filled[-1]]
    elif asked:
        texts = find_passages(asked[-1].system or "") or find_passages(asked[-1].prompt or "")
        draft.root.consumed = [{"text": text} for text in texts]


def find_passages(prompt: str) -> list[str]:
    r"""List the paragraphs of the part of a prompt that it says to be context.

    >>> find_passages("Use the context to answer.\nQuestion: Why?\nContext: Air scatters light.\n\nBlue most.\nAnswer:")
    ['Air scatters light.', 'Blue most.']
    """
    tagged = _TAGGED.search(prompt)
    beginnings = [match.end() for pattern in (_LABEL, _HEADING) for match in pattern.finditer(prompt)]
    parts = [tagged[2]] if tagged is not None else [_END.split(prompt[begin:])[0] for begin in beginnings]
    context = next((part for part in parts if part.strip()), "")
    return [text for each in re.split(r"\n\s*\n", context) if (text := each.strip())]
