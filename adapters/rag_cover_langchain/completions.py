"""What a LangChain language model wrote, read as a sample: its text, how it ended, its log-probabilities, its tokens.

A message keeps its counts of tokens in ``usage_metadata``, and what else its server told in ``response_metadata``, in that
server's own shape. What is not found there is unknown: None.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from rag_cover.errors import ModelFailedError
from rag_cover.integration import Written, get_field, sample_from_completion

__all__ = ["read_completion", "read_message"]


def read_message(message: object, *, stop: Sequence[str] = ()) -> Written:
    """Read a message, or what a chain made of it, up to the first of the texts where it should have stopped.

    Raises:
        ModelFailedError: the reply is neither a message nor a text.
    """
    if isinstance(message, str):
        return sample_from_completion(message, reports=(), stop=stop)
    if not isinstance(message, BaseMessage):
        problem = f"it gave {type(message).__name__!r}, which is neither a message nor a text"
        raise ModelFailedError(problem, kind="malformed")
    report = message.response_metadata
    return sample_from_completion(str(message.text), reports=(message, report), tokens=_tokens(report), stop=stop)


def read_completion(result: LLMResult, *, stop: Sequence[str] = ()) -> Written:
    """Read a completion, up to the first of the texts where it should have stopped."""
    (written, *_), *_ = result.generations
    report = written.generation_info or {}
    return sample_from_completion(written.text, reports=(report, result.llm_output), tokens=_tokens(report), stop=stop)


def _tokens(report: object) -> list[object]:
    content = get_field(get_field(report, "logprobs"), "content")
    return content if isinstance(content, list) else []
