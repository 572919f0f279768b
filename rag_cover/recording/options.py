"""The options of a recording, declared once: for `Recording` itself and for the ``attach`` of every framework's adapter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from rag_cover.measures import Measure, TraceResult
from rag_cover.recording.arguments import MeasuringIn
from rag_cover.recording.trace_builder import References
from rag_cover.redaction import Redaction

__all__ = ["RecordingOptions", "document_options"]

Documented = TypeVar("Documented", bound=Callable[..., Any])

_PLACE = re.compile(r"^( *)\*\*options:.*(?:\n\1 +.*)*$", re.MULTILINE)
"""The line of a docstring that stands for the options, with its continuation lines."""


class RecordingOptions(TypedDict, total=False):
    """The options of a recording.

    Attributes:
        measures: names of measures, or `Measure` objects. None: every measure that a trace has the inputs for. Empty: traces
            are only recorded, to be measured later by `rag_cover.evaluate`.
        references: gold answers by the text of their question; utility is measured against them. `Recording.question` gives
            them for a single question.
        traces: path of a trace file (JSONL) that every trace is appended to.
        store: path of a result store that every result is added to; a store that an earlier recording began is continued.
            Several processes may name one store: each writes a part of its own beside it, and opening the store merges them.
        on_result: function that is called with every `TraceResult`, on the recording's thread.
        measuring: where traces are measured: ``"thread"``, a thread of this process; or ``"process"``, a process of its own,
            for a host whose interpreter is busy. Each trace is then written to a file beside ``store``, which has to be named,
            before the answer is returned, and results are in the store alone, not in `Recording.results`. What waits when this
            process is killed is still measured, at the latest by the next recording with this store. The process finds measures
            and models by their names, or as objects that can be pickled. It excludes ``on_result``, ``redact`` and scores that
            are sent.
        sampling: share of the questions that are recorded, in [0, 1]; ``seed`` decides which.
        capacity: how many questions may wait to be measured, at least 1. When as many wait, further ones are dropped and
            counted (`Recording.counts`). None: 1,000, and 100,000 where a process of its own measures: they wait on disk.
        keep: how many results and traces stay in memory, at least 1: the latest.
        pipeline: name of the pipeline in the traces; None: the name of the outermost run, what a chain or a graph without one
            is made of, or the class of the outermost engine.
        own_sub_questions: whether the answer is measured against the sub-questions that the pipeline itself asked, where it
            asked any.
        seed: seed of the random generator.
        user_ids: record who asked, where the pipeline or `Recording.question` says so.
        redact: replace every text in the results by its hash; a `Redaction` holds the key of the hashes. It excludes
            ``traces``: a trace file holds texts, so traces are kept in memory only.
    """

    measures: Sequence[str | Measure] | None
    references: References | None
    traces: Path | str | None
    store: Path | str | None
    on_result: Callable[[TraceResult], object] | None
    measuring: MeasuringIn
    sampling: float
    capacity: int | None
    keep: int
    pipeline: str | None
    own_sub_questions: bool
    seed: int
    user_ids: bool
    redact: bool | Redaction


def document_options(*declared: type, defaults: Mapping[str, object] | None = None) -> Callable[[Documented], Documented]:
    """Make a decorator that shows options where `help` and editors look: in the docstring and in the signature.

    The attributes of the declared TypedDicts take the place of ``**options: …`` in the docstring of a function or a class. With
    ``defaults``, the signature of the function, or of the class's ``__init__``, lists each of its ``**options`` by name, type
    and default value.
    """

    def document(documented: Documented) -> Documented:
        if documented.__doc__ is not None:  # none is left under python -OO
            documented.__doc__ = _PLACE.sub(lambda place: _describe(declared, indent=place[1]), documented.__doc__)
        if defaults is not None:
            called: Any = vars(documented)["__init__"] if isinstance(documented, type) else documented
            called.__signature__ = _spell_out(inspect.signature(called), declared, defaults)
        return documented

    return document


def _describe(declared: Sequence[type], *, indent: str) -> str:
    lines = "\n".join((inspect.getdoc(each) or "").partition("Attributes:\n")[2] for each in declared).splitlines()
    return "\n".join(f"{indent}{line.removeprefix('    ')}".rstrip() for line in lines)


def _spell_out(signature: inspect.Signature, declared: Sequence[type], defaults: Mapping[str, object]) -> inspect.Signature:
    """Replace ``**options`` in a signature by the options."""
    types = {name: type_ for each in declared for name, type_ in each.__annotations__.items()}
    named = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults[name],
            annotation=getattr(type_, "__forward_arg__", type_),  # as text, like all annotations of these modules
        )
        for name, type_ in types.items()
    ]
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    return signature.replace(parameters=[*own, *named])
