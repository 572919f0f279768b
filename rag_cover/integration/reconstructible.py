"""Copies and pickles of what holds open models: made again by its arguments, since sessions and locks do not travel."""

from __future__ import annotations

from typing import Any, Self

__all__ = ["Reconstructible"]


class Reconstructible:
    """Lets a pydantic class of a framework be copied and pickled by the arguments that it was made with.

    A copy shares the objects among them; a pickle holds them. Stands before the framework's class among the bases.
    """

    def made_with(self) -> dict[str, Any]:
        """Return what another one like this is made with: the fields, unless the class says otherwise."""
        return {name: getattr(self, name) for name in getattr(type(self), "model_fields", ())}

    def __getstate__(self) -> dict[Any, Any]:
        return self.made_with()

    def __setstate__(self, state: dict[Any, Any]) -> None:
        type(self).__init__(self, **state)

    def __copy__(self) -> Self:
        return type(self)(**self.made_with())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()
