"""Questions written by a language model, of one passage at a time; the same filters choose among them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

from rag_cover.backends import Failure, Generator, fingerprint_of
from rag_cover.llm.json_replies import parse_reply
from rag_cover.llm.prompt_files import read_prompts, refuse_blank_prompts
from rag_cover.llm.prompt_safety import fence
from rag_cover.llm.prompts import Conversation, conversation
from rag_cover.llm.structured import replies_to
from rag_cover.questions import Passage, prepend_title
from rag_cover.testsets.generation import QuestionCandidate
from rag_cover.testsets.questions import GoldStatement

__all__ = ["SHIPPED_PROMPTS", "QuestionWriter", "TestsetPrompts"]

SHIPPED_PROMPTS = Path(__file__).with_name("prompts.toml")
EACH = 3
_AT_ONCE = 16


class _WrittenQuestion(BaseModel):
    model_config = ConfigDict(defer_build=True)  # when first used: importing is not the time
    question: str
    answer: str
    quote: str = ""


class _QuestionsReply(BaseModel):
    model_config = ConfigDict(defer_build=True)
    questions: list[_WrittenQuestion]


@dataclass(frozen=True, slots=True)
class TestsetPrompts:
    """The instructions to write questions; ``{most}`` in them is how many are wanted of a passage.

    >>> "{most}" in TestsetPrompts.read().write
    True
    """

    __test__ = False  # for pytest, this is no test

    write: str

    def __post_init__(self) -> None:
        """Refuse instructions that say nothing."""
        refuse_blank_prompts(self, ["write"])

    @classmethod
    def read(cls, path: Path | None = None) -> Self:
        """Read prompts from a TOML file; without one they are as shipped.

        Raises:
            InputError: the file cannot be read or holds something else.
        """
        return cls(**read_prompts(SHIPPED_PROMPTS, path, printed_by="rag-cover questions"))

    def writing(self, passage: Passage, *, most: int = EACH) -> Conversation:
        """Ask for the questions that a passage answers."""
        text = fence("passage", prepend_title(passage.title, passage.text))
        return conversation(self.write.replace("{most}", str(most)), [text, "Write the questions. Reply with the JSON only."])


@dataclass(slots=True)
class QuestionWriter:
    """Asks a Generator for questions; what could not be had is in ``failures``."""

    generator: Generator
    prompts: TestsetPrompts = field(default_factory=TestsetPrompts.read)
    failures: list[Failure] = field(default_factory=list)

    def candidates(self, passages: Sequence[Passage], *, seed: int = 0) -> Iterator[QuestionCandidate]:
        """Yield questions of passages taken at random; a passage is asked about when its questions are wanted.

        Raises:
            ModelFailedError: the generator broke its word and did not return one reply for each prompt.
        """
        by = f"model:{getattr(self.generator, 'name', None) or fingerprint_of(self.generator)}"
        shuffled = iter(random.Random(seed).sample(list(passages), len(passages)))  # noqa: S311  # a sample, not a secret
        while block := list(islice(shuffled, _AT_ONCE)):
            prompts = [self.prompts.writing(passage) for passage in block]
            replies = replies_to(prompts, self.generator, _read, schema=_QuestionsReply, purpose="testset")
            for passage, reply in zip(block, replies, strict=True):
                if isinstance(reply, Failure):
                    self.failures.append(reply)
                else:
                    yield from (_candidate(each, passage, by) for each in reply)


def _read(_: int, text: str) -> list[_WrittenQuestion]:
    written = parse_reply(text, _QuestionsReply).questions
    return [each for each in written if each.question.strip() and each.answer.strip()]


def _candidate(written: _WrittenQuestion, passage: Passage, by: str) -> QuestionCandidate:
    quote = written.quote if written.quote.strip() and written.quote in passage.text else passage.text
    return QuestionCandidate(GoldStatement(written.question.strip(), written.answer.strip(), passage, quote), by)
