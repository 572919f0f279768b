"""Does a reference stand word for word in what was retrieved: the simple thing beside ΔSePer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rag_cover.belief.receivers import as_read
from rag_cover.traces import Trace

__all__ = ["holds_answer", "holds_reference"]

_APART = re.compile(r"[\W_]+")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def holds_reference(trace: Trace) -> bool | None:
    """Check whether a reference stands in the last context; None without references or steps."""
    references, contexts = trace.question.references, trace.contexts()
    shown = contexts[-1] if contexts else ()
    return holds_answer(map(as_read, shown), references) if references and contexts else None


def holds_answer(texts: Iterable[str], references: Iterable[str]) -> bool:
    """Check whether a text holds a reference as whole words, whatever the case, punctuation and articles.

    >>> holds_answer(["It was built by Gustave Eiffel, in 1889."], ["Gustave  Eiffel"]), holds_answer(["Parisian"], ["Paris"])
    (True, False)
    """
    wanted = [plain for reference in references if (plain := _plain(reference)).strip()]
    shown = [_plain(text) for text in texts]
    return any(plain in text for plain in wanted for text in shown)


def _plain(text: str) -> str:
    words = _APART.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(_ARTICLES.sub(' ', words).split())} "
