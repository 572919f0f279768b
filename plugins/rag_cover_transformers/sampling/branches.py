"""The samples that grow from prefilled prompts: two ways to let them share what was computed for the prompt.

`SharedPrompt` keeps a prompt's keys and values once: its n samples are n queries of one row, and a mask lets each see the
prompt and its own tokens only. It needs attention to all that came before, with rotary positions. `CopiedPrompt` copies the
prompt's keys and values to n rows; it serves any causal model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

__all__ = ["Branches", "CopiedPrompt", "Prefilled", "SharedPrompt", "attends_to_all"]

Forward = Callable[..., Any]

_PROMPT, _PADDING, _NOBODY = -1, -2, -3


@dataclass(frozen=True, slots=True)
class Prefilled:
    """Prompts after one pass: (prompts, vocabulary) logits, the (prompts, tokens) mask and the cache of keys and values."""

    logits: Tensor
    mask: Tensor
    cache: Any


class Branches(Protocol):
    """Samples under way, numbered through: n of the first prompt, n of the second, and so on."""

    def advance(self, ids: Tensor, live: Tensor) -> Tensor:
        """Append a token to each live sample (rising numbers, no new ones); return their (live, vocabulary) next logits."""
        ...


class SharedPrompt:
    """One row a prompt, whatever n. ``_owner`` is the owner of each cached position: a sample, the prompt, or nobody."""

    def __init__(self, forward: Forward, prefilled: Prefilled, n: int, *, dtype: torch.dtype) -> None:
        self._forward, self._cache, self._n, self._dtype = forward, prefilled.cache, n, dtype
        self._owner = torch.where(prefilled.mask == 1, _PROMPT, _PADDING)
        self._next = prefilled.mask.sum(dim=1)

    def advance(self, ids: Tensor, live: Tensor) -> Tensor:
        """Append a token to each live sample."""
        prompt, sample = live // self._n, live % self._n
        place = torch.arange(len(live), device=live.device) - torch.searchsorted(prompt, prompt)
        shape = (len(self._owner), int(place.max()) + 1)
        inputs, owner = ids.new_zeros(shape), ids.new_full(shape, _NOBODY)
        inputs[prompt, place], owner[prompt, place] = ids, sample
        self._owner = torch.cat([self._owner, owner], dim=1)
        keys = self._owner[:, None, :]
        seen = (keys == _PROMPT) | (keys == owner[:, :, None])
        mask = torch.zeros(seen.shape, dtype=self._dtype, device=ids.device).masked_fill(~seen, torch.finfo(self._dtype).min)
        positions = self._next[:, None].expand(shape)
        self._next = self._next + 1
        logits: Tensor = self._forward(inputs, mask[:, None], positions, self._cache).logits
        return logits[prompt, place]


class CopiedPrompt:
    """One row a sample; those that have ended leave."""

    def __init__(self, forward: Forward, prefilled: Prefilled, n: int) -> None:
        self._forward, self._cache = forward, prefilled.cache
        prompts = torch.arange(len(prefilled.mask), device=prefilled.mask.device).repeat_interleave(n)
        self._cache.reorder_cache(prompts)  # what layers of every kind can do: also those with a recurrent state
        self._mask = prefilled.mask[prompts]
        self._held = torch.arange(len(prompts), device=prompts.device)

    def advance(self, ids: Tensor, live: Tensor) -> Tensor:
        """Append a token to each live sample."""
        if len(live) < len(self._held):
            kept = torch.searchsorted(self._held, live)
            self._cache.reorder_cache(kept)
            self._mask, self._held = self._mask[kept], live
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(live), 1)], dim=1)
        positions = self._mask.sum(dim=1, keepdim=True) - 1
        logits: Tensor = self._forward(ids[:, None], self._mask, positions, self._cache).logits
        return logits[:, -1]


def attends_to_all(config: Any) -> bool:
    """Return whether every layer sees every earlier token, by its rotary position alone.

    Layers with a sliding window or a recurrent state, and positions told by the order of a row (ALiBi), do not.
    """
    decoder = config.get_text_config(decoder=True)
    whole = all(type(layer) is DynamicLayer for layer in DynamicCache(config=config).layers)
    return bool(whole and getattr(decoder, "rope_parameters", None) and not getattr(decoder, "alibi", False))
