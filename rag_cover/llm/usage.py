"""What was asked of remote models and what it cost: counted by model and purpose, priced only from a table of the user's.

What a server does not tell, or the table does not hold, is unknown and never 0.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from rag_cover.errors import InputError

__all__ = ["CallForecast", "Price", "Usage", "UsageMeter", "UsageReport", "read_prices"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in the currency of the table it comes from."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked of one model for one purpose.

    ``calls`` were answered or failed for good, ``retries`` are the further requests they took; ``cache_hits`` were answered
    without one. Tokens are those that servers told; ``untold`` counts the answered calls that came without. ``failures`` are
    items left without a result. ``seconds`` are the servers', without any waiting.
    """

    model: str
    purpose: str
    calls: int = 0
    retries: int = 0
    cache_hits: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    untold: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Add the counts of another usage of the same model for the same purpose."""
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return Usage(self.model, self.purpose, **counts)

    @property
    def tokens_told(self) -> bool:
        """Return whether the token counts are those of every answered call."""
        return self.untold == 0

    def cost(self, prices: Mapping[str, Price]) -> float | None:
        """Price the tokens; None where the model has no price or its server did not count.

        >>> usage = Usage("openai:small", "judge", calls=2, prompt_tokens=500_000, completion_tokens=250_000)
        >>> usage.cost({"small": Price(prompt=0.5, completion=2.0)}), usage.cost({})
        (0.75, None)
        """
        price = prices.get(self.model) or prices.get(self.model.partition(":")[2])
        if not self.calls:
            return 0.0
        if price is None or not self.tokens_told:
            return None
        return (self.prompt_tokens * price.prompt + self.completion_tokens * price.completion) / _MILLION


@dataclass(frozen=True, slots=True)
class CallForecast:
    """What calls that are not made yet will take at most: tokens are estimated from the length of what is sent."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: CallForecast) -> CallForecast:
        """Add what other calls take."""
        return CallForecast(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def cost(self, price: Price) -> float:
        """Price the tokens.

        >>> CallForecast(1, 500_000, 250_000).cost(Price(prompt=0.5, completion=2.0))
        0.75
        """
        return (self.prompt_tokens * price.prompt + self.completion_tokens * price.completion) / _MILLION


_COUNTS = tuple(each.name for each in fields(Usage) if each.name not in ("model", "purpose"))


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage of a run by model and purpose, and what its servers would not do as they were asked."""

    usage: tuple[Usage, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.usage)

    def __add__(self, other: UsageReport) -> UsageReport:
        """Add another run's spending, as when a run is gone on with."""
        return UsageReport(_merge_usage((*self.usage, *other.usage)), tuple(dict.fromkeys((*self.notes, *other.notes))))

    def cost(self, prices: Mapping[str, Price]) -> float | None:
        """Price all of it; None where a part cannot be priced."""
        costs = [usage.cost(prices) for usage in self.usage]
        known = [cost for cost in costs if cost is not None]
        return math.fsum(known) if len(known) == len(costs) else None

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        return {"usage": [asdict(usage) for usage in self.usage], "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        return cls(tuple(Usage(**usage) for usage in data["usage"]), tuple(data["notes"]))


class UsageMeter:
    """Adds up, from many threads, what the models of a run use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage: dict[tuple[str, str], Usage] = {}
        self._notes: dict[str, None] = {}

    def add(self, usage: Usage) -> None:
        """Add a usage to its model's and purpose's."""
        key = (usage.model, usage.purpose)
        with self._lock:
            self._usage[key] = self._usage[key] + usage if key in self._usage else usage

    def note(self, sentence: str) -> None:
        """Note what the user should know of a model or its server, once."""
        with self._lock:
            self._notes[sentence] = None

    @property
    def spending(self) -> UsageReport:
        """Return what was added so far."""
        with self._lock:
            return self._add_up()

    def drain(self) -> UsageReport:
        """Return what was added so far, and forget it: it goes to the ledger of another process."""
        with self._lock:
            spending = self._add_up()
            self._usage.clear()
            self._notes.clear()
        return spending

    def take_over(self, spending: UsageReport) -> None:
        """Add what another process has drained from its ledger."""
        for usage in spending.usage:
            self.add(usage)
        for sentence in spending.notes:
            self.note(sentence)

    def _add_up(self) -> UsageReport:
        return UsageReport(_merge_usage(self._usage.values()), tuple(self._notes))


def read_prices(path: Path) -> dict[str, Price]:
    """Read a table of prices for a million tokens: ``{"gpt-4.1-mini": {"prompt": 0.4, "completion": 1.6}}``.

    Raises:
        InputError: the file cannot be read or is no such table.
    """
    expected = 'a table of prices is JSON such as {"model": {"prompt": 0.4, "completion": 1.6}}, for a million tokens'
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        prices = {str(model): Price(float(price["prompt"]), float(price["completion"])) for model, price in table.items()}
    except OSError as denied:
        problem = f"the file cannot be read ({denied.strerror}); check the path"
        raise InputError(problem, file=path) from denied
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise InputError(expected, file=path) from wrong
    for model, price in prices.items():
        if not all(0 <= value < math.inf for value in (price.prompt, price.completion)):
            raise InputError(expected, file=path, field=model)
    return prices


def _merge_usage(several: Iterable[Usage]) -> tuple[Usage, ...]:
    merged: dict[tuple[str, str], Usage] = {}
    for usage in several:
        key = (usage.model, usage.purpose)
        merged[key] = merged[key] + usage if key in merged else usage
    return tuple(merged[key] for key in sorted(merged))
