"""How much a cascade may ask of its second model, and how much of what the first judge keeps is checked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from rag_cover.argument_checks import refuse_below, refuse_negative, refuse_outside, without_none
from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError
from rag_cover.llm.usage import Price
from rag_cover.traces import content_hash

__all__ = ["AUDIT", "CascadeSettings", "item_key"]

AUDIT = 0.05
"""The share of the verdicts kept by the first judge that are checked, unless given."""


def item_key(item: ScoringItem) -> str:
    """Name what is asked of a judge, whoever asks it when."""
    return content_hash([item.question, item.text, list(item.references), item.user_question])[:24]


@dataclass(frozen=True, slots=True)
class CascadeSettings:
    """What a cascade may ask, and what it checks.

    Args:
        max_calls: of the second model in one evaluation, those of the audit included; None: no limit.
        max_cost: what these may cost by ``price``, estimated before they are made; None: no limit.
        price: of the second model.
        audit: the share of the verdicts that the first judge keeps which the model is asked about too, to estimate how often
            it would agree.
        seed: of the draw of the audit.

    Raises:
        InvalidValueError: a number outside its range, or a limit of the cost without a price.
    """

    max_calls: int | None = None
    max_cost: float | None = None
    price: Price | None = None
    audit: float = AUDIT
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no cascade can go by."""
        refuse_below(0, **without_none(max_calls=self.max_calls))
        refuse_negative(**without_none(max_cost=self.max_cost))
        refuse_outside(0, 1, audit=self.audit)
        if self.max_cost is not None and self.price is None:
            message = "max_cost needs the price of the model that is asked; give a table of prices that has it (--prices)"
            raise InvalidValueError(message)

    @classmethod
    def of(cls, model: str, prices: Mapping[str, Price] | None = None, **limits: object) -> CascadeSettings:
        """Take the price of a model from a table, by its whole name or without its scheme.

        Raises:
            InvalidValueError: as the class does.
        """
        table = prices or {}
        price = table.get(model) or table.get(model.partition(":")[2])
        if limits.get("max_cost") is not None and price is None:
            known = f"; it has those of {', '.join(sorted(table))}" if table else ""
            message = f"max_cost needs the price of {model!r}, which the table of prices (--prices) does not have{known}"
            raise InvalidValueError(message)
        return cls(price=price, **limits)  # type: ignore[arg-type]  # the fields' own names

    @property
    def has_budget(self) -> bool:
        """Return whether not all may be asked that the first judge is unsure of."""
        return self.max_calls is not None or self.max_cost is not None

    def draw(self, key: str) -> float:
        """Return the number in [0, 1) that a verdict draws; below ``audit``, it is checked."""
        digest = hashlib.sha256(f"{self.seed}:{key}".encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64
