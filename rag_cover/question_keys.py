"""Which traces ask the same question: the units that summaries resample and comparisons pair."""

from __future__ import annotations

import unicodedata

from rag_cover.placeholder import Placeholder
from rag_cover.questions import Question

__all__ = ["normalise_question", "question_key"]


def question_key(question: Question) -> str:
    """Return what identifies a question: its id if it has one, else its text up to case, width and white space.

    >>> question_key(Question("Why  is the sky blue?")) == question_key(Question("why is the sky BLUE?"))
    True
    """
    if question.id is not None:
        return f"id:{question.id}"
    if (redacted := Placeholder.read(question.text)) and redacted.asked_as:
        return f"text:{redacted.asked_as}"
    return f"text:{_fold(question.text)}"


def normalise_question(text: str) -> str:
    """Return what two spellings of one question share: its text up to case, width, white space and the points at its end.

    >>> normalise_question("Who wrote  Emma ?"), normalise_question("What is C++?")
    ('who wrote emma', 'what is c++')
    """
    return _fold(text).rstrip("?!. ")


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
