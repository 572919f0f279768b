"""Passages that say the same in nearly the same words, of which one is enough.

Two texts are near-identical where their sets of word shingles have a Jaccard similarity of at least 0.9 (Broder, 1997):

    J(A, B) = |A and B| / |A or B|

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["ALIKE", "originals"]

ALIKE = 0.9
"""From this similarity on two texts are one: a chunk that is cut a few words later, or has another line of boilerplate."""

_WIDTH = 3  # words of a shingle
_WORD = re.compile(r"\w+")


def originals(texts: Sequence[str], *, alike: float = ALIKE) -> list[int]:
    """Return, for each text, the place of the first text it is near-identical to: its own where it is the first.

    Texts without a word are alike only where they are equal.

    >>> originals(["The sky is blue.", "Grass is green.", "the sky is  blue"])
    [0, 1, 0]
    """
    found: list[int] = []
    holding: dict[object, list[int]] = {}  # shingle → the originals that hold it, by place
    sizes: dict[int, int] = {}
    for place, text in enumerate(texts):
        shingles = _shingles(text)
        original = _most_alike(shingles, holding, sizes, alike)
        if original is None:
            original, sizes[place] = place, len(shingles)
            for shingle in shingles:
                holding.setdefault(shingle, []).append(place)
        found.append(original)
    return found


def _shingles(text: str) -> frozenset[object]:
    words = _WORD.findall(text.casefold())
    if len(words) < _WIDTH:
        return frozenset([tuple(words) or text.strip()])
    return frozenset(zip(*(words[start:] for start in range(_WIDTH)), strict=False))


def _most_alike(
    shingles: frozenset[object], holding: dict[object, list[int]], sizes: dict[int, int], alike: float
) -> int | None:
    """Return the first original that is near-identical, if one is."""
    shared: dict[int, int] = {}
    for shingle in shingles:
        for place in holding.get(shingle, ()):
            shared[place] = shared.get(place, 0) + 1
    near = (place for place, count in shared.items() if count >= alike * (len(shingles) + sizes[place] - count))
    return min(near, default=None)
