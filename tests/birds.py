"""A small corpus of entities for set queries: animals and plants, with where they live, and a judge who knows them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rag_cover.backends import ScoringItem, Span
from rag_cover.questions import prepend_title
from rag_cover.setqueries.answers import question_for
from rag_cover.testing import KeywordLocator, ScriptedScorer

__all__ = ["BIRDS", "BOTH", "CHILE", "CHILE_ONLY", "bird_judge"]

BIRDS: Mapping[str, str] = {
    "Austral thrush": "The austral thrush is a bird of Chile and Argentina. It nests in forests and gardens.",
    "Chucao tapaculo": "The chucao tapaculo is a bird of the temperate forests of Chile.",
    "Moustached turca": "The moustached turca is a bird endemic to Chile, where it lives on rocky slopes.",
    "Chilean mockingbird": "The Chilean mockingbird is a bird that is found only in central Chile.",
    "Inca tern": "The Inca tern is a bird of the coasts of Chile and Peru. It feeds in the cold Humboldt current.",
    "Andean gull": "The Andean gull is a bird of mountain lakes in Chile, Peru and Bolivia.",
    "Peruvian pelican": "The Peruvian pelican is a large bird of the coasts of Peru and Chile.",
    "Marvelous spatuletail": "The marvelous spatuletail is a bird, a hummingbird endemic to northern Peru.",
    "Cock-of-the-rock": "The Andean cock-of-the-rock is the national bird of Peru. It lives in cloud forests.",
    "White-winged guan": "The white-winged guan is a bird that is found only in dry forests of northwestern Peru.",
    "Kiwi": "The kiwi is a flightless bird of New Zealand that is active at night.",
    "Kea": "The kea is a parrot, a bird of the mountains of the South Island of New Zealand.",
    "Robin": "The European robin is a small bird of gardens in Europe.",
    "Monkey puzzle": "The monkey puzzle is an evergreen tree native to Chile and Argentina.",
    "Chilean wine palm": "The Chilean wine palm is a tree, a palm endemic to central Chile.",
    "Cinchona": "The cinchona is a tree of the Andes of Peru and Bolivia whose bark yields quinine.",
    "Kauri": "The kauri is a tall tree of the forests of New Zealand.",
    "Pudu": "The pudu is a small deer that lives in the forests of Chile and Argentina.",
    "Vicuna": "The vicuna is a wild relative of the llama. It grazes in the high Andes of Peru.",
    "Red fox": "The red fox is a mammal that lives all over Europe and North America.",
}
"""What is told of each, by its name."""

BOTH = frozenset({"Inca tern", "Andean gull", "Peruvian pelican"})
"""The birds of Chile that are birds of Peru, too."""

CHILE_ONLY = frozenset({"Austral thrush", "Chucao tapaculo", "Moustached turca", "Chilean mockingbird"})
"""The birds of Chile that are none of Peru."""

CHILE = BOTH | CHILE_ONLY
"""All birds of Chile."""

_ATOMS: Mapping[str, Collection[str]] = {
    "birds of Chile": CHILE,
    "birds of Peru": BOTH | {"Marvelous spatuletail", "Cock-of-the-rock", "White-winged guan"},
    "trees of Chile": {"Monkey puzzle", "Chilean wine palm"},
    "birds of New Zealand": {"Kiwi", "Kea"},
}


class _QuotingScorer(ScriptedScorer):
    """Quotes the sentence that shares most words with a question."""

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        return KeywordLocator().locate(items)


def bird_judge() -> ScriptedScorer:
    """Make a judge who knows what belongs to four atoms, and doubts everything else; it reads texts with and without titles."""
    known = {
        (question_for(atom), text): 0.95
        for atom, names in _ATOMS.items()
        for name in names
        for text in (BIRDS[name], prepend_title(name, BIRDS[name]))
    }
    return _QuotingScorer(known, default=0.02)
