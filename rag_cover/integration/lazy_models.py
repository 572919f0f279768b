"""Models that are opened at their first use, so that creating an evaluator loads nothing and reaches no server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from rag_cover.measures import Measure, ModelKind
from rag_cover.registry import Models

__all__ = ["LazyModels"]


class LazyModels:
    """Opens models of some kinds once, however many threads need them.

    Args:
        models: by name or as objects.
        kinds: the kinds of models that are opened; a kind that no model offers stays None.
        complete: changes the models once they are open.

    Raises:
        RagCoverError: a model is named that nobody offers (`Models.check`); what it takes to open it is found out later.
    """

    def __init__(
        self, models: Models, kinds: Sequence[ModelKind], *, complete: Callable[[Models], Models] | None = None
    ) -> None:
        models.check(kinds)
        self._models, self._kinds, self._completed = models, kinds, complete
        self._opened: Models | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, models: Models, measure: Measure, *, complete: Callable[[Models], Models] | None = None) -> LazyModels:
        """Open what a measure asks."""
        return cls(models, (*measure.required_models, *measure.optional_models), complete=complete)

    def get(self) -> Models:
        """Return the models, as objects; opening that failed is tried again by who comes next.

        Raises:
            RagCoverError: a model cannot be opened.
        """
        with self._lock:
            if self._opened is None:
                opened = self._models.open_roles(self._kinds)
                self._opened = opened if self._completed is None else self._completed(opened)
            return self._opened

    def __getstate__(self) -> dict[str, Any]:
        return {"models": self._models, "kinds": self._kinds, "complete": self._completed}  # what is open does not travel

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).__init__(self, **state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:  # whoever holds it shares what is open
        return self
