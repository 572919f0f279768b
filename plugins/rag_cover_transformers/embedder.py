"""Texts as unit vectors, by any encoder; a text longer than its input is the weighted mean of its windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from rag_cover_transformers.batches import Runner
from rag_cover_transformers.checkpoints import encoder_class, find_checkpoint
from rag_cover_transformers.devices import Placement, choose_placement
from rag_cover_transformers.encodings import NetworkInput, TextEncoder, longest_input
from rag_cover_transformers.errors import WrongKindError
from rag_cover_transformers.model_source import Source
from rag_cover_transformers.pooling import Pooling, densely, pool_vectors, read_pooling

__all__ = ["TextEmbedder", "open_text_embedder"]

Floats = NDArray[np.float32]


class TextEmbedder:
    """An Embedder; thread-safe."""

    def __init__(self, network: Any, encoder: TextEncoder, placement: Placement, pooling: Pooling, *, fingerprint: str) -> None:
        self._encoder, self._pooling = encoder, pooling
        self._runner = Runner(network, placement, encoder.pad, Lock())
        self._width = pooling.width(network.config.hidden_size)
        self.fingerprint = fingerprint

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return (n, d) vectors of unit length; a blank text has the vector of nothing but special tokens."""
        prepared = [self._pooling.prompt + (text.lower() if self._pooling.lower else text) for text in texts]
        windows = [text.windows(self._encoder.room) or [text.ids] for text in self._encoder.tokenise(prepared)]
        rows: list[NetworkInput] = [self._encoder.alone(window) for several in windows for window in several]
        found = iter(self._runner.run(rows, partial(_vectors, pooling=self._pooling)))
        summed = [np.sum([max(1, len(window)) * next(found) for window in several], axis=0) for several in windows]
        vectors = np.array(summed, np.float32) if summed else np.zeros((0, self._width), np.float32)
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def _vectors(network: Any, batch: dict[str, Tensor], *, pooling: Pooling) -> Tensor:
    vectors = network(**batch).last_hidden_state
    found = densely(pool_vectors(vectors, batch["attention_mask"], pooling.modes), pooling)
    return found / found.float().norm(dim=1, keepdim=True).clamp(min=1e-12)


def open_text_embedder(source: Source, *, prompt: str | None = None) -> TextEmbedder:
    """Open an encoder; ``prompt`` stands before every text (None: the one the checkpoint names, if any)."""
    checkpoint = find_checkpoint(source.model, revision=source.revision)
    pooling = read_pooling(checkpoint)
    pooling = pooling if prompt is None else replace(pooling, prompt=prompt)
    config, tokenizer = checkpoint.config(pooling.subfolder), checkpoint.tokenizer(pooling.subfolder)
    if not pooling.told and any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in config.architectures or ()):
        problem = "it is a language model, and no modules.json says how its token vectors make one of a text; take an encoder"
        raise WrongKindError(checkpoint.name, problem)
    placement = choose_placement(source.device, source.precision, source.batch_tokens, model_type=config.model_type)
    asked = pooling.max_tokens if source.max_tokens is None else source.max_tokens
    longest = longest_input(tokenizer, config, asked)
    network = checkpoint.network(encoder_class(config), placement, may_lack=("pooler",), subfolder=pooling.subfolder)
    fingerprint = f"{checkpoint.fingerprint()}:{placement.precision}:{longest}:{pooling.prompt}"
    return TextEmbedder(network, TextEncoder(tokenizer, longest), placement, pooling, fingerprint=fingerprint)
