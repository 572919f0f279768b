"""Nuggets: single facts that a full answer states, with how important each is and where it was found."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from rag_cover.questions import Metadata, NotBlank, ReadOnly, Role, RoleSource, Textual, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

__all__ = ["Assignment", "Fragment", "Importance", "Nugget", "NuggetSource", "importance_for", "role_for"]


class Importance(StrEnum):
    """How important a nugget is (TREC's question answering tracks): a good answer must state it, or may state it.

    Of sub-questions, core ones ask for vital nuggets, background and follow-up ones for okay ones.
    """

    VITAL = "vital"
    OKAY = "okay"


def role_for(importance: Importance | None) -> Role | None:
    """Return the role of a sub-question that asks for a nugget of this importance.

    >>> role_for(Importance.VITAL), role_for(Importance.OKAY), role_for(None)
    (<Role.CORE: 'core'>, <Role.BACKGROUND: 'background'>, None)
    """
    return None if importance is None else Role.CORE if importance is Importance.VITAL else Role.BACKGROUND


def importance_for(role: Role | None) -> Importance | None:
    """Return the importance of a nugget that a sub-question of this role asks for."""
    return None if role is None else Importance.VITAL if role is Role.CORE else Importance.OKAY


class Assignment(StrEnum):
    """Whether a text states a nugget (TREC 2024 RAG track): as a whole, in part, or not at all."""

    SUPPORT = "support"
    PARTIAL_SUPPORT = "partial_support"
    NOT_SUPPORT = "not_support"


class Fragment(Textual):
    """Words of a text, as they stand there; ``start`` is where, in characters (Unicode code points) from 0."""

    text: NotBlank
    start: Annotated[int, Field(ge=0)] | None = None

    if TYPE_CHECKING:

        def __init__(self, text: str, *, start: int | None = None) -> None: ...


class NuggetSource(Value):
    """A text that states a nugget, with the fragments that do.

    ``id`` names a passage by its id or key (`rag_cover.Passage.key`), an answer by the id of its trace; an answer without an id
    is that of the trace that holds the nugget.
    """

    kind: Literal["passage", "answer"]
    id: str | None = None
    fragments: tuple[Fragment, ...] = ()

    @model_validator(mode="after")
    def _a_passage_is_named(self) -> Self:
        if self.kind == "passage" and self.id is None:
            msg = "a source of kind 'passage' needs the id of the passage, or its key"
            raise ValueError(msg)
        return self


class Nugget(Textual):
    """One statement, which stands by itself. ``question`` asks for it, where such a question is known.

    ``importance_source`` tells who gave the importance, in the words of `rag_cover.questions.RoleSource`.
    """

    text: NotBlank
    id: str | None = None
    importance: Importance | None = None
    importance_source: RoleSource | None = None
    question: NotBlank | None = None
    sources: tuple[NuggetSource, ...] = ()
    metadata: Metadata = Field(default_factory=ReadOnly)

    if TYPE_CHECKING:

        def __init__(
            self,
            text: str,
            *,
            id: str | None = None,  # noqa: A002  # the field's name
            importance: Importance | str | None = None,
            importance_source: RoleSource | None = None,
            question: str | None = None,
            sources: Sequence[NuggetSource] = (),
            metadata: Mapping[str, Any] = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _default_to_given(self) -> Self:
        if self.importance is not None and self.importance_source is None:
            object.__setattr__(self, "importance_source", "given")
        return self
