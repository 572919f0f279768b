"""The network: a T5 encoder-decoder, or an encoder alone, under two small heads.

From the contextual vectors h of the input's tokens: ``correctness = f(r)`` with r the decoder's first vector, the first token's
or the mean, and ``relevance_j = g(h_j)``, read at the question's tokens.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

__all__ = ["READINGS", "GenEvalNetwork", "HeadOutputs"]

HeadOutputs = Literal["decoder", "first", "mean"]
READINGS: tuple[HeadOutputs, ...] = ("decoder", "first", "mean")


def _head(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(0.1), nn.Linear(width, 1))


class GenEvalNetwork(nn.Module):
    """``reading`` says which vector the correctness head reads."""

    def __init__(self, backbone: nn.Module, reading: HeadOutputs) -> None:
        super().__init__()
        self.backbone, self.reading, self.config = backbone, reading, backbone.config
        width = backbone.config.hidden_size
        self.correctness, self.relevance = _head(width), _head(width)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return (rows,) correctness logits and (rows, tokens) relevance logits."""
        lead, vectors = self._vectors(input_ids, attention_mask)
        return self.correctness(lead)[:, 0].float(), self.relevance(vectors)[..., 0].float()

    def heads(self) -> dict[str, Tensor]:
        """Return the heads' weights by name: what a plain checkpoint of the backbone lacks."""
        return {name: value for name, value in self.state_dict().items() if not name.startswith("backbone.")}

    def _vectors(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        if self.reading == "decoder":
            start = torch.full((len(ids), 1), self.backbone.config.decoder_start_token_id or 0, device=ids.device)
            output = self.backbone(input_ids=ids, attention_mask=mask, decoder_input_ids=start, use_cache=False)
            return output.last_hidden_state[:, 0], output.encoder_last_hidden_state
        vectors = self.backbone(input_ids=ids, attention_mask=mask).last_hidden_state
        if self.reading == "first":
            return vectors[:, 0], vectors
        weights = mask[..., None].to(vectors.dtype)
        return (vectors * weights).sum(dim=1) / weights.sum(dim=1), vectors
