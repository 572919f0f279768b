"""The questions that a model which writes is asked, to answer with one of two words, and two texts set into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import InvalidValueError
from rag_cover_transformers.encodings import SHORTEST, NetworkInput, TextEncoder, TokenisedText

__all__ = ["AGREES", "ANSWERS", "ENTAILS", "WORDING", "Template", "TemplateEncoder"]

Ids = NDArray[np.int64]

WORDING = 1
"""Of the fingerprint: another wording is another judge."""

_OPTIONS = "\n\nOPTIONS:\n- {yes}\n- {no}"


@dataclass(frozen=True, slots=True)
class Template:
    """What stands before, between and after two texts; a space is put before each of them."""

    before: str
    between: str
    after: str

    def fill_in(self, first: str, second: str, words: tuple[str, str]) -> str:
        r"""Write the prompt as the model reads it.

        >>> print(ENTAILS.fill_in("It rains.", "It is wet.", ("yes", "no")))
        Premise: It rains.
        Hypothesis: It is wet.
        Does the hypothesis follow from the premise?
        <BLANKLINE>
        OPTIONS:
        - yes
        - no
        """
        return f"{self.before} {first}{self.between} {second}{self.ending(words)}"

    def ending(self, words: tuple[str, str]) -> str:
        """Write what stands after the texts."""
        return self.after + _OPTIONS.format(yes=words[0], no=words[1])


ENTAILS = Template("Premise:", "\nHypothesis:", "\nDoes the hypothesis follow from the premise?")
"""Of a premise and a hypothesis."""

ANSWERS = Template("Question:", "\nText:", "\nDoes the text answer the question?")
"""Of a question (and, for a reply, the user's question) and a text."""

AGREES = Template("Question:", "\nText:", "\nDoes the text give the correct answer to the question?")
"""Of a question with the correct answer, and a text."""


class TemplateEncoder:
    """A `PairEncoder` that sets two texts into a template, as one text of the model's encoder."""

    def __init__(self, encoder: TextEncoder, template: Template, words: tuple[str, str]) -> None:
        parts = (template.before, template.between, template.ending(words))
        self._encoder = encoder
        self._before, self._between, self._after = (text.ids for text in encoder.tokenise(parts))
        self.pair_room = encoder.room - len(self._before) - len(self._between) - len(self._after)
        if self.pair_room < SHORTEST:
            least = encoder.max_tokens - self.pair_room + SHORTEST
            message = f"inputs of {encoder.max_tokens} tokens are too short for the prompt: max_tokens is at least {least}"
            raise InvalidValueError(message)

    def tokenise(self, texts: Sequence[str]) -> list[TokenisedText]:
        """Tokenise texts as they stand in a prompt: after a space."""
        return self._encoder.tokenise([text if text[:1].isspace() else f" {text}" for text in texts])

    def join_pair(self, first: Ids, second: Ids) -> NetworkInput:
        """Set two texts into the template."""
        return self._encoder.alone(np.concatenate([self._before, first, self._between, second, self._after]))
