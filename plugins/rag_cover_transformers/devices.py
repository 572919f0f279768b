"""Where a network runs and in which precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from rag_cover.argument_checks import refuse_below, refuse_other_than, without_none
from rag_cover.errors import InvalidValueError

__all__ = ["BATCH_TOKENS", "CACHED_TOKENS", "Placement", "choose_placement"]

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_OVERFLOW_IN_FLOAT16 = ("t5", "mt5", "umt5", "gemma")
BATCH_TOKENS = {"cpu": 4_096, "cuda": 32_768}
CACHED_TOKENS = {"cpu": 32_768, "cuda": 131_072}
"""What a batch holds where keys and values are kept for each token, not only looked at once."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A device, the precision of weights and activations there, and how many tokens one batch holds."""

    device: torch.device
    dtype: torch.dtype
    batch_tokens: int

    @property
    def precision(self) -> str:
        """Name the precision, as fingerprints do: verdicts differ by rounding."""
        return str(self.dtype).removeprefix("torch.")


def choose_placement(
    device: str, precision: str, batch_tokens: int | None, *, model_type: str = "", usual: Mapping[str, int] = BATCH_TOKENS
) -> Placement:
    """Choose what ``"auto"`` leaves open: the GPU where there is one, half precision there, and float32 on the CPU."""
    refuse_other_than(("auto", *PRECISIONS), precision=precision)
    refuse_below(1, **without_none(batch_tokens=batch_tokens))
    chosen = _device(device)
    dtype = _half(model_type) if precision == "auto" and chosen.type == "cuda" else PRECISIONS.get(precision, torch.float32)
    return Placement(chosen, dtype, batch_tokens or usual.get(chosen.type, usual["cpu"]))


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(name)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        message = f"device {name!r} is not to be had here ({reason}); 'auto' takes what there is, 'cpu' is always there"
        raise InvalidValueError(message) from error
    return chosen


def _half(model_type: str) -> torch.dtype:
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float32 if model_type.startswith(_OVERFLOW_IN_FLOAT16) else torch.float16
