"""Which fields of a result hold texts of a trace: what redaction replaces."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Text"]


@dataclass(frozen=True, slots=True)
class Text:
    """Mark a field of a result that may quote its trace: ``reason: Annotated[str, Text()]``.

    Redaction replaces such fields by hashes and keeps all others. A result with a field of type ``str`` that has no mark is
    refused where redaction is asked for; ``Text(quotes=False)`` marks a field that never quotes a trace.
    """

    quotes: bool = True
