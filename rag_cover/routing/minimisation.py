"""The one place that asks scipy: a smooth function's minimum by L-BFGS (Liu & Nocedal, 1989)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import needs_extra

__all__ = ["Objective", "minimise"]

Floats = NDArray[np.float64]
Objective = Callable[[Floats], tuple[float, Floats]]
"""Gives a function's value and gradient at a point."""


def minimise(
    objective: Objective,
    start: Floats,
    *,
    iterations: int,
    tolerance: float = 1e-6,
    stop: Callable[[Floats], bool] | None = None,
) -> Floats:
    """Return where the search for the minimum ends; ``stop`` sees every iterate and may end it before.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    with needs_extra("skills", "scipy"):
        from scipy.optimize import minimize

    def watch(intermediate_result: object) -> None:  # scipy goes by the argument's name
        if stop is not None and stop(intermediate_result.x):  # type: ignore[attr-defined]  # scipy's result object
            raise StopIteration

    options = {"maxiter": iterations, "maxfun": 2 * iterations + 10, "gtol": tolerance, "ftol": tolerance / 1000, "maxcor": 20}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", callback=watch, options=options)
    return np.asarray(found.x, dtype=np.float64)
