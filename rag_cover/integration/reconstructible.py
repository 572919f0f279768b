"""Copies and pickles of objects that hold open models, rebuilt from their arguments: sessions and locks cannot be copied."""

from __future__ import annotations

from typing import Any, Self

__all__ = ["Reconstructible"]


class Reconstructible:
    """Lets a pydantic class of a framework be copied and pickled by the arguments that it was made with.

    A copy shares the objects among them; a pickle holds them. Stands before the framework's class among the bases.
    """

    def constructor_arguments(self) -> dict[str, Any]:
        """Return the arguments that make an equal object: the pydantic fields, unless a class overrides it."""
        return {name: getattr(self, name) for name in getattr(type(self), "model_fields", ())}

    def __getstate__(self) -> dict[Any, Any]:
        return self.constructor_arguments()

    def __setstate__(self, state: dict[Any, Any]) -> None:
        type(self).__init__(self, **state)

    def __copy__(self) -> Self:
        return type(self)(**self.constructor_arguments())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()
