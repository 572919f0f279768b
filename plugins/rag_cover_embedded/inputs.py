"""How questions, references and texts become token ids: the one layout that training and inference share.

Every judged pair is ``[task] first [SEP] second [SEP]`` with segment 0 for the first part and 1 for the second. ``[task]``
stands where BERT has ``[CLS]`` and tells the encoder which question it is asked; ``[CLS]`` itself asks for the *text* mode
(embeddings), which sees one segment only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from rag_cover.backends import is_part
from rag_cover.errors import CorruptFileError
from rag_cover.texts import encodable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Tokenizer

CLS, SEP, PAD = 101, 102, 0
MAX_FIRST = 96
MAX_ASKED = 48
MAX_SUB_QUESTION = 56
MAX_TOKENS = 256


class Task(IntEnum):
    """The leading token of each mode: rows of BERT's vocabulary that no text can produce."""

    TEXT = CLS
    ENTAILMENT = 1
    ANSWERS = 2
    CORRECT = 3
    REPLIES = 4


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of one input, its segment ids, and where the second part's tokens stand in its text.

    ``offsets[i]`` are the code points (start, end) in the second text of token ``start + i``. ``features`` (for answer
    correctness alone) are `likeness` of the text to the references. ``least`` is the logit of its answer or reply below which
    nothing is asked of its single tokens: the network then leaves them out.
    """

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    start: int = 0
    offsets: tuple[tuple[int, int], ...] = ()
    features: tuple[float, ...] = ()
    least: float = -math.inf

    def __len__(self) -> int:
        return len(self.ids)


def open_tokenizer(path: Path) -> Tokenizer:
    """Open a tokenizer so that special tokens written in a text stay text, without padding or truncation."""
    from tokenizers import Tokenizer as Opened

    try:
        tokenizer = Opened.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower; re-raised with what to do
        message = f"{path} is no tokenizer: {error}. Reinstall rag-cover."
        raise CorruptFileError(message) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def encode_pairs(
    tokenizer: Tokenizer, task: Task, pairs: Sequence[tuple[str, str]], *, max_tokens: int = MAX_TOKENS
) -> list[Encoded]:
    """Encode pairs of texts for one judging task.

    The first part keeps at most ``MAX_FIRST`` tokens when the second needs the room, the second whatever is left; callers
    that must not lose text window it first.
    """
    firsts = tokenizer.encode_batch([first for first, _ in pairs], add_special_tokens=False)
    seconds = tokenizer.encode_batch([second for _, second in pairs], add_special_tokens=False)
    return [
        join(task, first.ids, second.ids, second.offsets, max_tokens=max_tokens)
        for first, second in zip(firsts, seconds, strict=True)
    ]


def join(
    task: Task,
    first: Sequence[int],
    second: Sequence[int],
    offsets: Sequence[tuple[int, int]] = (),
    *,
    features: Sequence[float] = (),
    least: float = -math.inf,
    max_tokens: int = MAX_TOKENS,
) -> Encoded:
    """Join the token ids of two parts into the input of one judging task."""
    room = max_tokens - 3
    kept = list(first[: max(MAX_FIRST, room - len(second))])
    rest = list(second[: room - len(kept)])
    ids = (int(task), *kept, SEP, *rest, SEP)
    segments = (0,) * (len(kept) + 2) + (1,) * (len(rest) + 1)
    return Encoded(ids, segments, len(kept) + 2, tuple(offsets[: len(rest)]), tuple(features), least)


def encode_texts(tokenizer: Tokenizer, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS) -> list[Encoded]:
    """Encode single texts for the *text* mode."""
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return [_alone(encoding.ids, encoding.offsets, max_tokens) for encoding in encodings]


def _alone(ids: Sequence[int], offsets: Sequence[tuple[int, int]], max_tokens: int) -> Encoded:
    kept = ids[: max_tokens - 2]
    return Encoded((CLS, *kept, SEP), (0,) * (len(kept) + 2), 1, tuple(offsets[: len(kept)]))


def reply_question(tokenizer: Tokenizer, question: str, user_question: str) -> list[int]:
    """Write the first part of a reply pair: ``sub-question [SEP] user's question``, or the question alone where both are one.

    The sub-question keeps its first 56 tokens, the user's question the first that fit into 96 with it.
    """
    ids = tokenizer.encode(encodable(question), add_special_tokens=False).ids
    if not is_part(question, user_question):
        return ids[:MAX_FIRST]
    ids = [*ids[:MAX_SUB_QUESTION], SEP]
    return [*ids, *tokenizer.encode(encodable(user_question), add_special_tokens=False).ids][:MAX_FIRST]


def groups_of_references(tokenizer: Tokenizer, question: Sequence[int], references: Sequence[str]) -> list[list[int]]:
    """Write the first parts of correctness pairs, ``question answer: reference ; reference``, each with what fits.

    Of a question (token ids) with more than 48 tokens the last 48 are kept, of a reference too long for the rest its first
    ones; no reference is left out.
    """
    asked = list(question[-MAX_ASKED:])
    lead = tokenizer.encode(" answer: ", add_special_tokens=False).ids
    between = tokenizer.encode(" ; ", add_special_tokens=False).ids
    room = MAX_FIRST - len(asked) - len(lead)
    groups: list[list[int]] = []
    for encoding in tokenizer.encode_batch([encodable(reference) for reference in references], add_special_tokens=False):
        ids = encoding.ids[:room]
        if groups and len(groups[-1]) + len(between) + len(ids) <= room:
            groups[-1] += [*between, *ids]
        else:
            groups.append(list(ids))
    return [[*asked, *lead, *group] for group in groups]
