"""What a command writes is looked at before it begins: nothing that is there is written over without a word."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rag_cover.errors import OutputExistsError

__all__ = ["refuse_existing"]


def refuse_existing(*outputs: Path | None, force: bool, inputs: Iterable[Path | None] = (), in_place: bool = False) -> None:
    """Refuse to write over files, unless the user says so with ``--force``; devices and pipes are written to as they are.

    Args:
        outputs: the files that the command will write; None: it writes none.
        force: whether the user said so.
        inputs: the files that it reads, or writes besides; none of them is written over.
        in_place: whether it may write over what it reads, with ``force``: it has read all of it before.

    Raises:
        OutputExistsError: names the first file that is there already, or that is another one of the command's.
    """
    others = [path for path in inputs if path is not None]
    for path in (path for path in outputs if path is not None):
        is_other = any(_is_same(path, each) for each in others)
        if is_other and not (in_place and force):
            raise OutputExistsError(path, is_read=True, in_place=in_place)
        if path.is_file() and not force:
            raise OutputExistsError(path, is_read=False)
        others.append(path)


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.is_file() and one.samefile(other)
    return one.resolve() == other.resolve()
