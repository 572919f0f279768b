"""A sequence classifier of any architecture, opened from a checkpoint: pairs of token ids in, logits out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from rag_cover_transformers.batches import Runner
from rag_cover_transformers.checkpoints import Checkpoint, find_checkpoint
from rag_cover_transformers.devices import Placement, choose_placement
from rag_cover_transformers.encodings import NetworkInput, PairEncoder, TextEncoder, longest_input
from rag_cover_transformers.model_source import Source

__all__ = ["Classifier", "PairClassifier", "join_texts", "open_classifier", "read_classifier"]


class PairClassifier(Protocol):
    """What gives each pair of texts a logit for each of its labels."""

    @property
    def name(self) -> str:
        """Return the name that the checkpoint was asked for by."""
        ...

    @property
    def fingerprint(self) -> str:
        """Name the weights and how they are read."""
        ...

    @property
    def id2label(self) -> dict[int, str]:
        """Return what each output is called."""
        ...

    @property
    def encoder(self) -> PairEncoder:
        """Return what makes inputs out of texts."""
        ...

    def logits(self, rows: Sequence[NetworkInput]) -> NDArray[np.float32]:
        """Return the (rows, labels) logits."""
        ...

    def logits_of_texts(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the logits of short pairs, which are not windowed."""
        ...


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Classifier:
    """A network with its tokenizer; ``fingerprint`` names the weights and how they are read."""

    name: str
    fingerprint: str
    id2label: dict[int, str]
    encoder: TextEncoder
    runner: Runner

    def logits(self, rows: Sequence[NetworkInput]) -> NDArray[np.float32]:
        """Return the (rows, labels) logits."""
        found = self.runner.run(rows, _logits)
        return np.array(found, dtype=np.float32).reshape(len(rows), len(self.id2label))

    def logits_of_texts(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the logits of short pairs, which are not windowed."""
        return self.logits(join_texts(self.encoder, pairs))


def join_texts(encoder: PairEncoder, pairs: Sequence[tuple[str, str]]) -> list[NetworkInput]:
    """Join short pairs, which are not windowed."""
    texts = encoder.tokenise([text for pair in pairs for text in pair])
    return [encoder.join_pair(texts[2 * n].ids, texts[2 * n + 1].ids) for n in range(len(pairs))]


def open_classifier(source: Source) -> Classifier:
    """Find a checkpoint that was trained as a sequence classifier, and read it."""
    return read_classifier(find_checkpoint(source.model, revision=source.revision), source)


def read_classifier(checkpoint: Checkpoint, source: Source) -> Classifier:
    """Read a checkpoint that was trained as a sequence classifier."""
    config, tokenizer = checkpoint.config(), checkpoint.tokenizer()
    placement = choose_placement(source.device, source.precision, source.batch_tokens, model_type=config.model_type)
    longest = longest_input(tokenizer, config, source.max_tokens)
    network = checkpoint.network(AutoModelForSequenceClassification, placement)
    fingerprint = f"{checkpoint.fingerprint()}:{placement.precision}:{longest}"
    return classifier_of(network, TextEncoder(tokenizer, longest), placement, name=checkpoint.name, fingerprint=fingerprint)


def classifier_of(network: Any, encoder: TextEncoder, placement: Placement, *, name: str, fingerprint: str) -> Classifier:
    """Make a classifier of a network that is at hand."""
    labels = {int(place): str(label) for place, label in network.config.id2label.items()}
    return Classifier(name, fingerprint, labels, encoder, Runner(network, placement, encoder.pad, Lock()))


def _logits(network: Any, batch: dict[str, Tensor]) -> Tensor:
    logits: Tensor = network(**batch).logits
    return logits
