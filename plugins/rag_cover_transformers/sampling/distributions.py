"""The distribution that is sampled, and a draw from it: temperature, then top-k, then top-p, as everywhere else.

``log p(token) = log softmax(logits / temperature)``, renormalised over the tokens that top-k and top-p leave; -inf elsewhere.
At temperature 0 the likeliest token is taken, and its log-probability is the model's own, at temperature 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["draw_tokens", "shape_distribution"]


def shape_distribution(logits: Tensor, *, temperature: float, top_p: float, top_k: int | None) -> Tensor:
    """Return the (rows, vocabulary) log-probabilities of the distribution to sample from.

    >>> logits = torch.tensor([[2.0, 1.0, 0.0]])
    >>> shape_distribution(logits, temperature=0.5, top_p=1.0, top_k=2).exp().round(decimals=3).tolist()
    [[0.8809999823570251, 0.11900000274181366, 0.0]]
    """
    scaled = logits.float() / temperature if temperature > 0 else logits.float()
    if temperature > 0 and top_k is not None and top_k < scaled.shape[-1]:
        least = scaled.topk(top_k, dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < least, -torch.inf)
    if temperature > 0 and top_p < 1:
        scaled = scaled.masked_fill(~_nucleus(scaled, top_p), -torch.inf)
    return scaled.log_softmax(dim=-1)


def _nucleus(scaled: Tensor, top_p: float) -> Tensor:
    """Mark the likeliest tokens, up to and with the one that makes their mass reach ``top_p``."""
    ordered, places = scaled.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(dim=-1) - ordered
    return torch.zeros_like(scaled, dtype=torch.bool).scatter(-1, places, before < top_p)


def draw_tokens(logprobs: Tensor, uniforms: Tensor, *, temperature: float) -> Tensor:
    """Draw one token a row: where the cumulated distribution passes the row's uniform number in [0, 1).

    >>> rows = torch.tensor([[0.25, 0.0, 0.75]] * 3).log()
    >>> draw_tokens(rows, torch.tensor([0.0, 0.24, 0.26], dtype=torch.float64), temperature=1.0).tolist()
    [0, 0, 2]
    """
    if temperature == 0:
        return logprobs.argmax(dim=-1)
    cumulated = logprobs.double().exp().cumsum(dim=-1)
    found = torch.searchsorted(cumulated, (uniforms[:, None] * cumulated[:, -1:]).contiguous(), right=True)[:, 0]
    return found.clamp(max=logprobs.shape[-1] - 1)
