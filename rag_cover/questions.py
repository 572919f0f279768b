"""What is asked: questions, their typed sub-questions, and the passages that may answer them.

Frozen values that cross the border as JSON. A plain string stands for any of them where only the text matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    TypeAdapter,
    field_validator,
    model_validator,
)

from rag_cover.errors import InvalidValueError, nearest

__all__ = [
    "Metadata",
    "NotBlank",
    "Passage",
    "Question",
    "Role",
    "RoleSource",
    "SubQuestion",
    "Tags",
    "Textual",
    "Value",
    "as_question",
    "json_value",
    "legible",
    "plain_query",
    "prepend_title",
]


def legible(text: str) -> str:
    r"""Replace halves of characters, which PDF readers and streams leave behind: no judge reads and no file keeps them.

    >>> legible("a \ud83d b")
    'a \ufffd b'
    """
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def json_value(value: Any) -> Any:
    """Make a value JSON data: dates as ISO text, NaN as null, what JSON does not know as text."""
    plain: Any
    match value:
        case None | bool() | int() | str():
            plain = value
        case float():
            plain = value if math.isfinite(value) else None if math.isnan(value) else str(value)
        case Mapping():
            plain = {str(name): json_value(item) for name, item in value.items()}
        case list() | tuple() | set():
            plain = [json_value(item) for item in value]
        case datetime() | date():
            plain = value.isoformat()
        case bytes():
            plain = value.decode("utf-8", "backslashreplace")
        case _:
            plain = str(value)
    return plain


def _not_blank(text: str) -> str:
    if not text.strip():
        msg = "this is blank; give it a text, or leave it out"
        raise ValueError(msg)
    return text


NotBlank = Annotated[str, AfterValidator(_not_blank)]

Tags = Annotated[
    tuple[NotBlank, ...],
    BeforeValidator(lambda tags: (tags,) if isinstance(tags, str) else tags),
    AfterValidator(lambda tags: tuple(dict.fromkeys(tags))),
]
"""Words by which traces are found again, each once; one may be given as a plain string."""


def _check_source(source: str) -> str:
    if source not in ("given", "rules", "embedded", "model") and (not source.startswith("model:") or source == "model:"):
        msg = f"{source!r} is no source of a role or an importance; there are given, rules, embedded and model:<name>"
        raise ValueError(msg)
    return source


RoleSource = Annotated[str, AfterValidator(_check_source)]
"""Who gave a role: ``given`` (a person, or who wrote the trace), ``rules``, ``embedded`` (a small model over sentence
embeddings), or ``model:<name>``; plain ``model`` is one without a name."""

_JSON_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(
    dict[str, JsonValue], config=ConfigDict(allow_inf_nan=False, defer_build=True)
)


class ReadOnly(dict[str, Any]):
    """A dict that cannot be changed, yet travels between processes."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        message = "a value's metadata is read-only; make a new value instead"
        raise TypeError(message)

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[ReadOnly], tuple[dict[str, Any]]]:
        """Be rebuilt from a plain dict."""
        return ReadOnly, (dict(self),)


def _read_only(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return ReadOnly(_JSON_OBJECT.validate_python(dict(metadata)))


Metadata = Annotated[
    Mapping[str, Any],
    AfterValidator(_read_only),
    PlainSerializer(dict, return_type=dict[str, Any]),
]
"""JSON data that rag_cover carries and does not read; read-only."""


class Value(BaseModel):
    """A frozen, hashable value that refuses unknown fields and names the nearest known one, or where it belongs.

    ``misplaced`` says where, by the unknown field.
    """

    misplaced: ClassVar[Mapping[str, str]] = {}

    model_config = ConfigDict(
        defer_build=True,  # when first used: importing is not the time
        frozen=True,
        extra="forbid",
        ser_json_inf_nan="strings",
        allow_inf_nan=False,
        str_strip_whitespace=False,
    )

    def __hash__(self) -> int:
        """Hash by content."""
        return hash(self.model_dump_json())

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, data: object) -> object:
        if isinstance(data, Mapping):
            known = cls.__pydantic_fields__
            for name in data:
                if name not in known and name != "schema":
                    near = f"{nearest(str(name), list(known))} Data of your own goes in 'metadata'."
                    hint = cls.misplaced.get(str(name), near)
                    msg = f"unknown field {name!r} of {cls.__name__}.{hint}"
                    raise ValueError(msg)
        return data


class Textual(Value):
    """A value whose text may be given alone: ``Question("…")`` in Python, a plain string in JSON."""

    text: str

    def __init__(self, text: str | None = None, /, **fields: Any) -> None:  # pydantic's own signature
        super().__init__(**(fields if text is None else {"text": text, **fields}))

    # it only takes the text by position, so that pydantic need not call it for each value it reads
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @model_validator(mode="before")
    @classmethod
    def _from_plain_string(cls, data: object) -> object:
        return {"text": data} if isinstance(data, str) else data


