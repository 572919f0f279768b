"""One policy for all remote calls: what is transient, how long to wait, when to give up, how many at once.

Transient are HTTP 408, 429 and 5xx but 501, broken connections and timeouts: a plugin turns these, and only these, of its SDK's
errors into `TransientError`. Everything else fails at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from rag_cover.errors import InvalidValueError, ModelFailedError, TransientError
from rag_cover.llm.deadline import LATE, Deadline
from rag_cover.llm.rate_limit import Limiter

if TYPE_CHECKING:
    import tenacity

__all__ = ["Called", "Caller", "RetryPolicy", "call_with_retries", "is_transient"]

T = TypeVar("T")

_POLL_S = 0.5


def is_transient(status: int) -> bool:
    """Return whether an HTTP status is worth another try.

    >>> [status for status in (200, 400, 401, 404, 408, 409, 429, 500, 501, 503, 529) if is_transient(status)]
    [408, 429, 500, 503, 529]
    """
    return status in (408, 429) or (status >= 500 and status != 501)  # noqa: PLR2004  # of HTTP; 501 is "not implemented"


def call_with_retries(
    call: Callable[[], T],
    *,
    on: type[Exception] | tuple[type[Exception], ...],
    attempts: int = 5,
    wait_initial_s: float = 0.5,
    wait_max_s: float = 30.0,
    retry_after_s: Callable[[BaseException], float | None] = lambda _: None,
    too_late: Callable[[float], bool] = lambda _: False,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call until it succeeds, waiting longer each time (exponential, with jitter); the last error is raised as it is.

    ``on`` names the errors worth another try and has no default. ``retry_after_s`` reads a server's own wish out of an
    error; it is honoured even where it is longer than ``wait_max_s``. ``too_late`` is told the next wait, and may end it.
    """
    import tenacity  # 30 ms, needed only once a model is called

    backoff = tenacity.wait_random_exponential(multiplier=wait_initial_s, max=wait_max_s)

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = retry_after_s(error) if error else None
        return asked if asked is not None else backoff(state)

    def stop(state: tenacity.RetryCallState) -> bool:
        return state.attempt_number >= attempts or too_late(state.upcoming_sleep)

    policy = tenacity.Retrying(retry=tenacity.retry_if_exception_type(on), stop=stop, wait=wait, reraise=True, sleep=sleep)
    return policy(call)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How the calls to one server are made.

    ``timeout_s`` is of one attempt, ``deadline_s`` of one call with all its attempts, from the moment the first is sent.
    ``max_concurrency`` calls are under way at once; limits per minute are the server's, None where it has none.
    """

    attempts: int = 8
    wait_initial_s: float = 0.5
    wait_max_s: float = 30.0
    timeout_s: float = 60.0
    deadline_s: float = 300.0
    max_concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        """Refuse a policy under which nothing would ever be called."""
        counts = {"attempts": self.attempts, "max_concurrency": self.max_concurrency}
        amounts = {
            name: getattr(self, name) for name in ("timeout_s", "deadline_s", "requests_per_minute", "tokens_per_minute")
        }
        for name, least, value in [
            *((name, 1, n) for name, n in counts.items()),
            *((name, 0, n) for name, n in amounts.items()),
        ]:
            if value is not None and (value < least or value == 0):
                message = f"{name} is {value}; it must be {'at least 1' if least else 'more than 0'}"
                raise InvalidValueError(message)


@dataclass(frozen=True, slots=True)
class Called(Generic[T]):
    """What a call gave, after how many attempts; ``seconds`` is the answering attempt alone, without any waiting."""

    value: T
    attempts: int
    seconds: float


class Caller:
    """Makes the calls to one server under one policy, from as many threads as there are."""

    def __init__(self, policy: RetryPolicy) -> None:
        self.policy = policy
        self._slots = threading.BoundedSemaphore(policy.max_concurrency)
        self._limiter = Limiter(requests_per_minute=policy.requests_per_minute, tokens_per_minute=policy.tokens_per_minute)

    def call(self, send: Callable[[float], T], *, tokens: int, clock: Deadline) -> Called[T]:
        """Send until it succeeds; ``send`` is given the seconds it may take, ``tokens`` is what it will use, estimated.

        Raises:
            ModelFailedError: it failed for good, or transiently for as long as the policy is patient.
        """
        call = _Call(self, send, tokens, clock)
        policy = self.policy
        try:
            value = call_with_retries(
                call.attempt,
                on=TransientError,
                attempts=policy.attempts,
                wait_initial_s=policy.wait_initial_s,
                wait_max_s=policy.wait_max_s,
                retry_after_s=lambda error: getattr(error, "retry_after_s", None),
                too_late=call.too_late,
                sleep=clock.sleep,
            )
        except ModelFailedError as failed:
            raise call.explain(failed) from None
        return Called(value, call.attempts, call.seconds)

    def settle(self, estimated: int, actual: int) -> None:
        """Correct the token bucket by the tokens that a call really used."""
        self._limiter.settle(estimated, actual)

    @contextmanager
    def admit(self, tokens: int, clock: Deadline) -> Iterator[None]:
        """Wait for a free slot, then for the rate limits; a request that gets through is sent at once."""
        clock.check()
        while not self._slots.acquire(timeout=_POLL_S):
            clock.check()
        try:
            self._limiter.wait(tokens, clock)
            clock.check()
            yield
        finally:
            self._slots.release()


class _Call(Generic[T]):
    """One call under way: its attempts so far, and when the first was sent."""

    def __init__(self, caller: Caller, send: Callable[[float], T], tokens: int, clock: Deadline) -> None:
        self._caller, self._send, self._tokens, self._clock = caller, send, tokens, clock
        self._began: float | None = None
        self._fault: TransientError | None = None
        self.attempts = 0
        self.seconds = 0.0

    def attempt(self) -> T:
        with self._caller.admit(self._tokens, self._clock):
            started = self._clock.now()
            self._began = started if self._began is None else self._began
            self.attempts += 1
            try:
                value = self._send(self._patience(started))
            except TransientError as fault:
                self._fault = fault
                raise
            self.seconds = self._clock.now() - started
            return value

    def explain(self, failed: ModelFailedError) -> ModelFailedError:
        """Add to the error how many attempts were made, and, after the deadline, what the time was spent on."""
        fault, self._fault = self._fault, None  # a fault that is kept keeps its frames
        if fault is not None and failed.kind == LATE:
            failed = ModelFailedError(f"{failed}. The last attempt: {fault}", kind=LATE)
        failed.attempts = max(self.attempts, 1)
        return failed

    def too_late(self, next_wait_s: float) -> bool:
        return self._began is not None and self._clock.now() + next_wait_s >= self._began + self._caller.policy.deadline_s

    def _patience(self, now: float) -> float:
        policy, began = self._caller.policy, now if self._began is None else self._began
        run = self._clock.remaining_s()
        left = [policy.timeout_s, began + policy.deadline_s - now, *([] if run is None else [run])]
        return max(0.001, min(left))
