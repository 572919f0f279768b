"""What to open and how: the options that all kinds of checkpoints share, before anything heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A model by folder or name of the hub, and where and how it shall run; None leaves it to the checkpoint."""

    model: str
    revision: str | None = None
    device: str = "auto"
    precision: str = "auto"
    max_tokens: int | None = None
    batch_tokens: int | None = None
