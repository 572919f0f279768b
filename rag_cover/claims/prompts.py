"""The prompt by which a language model takes a text apart into claims: a record that users read, edit and pass back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rag_cover.llm.prompt_files import read_prompts, refuse_blank_prompts
from rag_cover.llm.prompt_safety import fence
from rag_cover.llm.prompts import Conversation, conversation

__all__ = ["SHIPPED_PROMPTS", "ClaimPrompts"]

SHIPPED_PROMPTS = Path(__file__).with_name("prompts.toml")


@dataclass(frozen=True, slots=True)
class ClaimPrompts:
    """The instructions; question and text are put into a message of their own, escaped and fenced as data.

    >>> "claims" in ClaimPrompts.read().extract
    True
    """

    extract: str

    def __post_init__(self) -> None:
        """Refuse instructions that say nothing."""
        refuse_blank_prompts(self, ("extract",))

    @classmethod
    def read(cls, path: Path | None = None) -> Self:
        """Read the prompt from a TOML file; without a file it is as shipped.

        Raises:
            InputError: the file cannot be read or holds something else.
        """
        return cls(**read_prompts(SHIPPED_PROMPTS, path))

    def extracting(self, question: str, text: str) -> Conversation:
        """Ask for the claims of a text that answers a question."""
        told = "List the claims of the text above. Reply with the JSON only."
        return conversation(self.extract, [fence("question", question), fence("text", text), told])
