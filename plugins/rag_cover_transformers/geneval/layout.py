"""How a question, references and a text become inputs: ``question: … reference: … ; … document: …``, in windows.

A text, or references, too long for one input become several; only a question is cut, to a third of an input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover_transformers.encodings import NetworkInput, TextEncoder, TokenisedText

__all__ = ["InputLayout", "Laid"]

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Laid:
    """One input, and where the question's tokens stand in it."""

    encoded: NetworkInput
    question: slice


class InputLayout:
    """Lays out inputs for one tokenizer; training and judging share it."""

    def __init__(self, encoder: TextEncoder) -> None:
        self.encoder = encoder
        marks = encoder.tokenise(["question:", "reference:", "document:", ";"])
        self._question, self._reference, self._document, self._or = (mark.ids for mark in marks)

    @property
    def longest_question(self) -> int:
        """Return how many tokens of a question are read."""
        return max(1, self._room // 3)

    @property
    def _room(self) -> int:
        return self.encoder.room - len(self._question) - len(self._reference) - len(self._document)

    def inputs(self, question: TokenisedText, text: TokenisedText, references: Sequence[TokenisedText] = ()) -> list[Laid]:
        """Lay out every window of the text beside every group of references; a blank text has none."""
        asked = question.ids[: self.longest_question]
        groups: Sequence[Ids | None] = self._groups(references) or [None]
        return [
            self._lay_out(asked, group, window) for group in groups for window in text.windows(self._room_left(asked, group))
        ]

    def _room_left(self, asked: Ids, group: Ids | None) -> int:
        return self._room - len(asked) - (0 if group is None else len(group))

    def _lay_out(self, asked: Ids, group: Ids | None, window: Ids) -> Laid:
        given = [] if group is None else [self._reference, group]
        encoded = self.encoder.alone(np.concatenate([self._question, asked, *given, self._document, window]))
        start = self.encoder.single_start + len(self._question)
        return Laid(NetworkInput(encoded.ids), slice(start, start + len(asked)))

    def _groups(self, references: Sequence[TokenisedText]) -> list[Ids]:
        """Join references while they fit into a third of an input; a longer one is cut into windows."""
        longest = max(1, self._room // 3)
        groups: list[Ids] = []
        for part in (part for reference in references for part in reference.windows(longest)):
            if groups and len(groups[-1]) + len(self._or) + len(part) <= longest:
                groups[-1] = np.concatenate([groups[-1], self._or, part])
            else:
                groups.append(part)
        return groups
