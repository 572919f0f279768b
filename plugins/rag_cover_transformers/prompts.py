"""Prompts as token ids: the receiver's plain one, and chats in the model's own template.

What stands in a prompt's texts is data: special tokens written there stay text, also inside a chat template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jinja2 import TemplateError
from numpy.typing import NDArray
from pydantic import BaseModel
from tokenizers import Tokenizer

from rag_cover.backends import Message, Prompt
from rag_cover.belief.receivers import as_read
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Passage
from rag_cover.texts import encodable
from rag_cover_transformers.encodings import literal_tokenizer

__all__ = ["INSTRUCTION", "PromptEncoder", "plain_receiver_prompt", "with_schema"]

Ids = NDArray[np.int64]

INSTRUCTION = "Answer the following question as briefly as possible."

_PLACE = re.compile("\ue000(\\d+)\ue001")


def plain_receiver_prompt(question: str, passages: Sequence[Passage], *, instruction: str = INSTRUCTION) -> str:
    r"""Write the zero-shot prompt that belief is measured with.

    >>> plain_receiver_prompt("Who wrote Emma?", [Passage("Emma is by Jane Austen.")], instruction="Be brief.")
    'Be brief.\nContext: Emma is by Jane Austen.\nQuestion: Who wrote Emma?\nAnswer:'
    """
    context = ["Context: " + "\n\n".join(map(as_read, passages))] if passages else []
    return "\n".join([instruction, *context, f"Question: {question}", "Answer:"])


def with_schema(prompt: Prompt, schema: type[BaseModel] | None) -> Prompt:
    """Ask for JSON of a schema at the end of a prompt; the model is not held to it."""
    if schema is None:
        return prompt
    wish = f"Answer with JSON alone, of this schema: {json.dumps(schema.model_json_schema())}"
    if isinstance(prompt, str):
        return f"{prompt}\n\n{wish}"
    *before, last = prompt
    return (*before, Message(last.role, f"{last.content}\n\n{wish}"))


class PromptEncoder:
    """Encodes prompts: texts as they are, messages by the tokenizer's chat template."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._literal = literal_tokenizer(tokenizer)
        self._marked = Tokenizer.from_str(self._literal.to_str())
        self._marked.encode_special_tokens = False
        added = self._marked.get_added_tokens_decoder().values()
        self._special = tuple(token.content for token in added if token.special)

    def text(self, text: str) -> Ids:
        """Encode a text with what the tokenizer puts before it."""
        return np.array(self._literal.encode(encodable(text)).ids, dtype=np.int64)

    def prompt(self, prompt: Prompt) -> Ids:
        """Encode a prompt for a Generator: by the chat template, a text as one message; without one, texts as they are."""
        if isinstance(prompt, str):
            return self.chat((Message("user", prompt),)) if self._tokenizer.chat_template else self.text(prompt)
        if not self._tokenizer.chat_template:
            return self.text("\n\n".join(message.content for message in prompt))
        return self.chat(prompt)

    def chat(self, messages: Sequence[Message]) -> Ids:
        """Encode messages by the template, as the tokenizer itself would.

        Where a message holds the text of a special token, the template's own parts are encoded with their special tokens and
        the contents, one by one, as plain text.
        """
        contents = [encodable(message.content) for message in messages]
        if not any(special in content for special in self._special for content in contents):
            written = self._write_messages(messages, contents)
            return np.array(self._marked.encode(written, add_special_tokens=False).ids, dtype=np.int64)
        parts = _PLACE.split(self._write_messages(messages, [f"\ue000{number}\ue001" for number in range(len(messages))]))
        ids: list[int] = []
        for number, part in enumerate(parts):
            encoder, text = (self._literal, contents[int(part)]) if number % 2 else (self._marked, part)
            ids += encoder.encode(text, add_special_tokens=False).ids
        return np.array(ids, dtype=np.int64)

    def _write_messages(self, messages: Sequence[Message], contents: Sequence[str]) -> str:
        """Write messages with these contents; a system message that the template refuses goes before the user's."""
        turns = [{"role": message.role, "content": content} for message, content in zip(messages, contents, strict=True)]
        try:
            return self._apply_template(turns)
        except TemplateError as error:
            if [turn["role"] for turn in turns[:2]] != ["system", "user"]:
                raise self._refusal(messages, error) from error
        rules, asked, *others = turns
        try:
            return self._apply_template([asked | {"content": f"{rules['content']}\n\n{asked['content']}"}, *others])
        except TemplateError as error:
            raise self._refusal(messages, error) from error

    def _apply_template(self, turns: Sequence[dict[str, str]]) -> str:
        return str(self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))

    @staticmethod
    def _refusal(messages: Sequence[Message], error: TemplateError) -> InvalidValueError:
        roles = ", ".join(message.role for message in messages)
        return InvalidValueError(f"the model's chat template refuses these messages ({roles}): {error}")
