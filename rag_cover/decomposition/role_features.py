"""A sub-question beside its question, as numbers: what rules say, what it means, what it does, and its form.

Its meaning, less that of the question, says where it leads away from what was asked. With "it" in the place of every word that
it shares with the question, it says what it does and no longer what it is about: "What is it?" is background of any question,
"How can individuals reduce it?" a follow-up. Nothing here depends on the other sub-questions of the list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.decomposition.roles import role_of
from rag_cover.english.words import content_words, words_of
from rag_cover.questions import Role

__all__ = ["FORM", "describe_sub_questions", "mask_topic", "texts_to_embed"]

FORM: tuple[str, ...] = ("words of the question", "new words", "length", "same beginning", "a name")
"""Features of a sub-question's form, each about 0 to 1; see `_form`."""

_MEANING = 2.0  # the weight of vectors beside what is 0 or 1, since ridge regression shrinks by scale
_WORD = re.compile(r"[\w'’-]+")


def texts_to_embed(question: str, sub_questions: Sequence[str]) -> list[str]:
    """List the 1 + 2n texts whose vectors `describe_sub_questions` takes: the question, n sub-questions, these masked."""
    return [question, *sub_questions, *(mask_topic(question, text) for text in sub_questions)]


def describe_sub_questions(question: str, sub_questions: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return (n, 3 + 2d + 5 + 1) features; ``vectors`` are the (1 + 2n, d) embeddings of `texts_to_embed`."""
    n = len(sub_questions)
    asked, plain, without_topic = vectors[0], vectors[1 : n + 1], vectors[n + 1 :]
    by_rules = [[float(role is role_of(question, text)) for role in Role] for text in sub_questions]
    form = [_form(question, text) for text in sub_questions]
    return np.concatenate(
        [
            np.array(by_rules).reshape(n, len(Role)),
            _MEANING * without_topic,
            _MEANING * (plain - asked),
            np.array(form).reshape(n, len(FORM)),
            np.ones((n, 1)),
        ],
        axis=1,
    )


def mask_topic(question: str, sub_question: str) -> str:
    """Put "it" in the place of every word that a sub-question shares with its question.

    >>> mask_topic("How does climate change affect the earth?", "How can individuals slow climate change?")
    'How can individuals slow it it?'
    """
    shared = content_words(question)
    return _WORD.sub(lambda match: "it" if content_words(match.group()) & shared else match.group(), sub_question)


def _form(question: str, sub_question: str) -> list[float]:
    """Return the form of a sub-question in the order of `FORM`: background is short, a follow-up brings words of its own.

    The first is the share of the question's content words that it repeats, 0 of a question that has none; the second and third
    are counts of words, in fives and in tens; a name is a capital letter after the first word.
    """
    asked, said = content_words(question), content_words(sub_question)
    return [
        len(asked & said) / max(len(asked), 1),
        len(said - asked) / 5,
        len(words_of(sub_question)) / 10,
        float(words_of(sub_question)[:1] == words_of(question)[:1]),
        float(any(word[0].isupper() for word in sub_question.split()[1:])),
    ]
