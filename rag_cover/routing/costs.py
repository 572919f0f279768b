"""What agents cost, held against the agents that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import InvalidValueError, nearest

__all__ = ["costs_of"]


def costs_of(costs: Mapping[str, float], agents: Sequence[str]) -> NDArray[np.float64]:
    """Return (a,) the cost of each agent.

    >>> costs_of({"large": 4.0, "small": 1.0}, ["small", "large"]).tolist()
    [1.0, 4.0]

    Raises:
        InvalidValueError: a cost of an agent that is not there, none of one that is, or one that is negative or not finite.
    """
    for name in costs:
        if name not in agents:
            message = f"there is a cost of {name!r}, which is no agent.{nearest(name, agents)} There are: {', '.join(agents)}."
            raise InvalidValueError(message)
    missing = [agent for agent in agents if agent not in costs]
    if missing:
        message = f"no cost is given of {', '.join(map(repr, missing))}; name one for every agent, or leave the agent out"
        raise InvalidValueError(message)
    prices = np.array([costs[agent] for agent in agents], dtype=np.float64)
    if not np.isfinite(prices).all() or (prices < 0).any():
        message = "a cost is a finite number of at least 0"
        raise InvalidValueError(message)
    return prices
