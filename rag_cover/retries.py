"""One retry policy for the whole project, over tenacity. The caller must name what is transient."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["retried"]

T = TypeVar("T")


def retried(
    call: Callable[[], T],
    *,
    on: type[Exception] | tuple[type[Exception], ...],
    attempts: int = 5,
    wait_initial_s: float = 0.5,
    wait_max_s: float = 30.0,
    retry_after_s: Callable[[BaseException], float | None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call until it succeeds, waiting longer each time (exponential, with jitter); the last error is raised as it is.

    ``on`` names the errors worth another try and has no default. ``retry_after_s`` reads a server's own wish out of an
    error; it is honoured even where it is longer than ``wait_max_s``.
    """
    import tenacity  # 30 ms, needed only once a model is called

    backoff = tenacity.wait_random_exponential(multiplier=wait_initial_s, max=wait_max_s)

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = retry_after_s(error) if error else None
        return asked if asked is not None else backoff(state)

    policy = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(on),
        stop=tenacity.stop_after_attempt(attempts),
        wait=wait,
        reraise=True,
        sleep=sleep,
    )
    return policy(call)
