"""The claims of a text: its sentences, or those that a language model writes.

Ru et al., *RAGChecker* (NeurIPS 2024 D&B), §3.2, has a language model write the claims. Without one each sentence is a claim,
by the same rules of what claims nothing as groundedness has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from rag_cover.backends import AbstentionDetector, Failure, Generator
from rag_cover.claims.prompts import ClaimPrompts
from rag_cover.errors import MalformedReplyError
from rag_cover.grounding.statements import Statement, leave_out_refusals, statements_of
from rag_cover.llm.json_replies import parse_reply
from rag_cover.llm.structured import replies_to

__all__ = ["AnswerText", "Claims", "ClaimsReply", "claims_in", "extract_claims", "split_claims"]

_LONGEST = 1_000  # characters of what still passes for one claim

Claims = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A text that answers a question: a pipeline's answer, or a gold one."""

    question: str
    text: str


class ClaimsReply(BaseModel):
    """The reply that is asked of a model."""

    model_config = ConfigDict(defer_build=True)  # when first used: importing is not the time

    claims: list[str]


def split_claims(texts: Sequence[AnswerText], *, abstention: AbstentionDetector | None = None) -> list[Claims]:
    """Take the sentences of each text as its claims; with a detector, without those that decline to answer.

    >>> [claim.words for claim in split_claims([AnswerText("When is it open?", "Hello! It opens at 9 and closes at 5.")])[0]]
    ['It opens at 9 and closes at 5.']
    """
    found = [statements_of(each.text, each.question) for each in texts]
    if abstention is not None:
        found = leave_out_refusals(found, [each.question for each in texts], abstention)
    return [tuple(each) for each in found]


def extract_claims(texts: Sequence[AnswerText], generator: Generator, *, prompts: ClaimPrompts) -> list[Claims | Failure]:
    """Have a language model write the claims of each text, all in one call; a blank text has none and is not asked about.

    In place of the claims of a text that could not be had, why. A reply that cannot be read is asked for once more.

    Raises:
        ModelFailedError: the generator broke its word and did not return one generation for each prompt.
    """
    asked = [each for each in dict.fromkeys(texts) if each.text.strip()]
    conversations = [prompts.extracting(each.question, each.text) for each in asked]
    replies = replies_to(conversations, generator, lambda _, reply: claims_in(reply), schema=ClaimsReply, purpose="claims")
    found = dict(zip(asked, replies, strict=True))
    return [found.get(each, ()) for each in texts]


def claims_in(reply: str) -> Claims:
    """Read the claims of a reply, each once.

    >>> [claim.words for claim in claims_in('{"claims": ["The sky is blue.", " ", "The sky is blue."]}')]
    ['The sky is blue.']

    Raises:
        MalformedReplyError: it holds no list of claims, or a claim that is too long to be one.
    """
    written = [" ".join(claim.split()) for claim in parse_reply(reply, ClaimsReply).claims]
    if any(len(claim) > _LONGEST for claim in written):
        message = f"a claim is longer than {_LONGEST:,} characters"
        raise MalformedReplyError(message, raw=reply)
    return tuple(Statement(None, claim, ((claim,),)) for claim in dict.fromkeys(written) if any(map(str.isalnum, claim)))
