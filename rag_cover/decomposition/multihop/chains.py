"""A question with a description in it, as the question for what is described and the question about that."""

from __future__ import annotations

from rag_cover.decomposition.multihop.descriptions import Description, description_in
from rag_cover.decomposition.multihop.words import DETERMINERS, Wording, question_about, wording_of

__all__ = ["split_chain"]

_DEEPEST = 4  # descriptions inside descriptions


def split_chain(question: str, *, deepest: int = _DEEPEST) -> tuple[str, ...]:
    """Ask for what a question describes first, innermost first, and then the question; at least the question itself.

    >>> split_chain("Who is the father of the director of Jaws?")
    ('Who is the director of Jaws?', 'Who is the father of #1?')
    """
    wording = wording_of(question.removesuffix("?"))
    found = description_in(wording) if deepest else None
    if found is None:
        return (question,)
    earlier = split_chain(question_about(_phrase_of(wording, found), _head(wording, found)), deepest=deepest - 1)
    return (*earlier, _about(wording, found, f"#{len(earlier)}"))


def _phrase_of(wording: Wording, found: Description) -> str:
    """Return a description as it follows "Who is": with its article, and without the 's of what it owns."""
    phrase = wording.text(found.start, found.end).removesuffix("'s").removesuffix("’s").rstrip()
    if (article := wording.plain[found.start]) in DETERMINERS:
        return f"the {phrase[len(article) + 1 :]}"
    return f"the {phrase}" if found.head == found.start else phrase


def _head(wording: Wording, found: Description) -> str:
    return wording.words[found.head].rstrip(",").removesuffix("'s").removesuffix("’s")


def _about(wording: Wording, found: Description, slot: str) -> str:
    """Ask the question of what a slot stands for."""
    before, after = wording.words[: found.start], wording.words[found.end :]
    last = wording.words[found.end - 1]
    owns = "'s" if last.replace("’", "'").endswith("'s") and found.head == found.end - 1 else ""
    comma = "," if last.endswith(",") and found.start == 1 else ""
    text = " ".join((*before, f"{slot}{owns}{comma}", *after))
    return f"{text}?".replace(f"{slot} 's", f"{slot}'s")
