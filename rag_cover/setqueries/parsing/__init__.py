"""Questions read as set queries, without a language model: a grammar proposes readings, a small fitted model chooses."""

from rag_cover.setqueries.parsing.parsed import ParsedQuery
from rag_cover.setqueries.parsing.reading import parse
from rag_cover.setqueries.parsing.regrouping import (
    MODIFIERS,
    Modifiers,
    demand_modifiers,
    join_modifiers,
    modifiers_note,
    regroup,
    split_modifiers,
)

__all__ = [
    "MODIFIERS",
    "Modifiers",
    "ParsedQuery",
    "demand_modifiers",
    "join_modifiers",
    "modifiers_note",
    "parse",
    "regroup",
    "split_modifiers",
]
