"""What is measured, made ready to be sent to another process; what cannot be sent is refused, with what to do instead."""

from __future__ import annotations

import io
import pickle  # nosec B403  # only written here
from dataclasses import fields
from typing import Any

from rag_cover.errors import InvalidValueError
from rag_cover.evaluation.plan import EvaluationPlan

__all__ = ["pack_plan"]


def pack_plan(plan: EvaluationPlan) -> bytes:
    """Pickle a plan for a process that does not run the host's program.

    Raises:
        InvalidValueError: a measure or a model cannot be sent; says which, and what to do.
    """
    try:
        return _pack(plan)
    except _UNSENDABLE as unsendable:
        message = (
            f"{_find_unsendable(plan)} cannot be sent to another process ({unsendable}): name a model in place of an object, "
            "define classes and functions in a module that can be imported, or measure here (measuring='thread')"
        )
        raise InvalidValueError(message) from unsendable


_UNSENDABLE = (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError, NotImplementedError)


class _Pickler(pickle.Pickler):
    """Refuses what another process would look for in its own main program."""

    def reducer_override(self, value: object) -> Any:
        """Leave everything else to pickle."""
        if getattr(value, "__module__", None) == "__main__" and hasattr(value, "__qualname__"):
            message = f"{getattr(value, '__qualname__', value)} is defined in the program that runs, not in a module"
            raise pickle.PicklingError(message)
        return NotImplemented


def _pack(value: object) -> bytes:
    packed = io.BytesIO()
    _Pickler(packed, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return packed.getvalue()


def _find_unsendable(plan: EvaluationPlan) -> str:
    """Name the measure or the model that cannot be pickled."""
    measures = {f"The measure {measure.name!r}": measure for measure in plan.measures}
    models = {f"The model given as {each.name}": getattr(plan.chosen, each.name) for each in fields(plan.chosen)}
    for name, value in {**measures, **models}.items():
        try:
            _pack(value)
        except _UNSENDABLE:
            return name
    return "What is measured"
