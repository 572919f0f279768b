"""A small corpus for the pipelines of all frameworks, and an embedding by shared words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

__all__ = ["CORPUS", "word_vector"]

CORPUS: Mapping[str, str] = {
    "Rayleigh scattering": "The sky is blue because air molecules scatter blue light more strongly than red light.",
    "Sunset": "At sunset light travels through more air, so most blue light is scattered away and the sky turns red.",
    "Ocean": "The ocean looks blue because water absorbs red light and because it reflects the sky.",
    "Heat pump": "A heat pump costs about 12,000 euros. A heat pump moves heat from outdoor air into a house.",
    "Insulation": "Better insulation lowers the heat demand of a house by a third.",
    "Jaws": "Jaws is a 1975 film directed by Steven Spielberg.",
    "Spielberg": "Steven Spielberg was born on 18 December 1946 in Cincinnati.",
    "Cincinnati": "Cincinnati is a city in Ohio on the Ohio River.",
}

_DIMENSIONS = 512


def word_vector(text: str) -> list[float]:
    """Embed a text as its words, hashed: deterministic, and near where words are shared."""
    vector = [0.0] * _DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % _DIMENSIONS] += 1.0
    return vector
