"""Does a reply decline to answer: the head that tells "the documents do not say" from an answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.backends import Abstention
from rag_cover_embedded.answers import WHOLE_REPLY, Asked
from rag_cover_embedded.inputs import Encoded, Task, join, reply_question
from rag_cover_embedded.memory import LogitMemory
from rag_cover_embedded.segments import segment_texts
from rag_cover_embedded.session import Network

__all__ = ["abstention", "combine"]

NO, PARTLY, WHOLLY = range(3)
_WINDOWS = 16
"""Windows that are read: a longer reply (some 1,800 words) has answered something."""


def abstention(
    session: Network, tokenizer: Tokenizer, asked: Sequence[Asked], cut: float, *, known: LogitMemory
) -> list[Abstention]:
    """Classify replies to a question (asked alone, or as a part of the user's question); ``cut`` is of P(partly or wholly).

    What a pass that judged a reply told of it is taken from ``known``.
    """
    distinct = {text: place for place, text in enumerate(dict.fromkeys(text for _, text, _ in asked))}
    texts = segment_texts(tokenizer, list(distinct))
    encoded: list[Encoded] = []
    counts: list[int] = []
    for question, written, user_question in asked:
        text = texts[distinct[written]]
        windows = text.windows(WHOLE_REPLY)
        counts.append(len(windows))
        if windows:
            first = reply_question(tokenizer, question, user_question)
            encoded += [join(Task.REPLIES, first, text.ids[text.tokens(window)].tolist()) for window in windows[:_WINDOWS]]
    recalled = known.recall("abstention", encoded)
    new = [each for each, logit in zip(encoded, recalled, strict=True) if logit is None]
    read = iter([logit for (logit,) in session.run(new, ["abstention"])])
    logits = iter([next(read) if logit is None else logit for logit in recalled])
    return [combine([_class(next(logits), cut) for _ in range(min(count, _WINDOWS))], count) for count in counts]


def combine(classes: Sequence[int], windows: int) -> Abstention:
    """Make one class of those of a reply's windows: it abstains wholly if all of them do, partly if some do.

    >>> combine([WHOLLY], 1), combine([WHOLLY, NO], 2), combine([NO], 1), combine([], 0)
    ('wholly', 'partly', 'no', 'no')
    """
    if not classes or all(each == NO for each in classes):
        return "no"
    return "wholly" if all(each == WHOLLY for each in classes) and len(classes) == windows else "partly"


def _class(logits: NDArray[np.float32], cut: float) -> int:
    powers = np.exp(logits.astype(np.float64) - float(logits.max()))
    shares = powers / powers.sum()
    if 1 - float(shares[NO]) < cut:
        return NO
    return WHOLLY if shares[WHOLLY] >= shares[PARTLY] else PARTLY
