"""Traces in a language that a model does not read: not applicable, since verdicts on them mean nothing.

A model says which languages it reads (`rag_cover.backends.languages_of`); one that says nothing is taken to read all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rag_cover.backends import languages_of
from rag_cover.language import language_of, unread_reason
from rag_cover.measures import Measure, ModelKind
from rag_cover.traces import Trace

__all__ = ["unread_language"]

_JUDGES: tuple[ModelKind, ...] = ("scorer", "entailer")


def unread_language(measure: Measure, trace: Trace, models: Mapping[ModelKind, Any]) -> str | None:
    """Return why a judge that the measure needs cannot read a trace; None where it can, or may be able to.

    The question, the answer and the passages count, passages where most of them are in one such language.
    """
    for kind in measure.required_models:
        read = languages_of(models[kind]) if kind in _JUDGES and kind in models else None
        if read is None:
            continue
        for what, language in _languages(trace):
            if language not in read:
                return unread_reason(what, language, read)
    return None


def _languages(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield the parts of a trace of which the language is known, with its code."""
    for what, text in (("the question is", trace.question.text), ("the answer is", trace.answer or "")):
        if (language := _language_of(text)) is not None:
            yield what, language
    passages = list(dict.fromkeys(_texts(trace)))
    found = Counter(language for text in passages if (language := _language_of(text)) is not None)
    if found and 2 * found.most_common(1)[0][1] > len(passages):
        yield "the passages are", found.most_common(1)[0][0]


def _texts(trace: Trace) -> Sequence[str]:
    steps = [passage.text for step in trace.steps for passage in step.passages]
    return steps or [passage.text for passage in trace.prompt or ()]


@lru_cache(maxsize=4096)
def _language_of(text: str) -> str | None:
    return language_of(text)
