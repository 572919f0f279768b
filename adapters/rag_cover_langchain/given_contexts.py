"""Passages that a model was given in its system prompt, where nothing else tells what was searched for.

A prompt that a function makes, such as LangChain's ``dynamic_prompt``, is all that is seen of a search within it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_cover.recording import TraceDraft
from rag_cover_langchain.calls import Run

__all__ = ["read_given_context"]

_HEADING = re.compile(
    r"^[^\n]*\b(?:contexts?|documents?|docs|passages?|sources?|excerpts?|snippets?|search results)\b[^\n]*[:.]?[ \t]*\n\s*",
    re.IGNORECASE | re.MULTILINE,
)
_TAGGED = re.compile(r"<(context|documents?|passages?|sources?)>\s*(.+?)\s*</\1>", re.IGNORECASE | re.DOTALL)
_END = re.compile(r"^(?:question|query|user question|answer|helpful answer)\b[^\n]*:", re.IGNORECASE | re.MULTILINE)


def read_given_context(draft: TraceDraft) -> None:
    """Note as given what the system prompt of the answer's model holds after words such as "the following context:"."""
    root = draft.root
    if any(call.passages or call.consumed or call.kind in ("retriever", "tool") for call in draft.calls):
        return
    written = [call for call in draft.calls if isinstance(call, Run) and call.system and call.answer]
    if written:
        root.consumed = [{"text": text} for text in _find_passages(written[-1].system or "")]


def _find_passages(prompt: str) -> Iterator[str]:
    """Yield the paragraphs of the part of a prompt that it says to be context."""
    tagged, heading = _TAGGED.search(prompt), _HEADING.search(prompt)
    if tagged is None and heading is None:
        return
    context = tagged[2] if tagged is not None else _END.split(prompt[heading.end() if heading is not None else 0 :])[0]
    yield from (text for each in re.split(r"\n\s*\n", context) if (text := each.strip()))
