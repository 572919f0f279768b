"""The loop: prompts prefilled once each, in batches by length, and their samples drawn side by side.

The network sees left-padded prompts, each once; its samples grow from what that left in the cache (`branches`), and those
that have ended leave.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import DynamicCache

from rag_cover.argument_checks import refuse_below, without_none
from rag_cover.backends import Sampling
from rag_cover_transformers.batches import by_length, in_halves
from rag_cover_transformers.devices import Placement
from rag_cover_transformers.prompts import PromptEncoder
from rag_cover_transformers.sampling.branches import Branches, CopiedPrompt, Prefilled, SharedPrompt, attends_to_all
from rag_cover_transformers.sampling.distributions import draw_tokens, shape_distribution
from rag_cover_transformers.sampling.endings import Drawn, cut_at_end, first_stop, tail_length
from rag_cover_transformers.sampling.randomness import uniforms_of

__all__ = ["CausalSampler"]

Ids = NDArray[np.int64]


@dataclass(slots=True)
class _Row:
    """One sample under way: which prompt's, its random numbers, and what it has drawn so far."""

    prompt: int
    uniforms: NDArray[np.float64]
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


class CausalSampler:
    """A causal language model with its tokenizer; thread-safe, one call at a time.

    ``longest`` is how many tokens a prompt and its answer may have together.
    """

    def __init__(self, network: Any, tokenizer: Any, placement: Placement, *, longest: int, fingerprint: str) -> None:
        self.longest, self.fingerprint = longest, fingerprint
        self.encoder = PromptEncoder(tokenizer)
        self._network, self._tokenizer, self._placement = network, tokenizer, placement
        self._pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self._end_ids = _end_ids(network, tokenizer)
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(network.forward).parameters else {}
        self._shares = attends_to_all(network.config)
        self._lock = Lock()

    def draw(self, prompts: Sequence[Ids], how: Sampling) -> list[list[Drawn]]:
        """Draw ``how.n`` samples for each prompt, given as token ids, of which each has one at least.

        With a seed they do not depend on the batch, but for rounding: in half precision a draw on the edge between two tokens
        may fall to the other one.
        """
        refuse_below(1, **without_none(top_k=how.top_k))
        found: list[list[Drawn]] = [[] for _ in prompts]
        copies = 1 if self._shares else how.n
        sizes = [copies * len(prompt) + how.n * how.max_tokens for prompt in prompts]
        for group in by_length(sizes, tokens=self._placement.batch_tokens):
            with self._lock, torch.inference_mode():
                done = list(in_halves(group, lambda places: self._draw_batch([prompts[place] for place in places], how)))
            for places, rows in done:
                for row in rows:
                    found[places[row.prompt]].append(
                        cut_at_end(row.ids, row.logprobs, decode=self._decode, stops=how.stop, end_ids=self._end_ids)
                    )
        return found

    def _draw_batch(self, prompts: Sequence[Ids], how: Sampling) -> list[_Row]:
        rows = [
            _Row(number, uniforms)
            for number, prompt in enumerate(prompts)
            for uniforms in uniforms_of(prompt, n=how.n, length=how.max_tokens, seed=how.seed)
        ]
        prefilled = self._prefill(prompts)
        logits = prefilled.logits.repeat_interleave(how.n, dim=0)
        branches = self._branches(prefilled, how.n)
        numbers = torch.arange(len(rows), device=logits.device)
        live = rows
        for step in range(how.max_tokens):
            ids = self._step(live, logits, how, step)
            over = self._over(live, how.stop)
            if all(over) or step + 1 == how.max_tokens:
                break
            if any(over):
                kept = torch.tensor([not done for done in over], device=ids.device)
                ids, numbers = ids[kept], numbers[kept]
                live = [row for row, done in zip(live, over, strict=True) if not done]
            logits = branches.advance(ids, numbers)
        return rows

    def _prefill(self, prompts: Sequence[Ids]) -> Prefilled:
        width = max(map(len, prompts))
        ids = np.full((len(prompts), width), self._pad, np.int64)
        mask = np.zeros((len(prompts), width), np.int64)
        for place, prompt in enumerate(prompts):
            ids[place, width - len(prompt) :], mask[place, width - len(prompt) :] = prompt, 1
        device = self._placement.device
        placed, masked = torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)
        positions = (masked.cumsum(dim=1) - 1).clamp(min=0)
        output = self._forward(placed, masked, positions, DynamicCache(config=self._network.config), **self._last_only)
        return Prefilled(output.logits[:, -1], masked, output.past_key_values)

    def _branches(self, prefilled: Prefilled, n: int) -> Branches:
        if self._shares:
            return SharedPrompt(self._forward, prefilled, n, dtype=self._placement.dtype)
        return CopiedPrompt(self._forward, prefilled, n)

    def _forward(self, ids: Tensor, mask: Tensor, positions: Tensor, cache: Any, **more: Any) -> Any:
        return self._network(
            input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True, **more
        )

    def _step(self, live: Sequence[_Row], logits: Tensor, how: Sampling, step: int) -> Tensor:
        """Draw one token for each row and note it with its log-probability."""
        logprobs = shape_distribution(logits, temperature=how.temperature, top_p=how.top_p, top_k=how.top_k)
        uniforms = torch.tensor([row.uniforms[step] for row in live], dtype=torch.float64, device=logits.device)
        ids = draw_tokens(logprobs, uniforms, temperature=how.temperature)
        chosen = logprobs.gather(1, ids[:, None])[:, 0]
        for row, token, logprob in zip(live, ids.tolist(), chosen.tolist(), strict=True):
            row.ids.append(token)
            row.logprobs.append(logprob)
        return ids

    def _over(self, live: Sequence[_Row], stops: Sequence[str]) -> list[bool]:
        """Return which rows have just drawn an end token or completed a stop text."""
        tail = tail_length(stops)
        texts = self._tokenizer.batch_decode([row.ids[-tail:] for row in live], **_AS_IT_IS) if stops else [""] * len(live)
        return [
            row.ids[-1] in self._end_ids or first_stop(text, stops) is not None for row, text in zip(live, texts, strict=True)
        ]

    def _decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(ids, **_AS_IT_IS))


_AS_IT_IS = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}


def _end_ids(network: Any, tokenizer: Any) -> frozenset[int]:
    """Gather the ids that end a text, by the network's generation settings and by its tokenizer."""
    settings = getattr(network, "generation_config", None)
    named = getattr(settings, "eos_token_id", None)
    several = named if isinstance(named, list) else [named]
    return frozenset(int(token) for token in (*several, tokenizer.eos_token_id) if token is not None)
