"""The judge: correctness of a text as an answer, with or without references, and relevance to each token of a question.

Every window of a text beside every group of references is judged. The likeliest speaks for the text's correctness; a token of
the question is as relevant as in the window most about it. Relevance is a softmax over the question's tokens with a fitted
temperature, peaked enough that its entropy tells texts apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rag_cover.backends import ScoringItem, TokenRelevance
from rag_cover_transformers.batches import Runner, logistic
from rag_cover_transformers.checkpoints import Checkpoint
from rag_cover_transformers.devices import Placement, choose_placement
from rag_cover_transformers.encodings import TextEncoder, longest_input
from rag_cover_transformers.geneval.folder import FittedHeads, open_network, read_fitted
from rag_cover_transformers.geneval.layout import InputLayout, Laid
from rag_cover_transformers.model_source import Source

__all__ = ["GenEvalJudge", "open_geneval"]

Floats = NDArray[np.float32]


class GenEvalJudge:
    """A Scorer and a Relevance model; thread-safe."""

    def __init__(
        self, network: Any, encoder: TextEncoder, placement: Placement, fitted: FittedHeads, *, fingerprint: str
    ) -> None:
        self._fitted = fitted
        self._layout = InputLayout(encoder)
        self._runner = Runner(network, placement, encoder.pad, Lock())
        self.fingerprint = fingerprint

    @property
    def threshold(self) -> float:
        """Return the fitted cut for reference-free coverage."""
        return self._fitted.threshold

    def correctness(self, items: Sequence[ScoringItem]) -> Floats:
        """Return (n,) P(the text contains a correct answer to the question, given the references); a blank text: 0."""
        strings = dict.fromkeys(text for item in items for text in (item.question, item.text, *item.references))
        texts = dict(zip(strings, self._layout.encoder.tokenise(list(strings)), strict=True))
        laid: list[Laid] = []
        owners: list[int] = []
        for number, item in enumerate(items):
            inputs = self._layout.inputs(texts[item.question], texts[item.text], [texts[given] for given in item.references])
            laid += inputs
            owners += [number] * len(inputs)
        logits = np.array([row[0] for row in self._run(laid)], np.float32)
        best = np.full(len(items), -np.inf, np.float32)
        np.maximum.at(best, np.array(owners, np.intp), logits)
        return logistic(best / self._fitted.correctness_temperature)

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        """Return the relevance of each text to each token of the question; a blank text has none, all 0."""
        asked, *cut = self._layout.encoder.tokenise([question, *texts])
        inputs = [self._layout.inputs(asked, text) for text in cut]
        rows = iter(self._run([laid for several in inputs for laid in several]))
        tokens = len(asked.ids[: self._layout.longest_question])
        values = np.zeros((len(texts), tokens))
        for number, several in enumerate(inputs):
            for laid in several:
                values[number] = np.maximum(values[number], self._shares(next(rows)[1:][laid.question]))
        return TokenRelevance(tuple(question[start:end] for start, end in asked.offsets[:tokens].tolist()), values)

    def _shares(self, logits: Floats) -> NDArray[np.float64]:
        scaled = logits.astype(np.float64) / self._fitted.relevance_temperature
        powers = np.exp(scaled - scaled.max(initial=-np.inf))
        return np.asarray(powers / powers.sum(), dtype=np.float64)

    def _run(self, laid: Sequence[Laid]) -> list[Floats]:
        return self._runner.run([each.encoded for each in laid], both_heads)


def both_heads(network: Any, batch: dict[str, Tensor]) -> Tensor:
    """Return (rows, 1 + tokens): the correctness logit, then the relevance logits."""
    correctness, relevance = network(batch["input_ids"], batch["attention_mask"])
    return torch.cat([correctness[:, None], relevance], dim=1)


def open_geneval(checkpoint: Checkpoint, source: Source) -> GenEvalJudge:
    """Open a GenEval folder."""
    fitted, tokenizer, config = read_fitted(checkpoint), checkpoint.tokenizer(), checkpoint.config()
    placement = choose_placement(source.device, source.precision, source.batch_tokens, model_type=config.model_type)
    asked = fitted.max_tokens if source.max_tokens is None else min(source.max_tokens, fitted.max_tokens)
    longest = longest_input(tokenizer, config, asked)
    network = open_network(checkpoint, fitted, placement)
    fingerprint = f"{checkpoint.fingerprint()}:{placement.precision}:{longest}"
    return GenEvalJudge(network, TextEncoder(tokenizer, longest), placement, fitted, fingerprint=fingerprint)
