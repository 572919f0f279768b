"""The prompts by which a language model decomposes a question: a record that users read, edit and pass back.

What users edit are the instructions. The question itself, and the sub-questions to be typed, are put into a message of their
own, escaped and fenced as data (`rag_cover.llm.prompt_safety`), so that no edit can let a question give orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

from rag_cover.llm.prompt_files import read_prompts, refuse_blank_prompts
from rag_cover.llm.prompt_safety import fence
from rag_cover.llm.prompts import Conversation, conversation

__all__ = ["SHIPPED_PROMPTS", "DecompositionPrompts"]

SHIPPED_PROMPTS = Path(__file__).with_name("prompts.toml")


@dataclass(frozen=True, slots=True)
class DecompositionPrompts:
    """The instructions of the two steps (coverage paper, §3.1): split, then type; ``{most}`` is how many are wanted.

    >>> "core" in DecompositionPrompts.read().type
    True
    """

    decompose: str
    type: str

    def __post_init__(self) -> None:
        """Refuse instructions that say nothing."""
        refuse_blank_prompts(self, _NAMES)

    @classmethod
    def read(cls, path: Path | None = None) -> Self:
        """Read prompts from a TOML file; what it leaves out, and all without a file, is as shipped.

        Raises:
            InputError: the file cannot be read or holds something else.
        """
        return cls(**read_prompts(SHIPPED_PROMPTS, path, printed_by="rag-cover decompose"))

    def splitting(self, question: str, *, most: int) -> Conversation:
        """Ask for the sub-questions of a question."""
        instruction = f"Write at most {most} sub-questions of the question above. Reply with the JSON only."
        return conversation(self.decompose.replace("{most}", str(most)), [fence("question", question), instruction])

    def typing(self, question: str, sub_questions: Sequence[str]) -> Conversation:
        """Ask for the types of sub-questions."""
        numbered = [fence("sub_question", text, number=number) for number, text in enumerate(sub_questions, 1)]
        instruction = f"Give the type of each of the {len(sub_questions)} sub-questions above. Reply with the JSON only."
        return conversation(self.type, [fence("question", question), *numbered, instruction])


_NAMES = tuple(each.name for each in fields(DecompositionPrompts))
