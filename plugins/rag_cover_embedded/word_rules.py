"""Texts that answer nothing by their words alone, whatever the network says of them."""

from __future__ import annotations

from rag_cover_embedded.asked_kinds import lacks_asked_kind
from rag_cover_embedded.bare_abstentions import only_abstains
from rag_cover_embedded.echoes import only_repeats

__all__ = ["answers_nothing"]


def answers_nothing(question: str, text: str, user_question: str = "") -> bool:
    """Return whether a text repeats an open question, only says that sources say nothing, or lacks the asked amount or time.

    >>> asked = "How old is the bridge?"
    >>> answers_nothing(asked, "Nothing in the documents says that."), answers_nothing(asked, "Forty.")
    (True, False)
    """
    return only_repeats(question, text, user_question) or only_abstains(question, text) or lacks_asked_kind(question, text)
