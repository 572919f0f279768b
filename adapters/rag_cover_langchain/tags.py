"""Tags of runs that recordings leave out because no answer is written from them; nested runs inherit the tags."""

from __future__ import annotations

__all__ = ["INTERNAL", "INTERNAL_TAGS", "PROBE"]

INTERNAL = "rag_cover:internal"
"""A model that rag_cover asks to judge, to split or to read."""

PROBE = "rag_cover:probe"
"""A retrieval that a router looks at to choose by."""

INTERNAL_TAGS = frozenset({INTERNAL, PROBE})
