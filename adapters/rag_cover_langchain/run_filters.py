"""Which of LangChain's runs are recorded: by name, by tag, by metadata, and by whether they retrieved anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from rag_cover.errors import InvalidValueError
from rag_cover.integration import describe_argument
from rag_cover.recording import CallKind, TraceDraft
from rag_cover_langchain.calls import Run, names_of

__all__ = ["RunFilter", "has_retrieved", "refuse_no_filter"]

_RETRIEVING: frozenset[CallKind] = frozenset({"retriever", "reranker", "postprocessor", "tool"})


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are recorded, in the terms of LangChain's ``astream_events``.

    With any of the first three, only runs that match one of them are questions, wherever they run. What matches one of the last
    three is left out, with all that runs inside. Runs inherit the tags and the metadata of the run around them.

    Args:
        include_names: names of runs.
        include_tags: tags, one of which a run must have.
        include_metadata: metadata, all of which a run must have.
        exclude_names: likewise, of runs to leave out.
        exclude_tags: likewise.
        exclude_metadata: likewise.

    Raises:
        InvalidValueError: one text where several are meant, or metadata that is no mapping.

    >>> RunFilter(include_tags=["rag"]).is_included("chain", ["rag", "v2"], {})
    True
    """

    include_names: Collection[str] = ()
    include_tags: Collection[str] = ()
    include_metadata: Mapping[str, Any] | None = None
    exclude_names: Collection[str] = ()
    exclude_tags: Collection[str] = ()
    exclude_metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("metadata"):
                if value is not None and not isinstance(value, Mapping):
                    message = f"{field.name} is {describe_argument(value)}; give a mapping of keys to values"
                    raise InvalidValueError(message)
            elif isinstance(value, str) or not isinstance(value, Collection):
                message = f"{field.name} is {describe_argument(value)}; give a list of texts, even of one"
                raise InvalidValueError(message)

    def is_included(self, name: str, tags: Collection[str], metadata: Mapping[str, Any]) -> bool:
        """Return whether a run may be a question."""
        if not (self.include_names or self.include_tags or self.include_metadata):
            return True
        return _matches(name, tags, metadata, self.include_names, self.include_tags, self.include_metadata)

    def is_excluded(self, name: str, tags: Collection[str], metadata: Mapping[str, Any]) -> bool:
        """Return whether a run is left out, with all that runs inside it."""
        if not (self.exclude_names or self.exclude_tags or self.exclude_metadata):
            return False
        return _matches(name, tags, metadata, self.exclude_names, self.exclude_tags, self.exclude_metadata)


def has_retrieved(draft: TraceDraft) -> bool:
    """Return whether something was searched for, or given, to answer from.

    What is remembered from earlier turns is not, nor what is given to judge an answer by.
    """
    if isinstance(draft.root, Run) and draft.root.is_evaluation and not any(call.kind in _RETRIEVING for call in draft.calls):
        return False
    old = names_of(draft.root.remembered) - (draft.root.found if isinstance(draft.root, Run) else set())
    return any(
        call.kind in _RETRIEVING or (isinstance(call, Run) and call.given) or names_of([*call.passages, *call.consumed]) - old
        for call in draft.calls
    )


def refuse_no_filter(given: object) -> None:
    """Refuse what is no filter.

    Raises:
        InvalidValueError: it is neither a `RunFilter` nor None.
    """
    if given is not None and not isinstance(given, RunFilter):
        message = f"run_filter is {describe_argument(given)}; give a RunFilter, such as RunFilter(include_tags=['rag'])"
        raise InvalidValueError(message)


def _matches(
    name: str,
    tags: Collection[str],
    metadata: Mapping[str, Any],
    names: Collection[str],
    any_of: Collection[str],
    all_of: Mapping[str, Any] | None,
) -> bool:
    has_metadata = bool(all_of) and all(metadata.get(key) == value for key, value in (all_of or {}).items())
    return name in names or any(tag in any_of for tag in tags) or has_metadata
