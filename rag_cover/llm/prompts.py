"""A prompt of two messages: instructions, and the data that they are about."""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.backends import Message

__all__ = ["Conversation", "conversation"]

Conversation = tuple[Message, ...]


def conversation(instructions: str, parts: Sequence[str]) -> Conversation:
    """Put instructions into a message of their own, and what they are about, fenced by the caller, into another."""
    return Message("system", instructions.strip()), Message("user", "\n\n".join(parts))
