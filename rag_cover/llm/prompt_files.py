"""Files of instructions to a language model, which users print, edit and pass back: TOML, one text under each name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from rag_cover.errors import InputError, InvalidValueError, nearest

__all__ = ["read_prompts", "refuse_blank_prompts"]


def read_prompts(shipped: Path, given: Path | None, *, printed_by: str = "") -> Mapping[str, str]:
    """Read the shipped prompts, with those of a user's file in their place.

    ``printed_by`` is the command that prints them, where one does.

    Raises:
        InputError: the file cannot be read or holds something else.
    """
    known = _table(shipped, printed_by)
    for name, text in (changed := {} if given is None else _table(given, printed_by)).items():
        if name not in known:
            problem = f"no prompt is called {name!r}.{nearest(name, list(known))} There are: {', '.join(known)}."
            raise InputError(problem, file=given)
        if not isinstance(text, str) or not text.strip():
            problem = f"the prompt {name!r} must be a text; leave it out to keep the shipped one"
            raise InputError(problem, file=given)
    return {name: str(text) for name, text in (known | changed).items()}


def refuse_blank_prompts(prompts: object, names: Sequence[str]) -> None:
    """Refuse instructions that say nothing.

    Raises:
        InvalidValueError: one of them is blank.
    """
    for name in names:
        if not str(getattr(prompts, name)).strip():
            message = f"the prompt {name!r} is blank; leave it out of the file to keep the shipped one"
            raise InvalidValueError(message)


def _table(path: Path, printed_by: str) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as denied:
        problem = f"the file cannot be read ({denied.strerror}); check the path"
        raise InputError(problem, file=path) from denied
    except ValueError as wrong:  # not UTF-8, or not TOML
        hint = f"; '{printed_by} --show-prompts' prints them" if printed_by else ""
        problem = f"prompts are TOML such as name = '''…''' ({wrong}){hint}"
        raise InputError(problem, file=path) from wrong
