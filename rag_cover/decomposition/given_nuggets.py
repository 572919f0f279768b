"""Nuggets of questions as somebody gave them: a file, or a mapping of questions or their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from rag_cover.argument_checks import describe_argument
from rag_cover.backends import Failure
from rag_cover.errors import InvalidValueError
from rag_cover.nuggets import Nugget
from rag_cover.question_keys import normalise_question, question_key
from rag_cover.questions import Question
from rag_cover.stores.nugget_files import QuestionNuggets, read_nuggets
from rag_cover.traces import Trace, content_hash

__all__ = ["GivenNuggets", "Nuggets", "add_nuggets"]

Nuggets = tuple[Nugget, ...]

_MISSING = "the nuggets that were given hold none of this question, and the trace brings none"


@dataclass(frozen=True, slots=True)
class GivenNuggets:
    """The nuggets of questions, by id and by text up to case, width, white space and the points at its end."""

    by_id: Mapping[str, Nuggets]
    by_text: Mapping[str, Nuggets]

    @classmethod
    def of(cls, lists: Iterable[QuestionNuggets]) -> Self:
        """Take lists of nuggets.

        Raises:
            InvalidValueError: one question has two different lists.
        """
        by_id: dict[str, Nuggets] = {}
        by_text: dict[str, Nuggets] = {}
        for each in lists:
            for kept, key in ((by_id, each.question_id), (by_text, _key(each.question))):
                if key is not None and kept.setdefault(key, each.nuggets) != each.nuggets:
                    name = each.question_id if kept is by_id else each.question
                    message = f"the question {name!r:.120} has two different lists of nuggets; leave one of them out"
                    raise InvalidValueError(message)
        return cls(by_id, by_text)

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a file of nuggets (`rag_cover.stores.nugget_files.read_nuggets`).

        Raises:
            InputError: the file or one of its lines cannot be read; says the line and the field.
            InvalidValueError: one question has two different lists.
        """
        return cls.of(read_nuggets(path))

    @classmethod
    def from_mapping(cls, given: Mapping[str, Sequence[Nugget | str]]) -> Self:
        """Take nuggets by question: the key is its text or its id.

        Raises:
            InvalidValueError: a question's nuggets are no list of nuggets or texts.
        """
        lists = {key: _nuggets_in(key, some) for key, some in given.items()}
        return cls(lists, {_key(key) or "": some for key, some in lists.items()})

    @property
    def fingerprint(self) -> str:
        """Return what names these nuggets in caches."""
        texts, ids = (
            {key: [each.model_dump(mode="json", exclude_defaults=True) for each in some] for key, some in kept.items()}
            for kept in (self.by_text, self.by_id)
        )
        return f"nuggets:{content_hash([texts, ids])[:16]}"

    def nuggets_of(self, question: Question) -> Nuggets | None:
        """Look up one question, by its id where that is known, else by its text; None where it has no list."""
        known = self.by_id.get(question.id) if question.id is not None else None
        return known if known is not None else self.by_text.get(_key(question.text) or "")


def add_nuggets(traces: Sequence[Trace], given: GivenNuggets | None) -> list[Trace | Failure]:
    """Let traces be measured on the nuggets that were given, instead of on what they bring.

    A question without any keeps the nuggets of its trace; without these either it cannot be measured: a figure is of nuggets
    alone, or of none.
    """
    if given is None:
        return list(traces)
    return [_with_nuggets(trace, given.nuggets_of(trace.question)) for trace in traces]


def _with_nuggets(trace: Trace, found: Nuggets | None) -> Trace | Failure:
    nuggets = trace.nuggets if found is None else found
    if nuggets is None:
        return Failure("no nuggets", _MISSING)
    return trace.model_copy(update={"nuggets": nuggets, "sub_questions": None})


def _nuggets_in(question: str, given: object) -> Nuggets:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        message = f"the nuggets of {question!r:.80} are {describe_argument(given)}; give a list of texts or nuggets"
        raise InvalidValueError(message)
    try:
        return tuple(each if isinstance(each, Nugget) else Nugget.model_validate(each) for each in given)
    except ValidationError as wrong:
        message = f"a nugget of {question!r:.80} cannot be read: {wrong.errors()[0]['msg']}"
        raise InvalidValueError(message) from wrong


def _key(text: str | None) -> str | None:
    return None if text is None else normalise_question(question_key(Question(text=text)))
