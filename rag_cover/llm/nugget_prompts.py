"""The prompts by which a language model makes, weighs and assigns nuggets: a record that users read, edit and pass back.

The three steps are those of AutoNuggetizer (Pradeep et al., "The Great Nugget Recall", SIGIR 2025, §4.1.1 and §4.2.1), in words
of our own. Questions, passages, nuggets and texts are fenced as data in a message of their own (`rag_cover.llm.prompt_safety`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

from rag_cover.llm.prompt_files import read_prompts, refuse_blank_prompts
from rag_cover.llm.prompt_safety import fence
from rag_cover.llm.prompts import Conversation, conversation

__all__ = ["SHIPPED_PROMPTS", "NuggetPrompts"]

SHIPPED_PROMPTS = Path(__file__).with_name("nugget_prompts.toml")


@dataclass(frozen=True, slots=True)
class NuggetPrompts:
    """The instructions of the three steps: create, weigh, assign; ``{most}`` is how many nuggets are wanted at most.

    >>> "partial_support" in NuggetPrompts.read().assign
    True
    """

    create: str
    weigh: str
    assign: str

    def __post_init__(self) -> None:
        """Refuse instructions that say nothing."""
        refuse_blank_prompts(self, [field.name for field in fields(self)])

    @classmethod
    def read(cls, path: Path | None = None) -> Self:
        """Read prompts from a TOML file; what it leaves out, and all without a file, is as shipped.

        Raises:
            InputError: the file cannot be read or holds something else.
        """
        return cls(**read_prompts(SHIPPED_PROMPTS, path, printed_by="rag-cover nuggets make"))

    def creating(self, question: str, passages: Sequence[str], nuggets: Sequence[str], *, most: int) -> Conversation:
        """Ask for the list of nuggets, brought up to date with some passages."""
        texts = [fence("passage", text, number=number) for number, text in enumerate(passages, 1)]
        listed = f"{len(nuggets)} nuggets are on the list so far" if nuggets else "The list is empty so far"
        instruction = f"{listed}. Write the whole list, of at most {most} nuggets. Reply with the JSON only."
        parts = [fence("question", question), *texts, *_numbered(nuggets), instruction]
        return conversation(self.create.replace("{most}", str(most)), parts)

    def weighing(self, question: str, nuggets: Sequence[str]) -> Conversation:
        """Ask how important nuggets are."""
        instruction = f"Say how important each of the {len(nuggets)} nuggets above is. Reply with the JSON only."
        return conversation(self.weigh, [fence("question", question), *_numbered(nuggets), instruction])

    def assigning(self, text: str, nuggets: Sequence[str], *, question: str = "") -> Conversation:
        """Ask which nuggets a text states; ``question`` is what it replies to, if it is a reply."""
        asked = [fence("question", question)] if question else []
        instruction = f"Label each of the {len(nuggets)} nuggets above. Reply with the JSON only."
        return conversation(self.assign, [*asked, fence("text", text), *_numbered(nuggets), instruction])


def _numbered(nuggets: Sequence[str]) -> list[str]:
    return [fence("nugget", text, number=number) for number, text in enumerate(nuggets, 1)]
