"""Where a sample ends, and which tokens and log-probabilities then belong to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_cover.traces import Sample

__all__ = ["Drawn", "cut_at_end", "first_stop"]

_SPARE = 4


@dataclass(frozen=True, slots=True)
class Drawn:
    """One sample as it was drawn, without its stop text or end token.

    ``stopper`` is the log-probability of the token that ended it, None where it ran into its length.
    """

    text: str
    logprobs: tuple[float, ...]
    stopper: float | None
    tokens: int

    @property
    def finish(self) -> Literal["stop", "length"]:
        """Return why it ended."""
        return "length" if self.stopper is None else "stop"

    def sample(self, text: str | None = None) -> Sample:
        """Return the sample, under another text where one is given (such as without white space around it).

        Of an empty text the one log-probability kept is that of what ended it.
        """
        text = self.text if text is None else text
        logprobs = self.logprobs if text or self.stopper is None else (self.stopper,)
        return Sample(text, token_logprobs=tuple(min(value, 0.0) for value in logprobs), finish_reason=self.finish)


def first_stop(text: str, stops: Sequence[str]) -> int | None:
    r"""Find where the earliest stop text begins.

    >>> first_stop("Paris\nQuestion:", ["Question:", "\n"])
    5
    """
    found = [place for place in map(text.find, stops) if place >= 0]
    return min(found, default=None)


def tail_length(stops: Sequence[str]) -> int:
    """Return how many last tokens surely hold a stop text that the last one completes: a token has a byte or more."""
    return max((len(stop.encode()) for stop in stops), default=0) + _SPARE


def cut_at_end(
    ids: Sequence[int],
    logprobs: Sequence[float],
    *,
    decode: Callable[[Sequence[int]], str],
    stops: Sequence[str],
    end_ids: frozenset[int],
) -> Drawn:
    """Cut what was drawn at its end token or stop text; a token that is partly before the stop text belongs to the sample."""
    at_end = bool(ids) and ids[-1] in end_ids
    body = list(ids[:-1]) if at_end else list(ids)
    text = decode(body)
    stop = first_stop(text, stops)
    if stop is None:
        stopper = logprobs[-1] if at_end else None
        return Drawn(text, tuple(logprobs[: len(body)]), stopper, len(ids))
    kept = len(body)
    while kept and decode(body[: kept - 1]).startswith(text[:stop]):  # a token may be a part of a letter only
        kept -= 1
    return Drawn(text[:stop], tuple(logprobs[:kept]), logprobs[min(kept, len(body) - 1)], len(ids))
