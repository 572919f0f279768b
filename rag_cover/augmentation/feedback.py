"""Pseudo-relevance feedback: a question searched for again with the names that its first passages tell.

The first passages are taken as relevant, and what they say expands the query (Rocchio, 1971; Xu & Croft, "Query expansion using
local and global document analysis", SIGIR 1996). Of a question of several hops the first passage names what the next one is
about (Qi et al., "Answering complex open-domain questions through iterative query generation", EMNLP 2019): expanded by names
alone, and by those of one passage at a time, the query does not drift to what two passages have in common.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.english.names import names_in
from rag_cover.english.words import content_words
from rag_cover.questions import Passage

__all__ = ["FEEDBACK", "expand_query"]

FEEDBACK = 2
"""How many of a question's first passages expand it: chosen on 2WikiMultihopQA's train part and on half of two other sets."""

_NAMES = 6  # of one passage
_DAYS = content_words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")


def expand_query(query: str, passages: Sequence[Passage]) -> list[str]:
    """Expand a query by the names that each passage tells and the query does not; a passage without such expands nothing.

    Weekdays have capitals, and name nothing.

    >>> expand_query("Where was the director of Jaws born?", [Passage("The 1975 film was directed by Steven Spielberg.")])
    ['Where was the director of Jaws born? Steven Spielberg']
    """
    known = content_words(query)
    told = [[name for name in names_in(passage.text) if content_words(name) - known - _DAYS][:_NAMES] for passage in passages]
    return [" ".join([query, *names]) for names in told if names]
