"""The hash that takes a text's place: HMAC-SHA256 with a key, SHA-256 without one.

Without a key whoever guesses a text can check the guess, and short texts are guessed easily. With a key only who has it can.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from rag_cover.belief.summary import own_name
from rag_cover.complexity.question_types import kinds_of
from rag_cover.english.words import words_of
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.placeholder import DIGITS, Placeholder, is_identifier
from rag_cover.question_keys import question_key
from rag_cover.questions import Question

__all__ = ["Redaction"]

_SHORTEST = 16
_NUMBERED = re.compile("([0-9a-f]{16})(-[0-9]+)")
"""The id of a trace like another before it: the name of their content, and a number (`rag_cover.traces.identified`)."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """How texts are replaced: by HMAC-SHA256 with a key of 16 bytes at least, by plain SHA-256 without one.

    ``names`` are keys of metadata that stay readable, beside those that rag_cover reads itself; their texts do not. The key is
    never shown, stored or logged.

    >>> Redaction().text("Why is the sky blue?")
    '[text redacted 09ea26793343ba6c850b0e7b, 5 words, 20 characters]'
    >>> Redaction(b"a secret of 16 bytes, or of more")
    Redaction(names=())

    Raises:
        InvalidValueError: a key that is too short.
    """

    key: bytes | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a key that is guessed like a text."""
        object.__setattr__(self, "names", tuple(sorted(set(self.names))))
        if self.key is not None and len(self.key) < _SHORTEST:
            message = (
                f"a key of {len(self.key)} bytes can be guessed; give {_SHORTEST} bytes at least, "
                "such as those of: openssl rand -hex 32"
            )
            raise InvalidValueError(message)

    @classmethod
    def from_option(cls, redact: bool | Self) -> Self | None:  # noqa: FBT001  # as users say it
        """Take a redaction as it is given to whatever redacts: True is one without a key, False is none.

        Raises:
            InvalidValueError: it is something else.
        """
        if redact is not None and not isinstance(redact, bool | cls):
            message = f"redact is {redact!r}; give True, False, or a Redaction with a key"
            raise InvalidValueError(message)
        return cls() if redact is True else redact or None

    @classmethod
    def from_file(cls, path: Path | str, *, names: Iterable[str] = ()) -> Self:
        """Take the key from a file, without the white space around it.

        Raises:
            InputError: the file cannot be read.
            InvalidValueError: it holds too short a key.
        """
        try:
            return cls(Path(path).read_bytes().strip(), tuple(names))
        except OSError as denied:
            problem = f"the key cannot be read ({denied.strerror or denied}); make one with: openssl rand -hex 32 > FILE"
            raise InputError(problem, file=path) from denied

    @property
    def fingerprint(self) -> str:
        """Name how texts are replaced, so that only results that fit together are put together; the key is not in it."""
        named = f" names {self.digest(repr(self.names))}" if self.names else ""
        return ("sha256" if self.key is None else f"hmac-sha256 {self.digest('rag_cover: which key')}") + named

    def digest(self, text: str) -> str:
        """Hash a text: the first 24 hex digits."""
        return self._hash(text)[:DIGITS]

    def content_key(self, key: str) -> str:
        """Name a redacted result by the content key of the result as it was measured."""
        return self._hash(f"{self.fingerprint}\n{key}")

    def text(self, text: str) -> str:
        """Replace a text; one without any character to read stays, as it tells that there is none, and so does a stand-in."""
        stays = not text.strip() or Placeholder.read(text)
        return text if stays else str(Placeholder(self.digest(text), len(words_of(text)), len(text)))

    def texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Replace each of some texts."""
        return tuple(map(self.text, texts))

    def question(self, question: Question) -> str:
        """Replace the text of a question; keep its kinds, and, where it has no id, a hash that identifies it."""
        text = question.text
        if Placeholder.read(text):
            return text
        asked_as = self.digest(question_key(question)) if question.id is None else None
        return str(Placeholder(self.digest(text), len(words_of(text)), len(text), asked_as, tuple(map(str, kinds_of(text)))))

    def identifier(self, text: str) -> str:
        """Replace an id or a label.

        >>> Redaction().identifier("report.pdf") == Redaction().identifier("report.pdf") != "report.pdf"
        True
        """
        return f"redacted-{self.digest(text)}" if text.strip() and not is_identifier(text) else text

    def trace(self, trace_id: str) -> str:
        """Replace the id of a trace.

        The id of a repeated trace is made of its redacted name and its number, so that repeats can be numbered by the redacted
        name alone.

        >>> by = Redaction()
        >>> by.trace("0123456789abcdef-2") == by.trace(by.trace("0123456789abcdef") + "-2")
        True
        """
        repeated = _NUMBERED.fullmatch(trace_id)
        return self.identifier(self.identifier(repeated[1]) + repeated[2] if repeated else trace_id)

    def step(self, step_id: str) -> str:
        """Replace the id of a step, unless it only tells the step's position."""
        return self.identifier(step_id) if own_name(step_id) else step_id

    def _hash(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        if self.key is None:
            return hashlib.sha256(data).hexdigest()
        return hmac.new(self.key, data, hashlib.sha256).hexdigest()
