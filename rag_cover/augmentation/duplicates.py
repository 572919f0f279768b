"""Passages that say the same in nearly the same words, of which one is enough.

Two texts are near-identical where their sets of word shingles have a Jaccard similarity of at least 0.9 (Broder, 1997):

    J(A, B) = |A and B| / |A or B|

Texts that are so alike share one of their rarest shingles (Chaudhuri, Ganti & Kaushik, 2006): A and B hold at least 0.9 |A|
shingles in common, so that the common ones cannot all be among the 0.9 |A| that are most frequent. Only texts that share a rare
shingle are compared, and boilerplate, however long, brings none together. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

__all__ = ["ALIKE", "originals"]

ALIKE = 0.9
"""From this similarity on two texts are one: a chunk that is cut a few words later, or has another line of boilerplate."""

_WIDTH = 3  # words of a shingle
_WORD = re.compile(r"\w+")

Shingles = frozenset[tuple[str, ...]]


def originals(texts: Sequence[str], *, alike: float = ALIKE) -> list[int]:
    """Return, for each text, the place of the first text it is near-identical to: its own where it is the first.

    Texts without a word are alike only where they are equal.

    >>> originals(["The sky is blue.", "Grass is green.", "the sky is  blue"])
    [0, 1, 0]
    """
    shingled = [_shingles(text) for text in texts]
    frequency = Counter(chain.from_iterable(shingled))
    found: list[int] = []
    holding: dict[tuple[str, ...], list[int]] = {}  # shingle → the originals that have it among their rarest, by place
    for place, shingles in enumerate(shingled):
        rarest = _rarest(shingles, frequency, alike)
        rivals = sorted({rival for shingle in rarest for rival in holding.get(shingle, ())})
        original = next((rival for rival in rivals if _are_alike(shingles, shingled[rival], alike)), place)
        if original == place:
            for shingle in rarest:
                holding.setdefault(shingle, []).append(place)
        found.append(original)
    return found


def _shingles(text: str) -> Shingles:
    words = _WORD.findall(text.casefold())
    if len(words) < _WIDTH:
        return frozenset([tuple(words) or ("", text.strip())])  # "" is no word, so that no text with words is like it
    return frozenset(zip(*(words[start:] for start in range(_WIDTH)), strict=False))


def _rarest(shingles: Shingles, frequency: Mapping[tuple[str, ...], int], alike: float) -> list[tuple[str, ...]]:
    """Return the shingles of which every text that is near-identical holds one."""
    count = len(shingles) - math.ceil(alike * len(shingles)) + 1
    return sorted(shingles, key=lambda shingle: (frequency[shingle], shingle))[:count]


def _are_alike(one: Shingles, other: Shingles, alike: float) -> bool:
    shared = len(one & other)
    return shared >= alike * (len(one) + len(other) - shared)