class Role(StrEnum):
    """What a sub-question is to its question (coverage paper, §3.1).

    Core ones are central and answer the question directly or partly, background ones give context that helps to understand,
    follow-up ones arise only after an answer.
    """

    CORE = "core"
    BACKGROUND = "background"
    FOLLOW_UP = "follow-up"


class Question(Textual):
    """A user's question, with its gold answers where they are known."""

    id: str | None = None
    references: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __init__(self, text: str, *, id: str | None = None, references: str | Sequence[str] = ()) -> None: ...  # noqa: A002  # the field's name

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not text.strip():
            msg = "a question needs a text; this one is blank"
            raise ValueError(msg)
        return text

    @field_validator("references", mode="before")
    @classmethod
    def _one_reference(cls, references: object) -> object:
        return (references,) if isinstance(references, str) else references


def as_question(question: Question | str) -> Question:
    """Take a plain text for a question.

    >>> as_question("Why?").text
    'Why?'

    Raises:
        InvalidValueError: the text is blank, or something else is given.
    """
    match question:
        case Question():
            return question
        case str() if question.strip():
            return Question(question)
        case str():
            message = "a question needs a text; this one is blank"
            raise InvalidValueError(message)
    message = f"a question is a text or a Question, not a value of type {type(question).__name__!r}"
    raise InvalidValueError(message)


class SubQuestion(Textual):
    """One thing a full answer would say; ``role_source`` tells who gave its role (`RoleSource`).

    In data a plain string is a core one: who lists what an answer should say means that it should say it. An object without
    ``role`` has none yet, and may be typed.

    ``references`` are accepted answers to it; a text covers it then where it agrees with one of them.
    """

    role: Role | None = None
    role_source: RoleSource | None = None
    references: tuple[str, ...] = Field(default=(), exclude_if=lambda references: not references)

    if TYPE_CHECKING:

        def __init__(
            self,
            text: str,
            *,
            role: Role | str | None = None,
            role_source: RoleSource | None = None,
            references: str | Sequence[str] = (),
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _from_plain_string(cls, data: object) -> object:
        return {"text": data, "role": Role.CORE} if isinstance(data, str) else data

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not text.strip():
            msg = "a sub-question needs a text; this one is blank"
            raise ValueError(msg)
        return text

    @field_validator("references", mode="before")
    @classmethod
    def _one_reference(cls, references: object) -> object:
        return (references,) if isinstance(references, str) else references

    @field_validator("references")
    @classmethod
    def _no_blank_reference(cls, references: tuple[str, ...]) -> tuple[str, ...]:
        if any(not reference.strip() for reference in references):
            msg = "a reference of a sub-question is blank; leave it out"
            raise ValueError(msg)
        return references

    @model_validator(mode="after")
    def _default_to_given(self) -> Self:
        if self.role is not None and self.role_source is None:
            object.__setattr__(self, "role_source", "given")
        return self


class Passage(Textual):
    """A retrieved text; an empty one is kept and covers nothing."""

    id: str | None = None
    title: str | None = None
    score: float | None = None
    metadata: Metadata = Field(default_factory=ReadOnly)

    if TYPE_CHECKING:

        def __init__(
            self,
            text: str,
            *,
            id: str | None = None,  # noqa: A002  # the field's name
            title: str | None = None,
            score: float | None = None,
            metadata: Mapping[str, Any] = ...,
        ) -> None: ...

    @property
    def key(self) -> str:
        """Return what identifies a passage: its id if it has one, else a hash of title and text."""
        return f"id:{self.id}" if self.id else f"text:{self.title or ''}\n{self.text}"


def prepend_title(title: str | None, text: str) -> str:
    r"""Put a title on a line before its text, as models read passages; one that is blank or that begins the text is left out.

    The text stands at the end unchanged, after ``len(prepend_title(title, text)) - len(text)`` characters.

    >>> prepend_title("Rayleigh scattering", "It makes the sky blue.")
    'Rayleigh scattering\nIt makes the sky blue.'
    >>> prepend_title("Sky", "Sky: the space above the earth.")
    'Sky: the space above the earth.'
    """
    name = (title or "").strip()
    return f"{name}\n{text}" if name and not _begins_with(text, name) else text


def plain_query(query: str) -> str:
    """Write a query without what does not tell it from others: its case, its spaces, and the mark at its end.

    >>> plain_query("What is  RAG?") == plain_query("what is RAG")
    True
    """
    return " ".join(query.casefold().split()).rstrip(" ?!.")


def _begins_with(text: str, name: str) -> bool:
    start = text.lstrip()[: len(name) + 1]
    return start[: len(name)].casefold() == name.casefold() and not start[len(name) :].isalnum()
