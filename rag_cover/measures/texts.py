"""Which fields of a result hold texts of a trace: what redaction replaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

__all__ = ["ModelName", "PassageKey", "Text", "TextKind"]

TextKind = Literal["text", "passage", "step", "token"]
"""What a marked field holds: a text, the key of a passage (`Passage.key`), the id of a step, one token of the question."""


@dataclass(frozen=True, slots=True)
class Text:
    """Mark a field of a result that may quote its trace: ``reason: Annotated[str, Text()]``.

    Redaction replaces such fields by hashes and keeps all others. A result with a field of type ``str`` that has no mark is
    refused where redaction is asked for; ``Text(quotes=False)`` marks a field that never quotes a trace. Literals and
    enumerations need no mark. ``kind`` decides how it is replaced, so that keys of passages and ids of steps still match those
    of the redacted trace.
    """

    quotes: bool = True
    kind: TextKind = "text"


ModelName = Annotated[str, Text(quotes=False)]
"""The name of a model, a judge or a calibration, which quotes nothing of a trace."""

PassageKey = Annotated[str, Text(kind="passage")]
"""The `Passage.key` of a passage of the trace."""
