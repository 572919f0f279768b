"""The state that a decision model is asked about, written as text: messages, and JSON data that may contain messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from rag_cover.errors import InvalidValueError

__all__ = ["state_text"]

_MEDIA = frozenset(("image", "image_url", "audio", "video", "file"))


def state_text(state: object) -> str:
    """Write a state: a text and a message as they are, messages line by line under their roles, all else as JSON.

    Raises:
        InvalidValueError: it holds an image, a sound, a video or a file.
    """
    if isinstance(state, str):
        return state
    if isinstance(state, BaseMessage):
        return _message_text(state)
    if isinstance(state, Sequence) and state and all(isinstance(each, BaseMessage) for each in state):
        return "\n".join(f"{each.type}: {_message_text(each)}" for each in state)
    return json.dumps(_plain(state), ensure_ascii=False)


def _plain(value: object) -> Any:
    match value:
        case BaseMessage():
            return {value.type: _message_text(value)}
        case Mapping():
            _refuse_media(value)
            return {str(name): _plain(each) for name, each in value.items()}
        case str() | int() | float() | None:
            return value
        case Sequence():
            return [_plain(each) for each in value]
        case _:
            message = f"a state holds text, numbers, messages, lists and mappings of them, not {type(value).__name__!r}"
            raise InvalidValueError(message)


def _message_text(message: BaseMessage) -> str:
    for block in message.content if isinstance(message.content, list) else ():
        _refuse_media(block)
    return str(message.text)


def _refuse_media(block: object) -> None:
    if isinstance(block, Mapping) and block.get("type") in _MEDIA:
        message = f"rag_cover's judges read text only, and the state holds {block['type']!r}; leave it out or describe it"
        raise InvalidValueError(message)
