"""The steps of a multi-hop question, by rules: each asks for what the next one needs to know.

``#1`` stands for the answer of step 1, as in QDMR (Wolfson et al., "Break it down", TACL 2020) and MuSiQue (Trivedi et al.,
TACL 2022). A question is a comparison of two things by what has to be looked up for each, a statement that ends in a question
about something in it, or a chain of descriptions inside descriptions. Rules know English and go by the wording; they rather
leave a question whole than split it wrongly.
"""

from __future__ import annotations

import re

from rag_cover.decomposition.multihop.chains import split_chain
from rag_cover.decomposition.multihop.comparisons import compares, split_comparison
from rag_cover.decomposition.multihop.statements import split_statement
from rag_cover.decomposition.multihop.words import trim_question

__all__ = ["hops_of"]

_SEVERAL = r"[.;] (?:Who|What|Which|When|Where|How|who|what|which|when|where|how)\b"  # a question after another sentence
_READ = 800  # characters; a longer text is no multi-hop question


def hops_of(question: str) -> tuple[str, ...]:
    """Split a multi-hop question into steps that build on each other, by rules; () where it is no such question.

    Every step stands on its own once its ``#k`` are replaced by the answers of the steps so numbered, which come before it.

    >>> hops_of("When was the director of film Jaws born?")
    ('Who is the director of film Jaws?', 'When was #1 born?')
    >>> hops_of("Who was born first, Homer or Plato?")
    ('When was Homer born?', 'When was Plato born?')
    >>> hops_of("Who wrote Emma?")
    ()
    """
    text = trim_question(question[: _READ + 1])
    if not text or "#" in text or len(question) > _READ or re.search(_SEVERAL, text):
        return ()
    if compares(text):
        return split_comparison(text)
    steps = split_statement(text) or split_chain(f"{text}?")
    return steps if len(steps) > 1 else ()
