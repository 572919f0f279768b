"""The kinds of facets as the model of readings tells them apart."""

from __future__ import annotations

from rag_cover.setqueries.parsing.gazetteer import word_list
from rag_cover.setqueries.parsing.phrases import Facet

__all__ = ["kind_of"]

_TIMES = frozenset({"year", "decade", "century", "period", "time"})
_PLACED = frozenset({"endemic", "native", "invasive", "introduced"})
_OWN_KIND = frozenset({"fiction", "non-fiction", "debut", "documentary"})


def kind_of(facet: Facet) -> str:
    """Name the kind of a facet as features do."""
    if facet.kind == "set":
        return "set-time" if facet.object in _TIMES else "set-place"
    if facet.kind == "genre":
        return facet.text if facet.text in _OWN_KIND else "dated" if facet.text.lower() in word_list("dated") else "genre"
    return "endemic" if facet.kind == "status" and facet.text.lower() in _PLACED else facet.kind
