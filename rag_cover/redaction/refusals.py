"""What redaction refuses to mix, and what it says of a file that cannot be read, nothing of which may be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rag_cover.errors import InputError, StoreError
from rag_cover.questions import Passage, Question, SubQuestion
from rag_cover.redaction.hashing import Redaction
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

__all__ = ["redact_problem", "redaction_entry", "refuse_other_redaction"]

_ENTRY = "redaction"
_VALUES = (Passage, Question, RetrievalStep, Sample, SampleSet, SubQuestion, Trace)
_PART = re.compile(r"\.(\w+)|\[\d+\]")
_ROW = re.compile(r"(row [0-9]+)(?:, |$)")


def redact_problem(error: InputError) -> InputError:
    """Keep where an error is and leave out what it says, which may quote the file.

    >>> print(redact_problem(InputError("duplicate trace id 'erika@example.org'", file="traces.jsonl", field="$.id")))
    traces.jsonl, at $.id: something is wrong here, and is not quoted in a redacted run; run it without --redact to see what
    """
    problem = "something is wrong here, and is not quoted in a redacted run; run it without --redact to see what"
    return InputError(problem, file=error.file, line=error.line, field=_keep_known(error.field))


def _keep_known(field: str | None) -> str | None:
    """Keep the row of a table, and a JSON path as far as it goes by names of our own: keys of metadata may be texts."""
    row = _ROW.match(field or "")
    path = _keep_known_path((field or "")[row.end() if row else 0 :])
    return ", ".join(filter(None, (row and row[1], path))) or None


def _keep_known_path(field: str) -> str | None:
    if not field.startswith("$"):
        return None
    names = {name for value in _VALUES for name in value.model_fields} - {"metadata"}
    kept = "$"
    for part in _PART.finditer(field):
        if part.start() != len(kept) or (part[1] and part[1] not in names):
            break
        kept += part[0]
    return kept


def redaction_entry(redaction: Redaction | None) -> dict[str, str]:
    """Return what a store says of how its results are redacted: nothing where they are not."""
    return {} if redaction is None else {_ENTRY: redaction.fingerprint}


def refuse_other_redaction(about: Mapping[str, object] | None, redaction: Redaction | None, path: Path) -> None:
    """Refuse to go on with a store whose results are redacted in another way; ``about`` is the store's description.

    Raises:
        StoreError: one of them is redacted and the other is not, or another key was used.
    """
    known = None if about is None else about.get(_ENTRY)
    ours = redaction_entry(redaction).get(_ENTRY)
    if about is None or known == ours:
        return
    if known is None:
        meant = "holds results with their texts, and this run is to be redacted: begin anew without resume=True (--resume)"
    elif ours is None:
        meant = "holds redacted results, and this run is not redacted: add redact=True (--redact, --redact-key FILE)"
    else:
        meant = "holds results that were redacted by another key, or in another way: use the same (--redact-key FILE)"
    kind, other = ("folder", "folder") if path.is_dir() else ("file", "store")
    message = f"{path} {meant}, delete the {kind}, or name another {other}"
    raise StoreError(message)
