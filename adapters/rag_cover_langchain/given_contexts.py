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
_LABEL = re.compile(
    r"^[ \t>*#-]{0,8}(?:\w{1,20} ){0,3}(?:contexts?|documents?|passages?|excerpts?|snippets?|search results)[ \t]*:\s*",
    re.IGNORECASE | re.MULTILINE,
)
"""What context may follow on the same line."""
_HEADING = re.compile(rf"^[^\n:]{{0,200}}{_NAMES}[^\n:]{{0,200}}[ \t]*:?[ \t]*\n\s*", re.IGNORECASE | re.MULTILINE)
_OPENING = re.compile(r"<(context|documents?|passages?|sources?)>", re.IGNORECASE)
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
        question = draft.root.query or ""
        draft.root.consumed = [{"text": text} for text in texts if text not in question]


def find_passages(prompt: str) -> list[str]:
    r"""List the paragraphs of the part of a prompt that it says to be context.

    >>> find_passages("Use the context to answer.\nQuestion: Why?\nContext: Air scatters light.\n\nBlue most.\nAnswer:")
    ['Air scatters light.', 'Blue most.']
    """
    labels, headings = ([match.end() for match in each.finditer(prompt)] for each in (_LABEL, _HEADING))
    beginnings = [*reversed(labels), *headings]  # the last label: examples come before what is asked
    parts = (_until_end(prompt, begin) for begin in beginnings)
    context = _within_tags(prompt) or next((part for part in parts if part.strip()), "")
    return [text for each in re.split(r"\n\s*\n", context) if (text := each.strip())]


def _until_end(prompt: str, begin: int) -> str:
    end = _END.search(prompt, begin)
    return prompt[begin : end.start() if end else len(prompt)]


def _within_tags(prompt: str) -> str:
    """Return what stands between the first tags of context that are closed; nothing where there are none."""
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(prompt):
        name = opening[1].lower()
        closing = None if name in unclosed else re.compile(f"</{name}>", re.IGNORECASE).search(prompt, opening.end())
        if closing is not None and (text := prompt[opening.end() : closing.start()].strip()):
            return text
        unclosed.update(() if closing else (name,))
    return ""
