"""The entailment stage on torch: the judge's own weights in fp32, and a network of DeBERTa-v2-xlarge's shape on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.support.originals import Original
from benchmarks.support.published import Forward, Tally
from benchmarks.support.shapes import CLASSIFIERS, at, peak_flops, tokenizer
from rag_cover.backends import Entailer
from rag_cover.belief.entailment import normal_form
from rag_cover_embedded.inputs import Task, encode_pairs
from rag_cover_transformers.batches import Runner, by_length, pad_rows
from rag_cover_transformers.classifiers import Classifier, classifier_of
from rag_cover_transformers.devices import choose_placement
from rag_cover_transformers.encodings import TextEncoder
from rag_cover_transformers.entailer import NliEntailer, by_class
from rag_cover_transformers.labels import THREE_CLASSES

__all__ = ["Shaped", "checkpoint_forward", "decided_by_words", "flops_of", "shaped"]

Pair = tuple[str, str]
Floats = NDArray[np.float64]

_PAIRS = 10_000  # more than any forward has
_LONGEST = 512


def checkpoint_forward(path: Path, opened: Tokenizer, temperature: float, threads: int, tally: Tally) -> Forward:
    """Return a forward of the training's checkpoint in fp32."""
    original = Original(path, threads=threads, batch=_PAIRS)

    def forward(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        encoded = encode_pairs(opened, Task.ENTAILMENT, pairs)
        tally.count([len(each) for each in encoded])
        logits = np.array([row for (row,) in original.run(encoded, ["entailment"])])
        return by_class(logits / temperature, THREE_CLASSES).astype(np.float64)

    return forward


@dataclass(frozen=True, slots=True)
class Shaped:
    """A network of a shape: one forward of it, an Entailer over it, and what each put through it."""

    classifier: Classifier
    forwards: Tally
    planned: Tally

    @property
    def precision(self) -> str:
        """Return the precision it runs in."""
        return str(self.classifier.runner.placement.precision)

    @property
    def peak(self) -> float:
        """Measure the operations a second of one large matrix product where it runs."""
        return float(peak_flops(self.classifier.runner.placement))

    @property
    def entailer(self) -> Entailer:
        """Return an Entailer over the network."""
        return NliEntailer(self.classifier, THREE_CLASSES)

    @torch.inference_mode()
    def forward(self, pairs: Sequence[Pair]) -> Floats:
        """Judge pairs in one batch."""
        encoder, runner = self.classifier.encoder, self.classifier.runner
        texts = encoder.tokenise([text for pair in pairs for text in pair])
        rows = [encoder.join_pair(texts[2 * n].ids, texts[2 * n + 1].ids) for n in range(len(pairs))]
        self.forwards.count([len(row) for row in rows])
        logits = runner.network(**pad_rows(rows, pad=runner.pad, device=runner.placement.device)).logits
        return by_class(logits.float().cpu().numpy(), THREE_CLASSES).astype(np.float64)


@dataclass(frozen=True, slots=True)
class CountingRunner(Runner):
    """A runner whose batches are counted."""

    tally: Tally

    def run(self, rows: Sequence[Any], read: Callable[..., Any]) -> list[NDArray[np.float32]]:
        """Count, and run."""
        for group in by_length([len(row) for row in rows], tokens=self.placement.batch_tokens):
            self.tally.count([len(rows[row]) for row in group])
        return Runner.run(self, rows, read)


def shaped(device: str, precision: str, seed: int) -> Shaped:
    """Make a network of DeBERTa-v2-xlarge's shape."""
    placement, planned = choose_placement(device, precision, None), Tally()
    network = at(placement, CLASSIFIERS["deberta-xlarge"], seed=seed)
    made = classifier_of(network, TextEncoder(tokenizer(), _LONGEST), placement, name="random", fingerprint="random")
    runner = CountingRunner(network, placement, made.runner.pad, Lock(), planned)
    return Shaped(replace(made, runner=runner), Tally(), planned)


def decided_by_words(pairs: Sequence[Pair], judged: NDArray[Any]) -> NDArray[Any]:
    """Let texts entail each other where they are equal but for case and punctuation: random weights decide nothing."""
    same = np.array([normal_form(premise) == normal_form(hypothesis) for premise, hypothesis in pairs])
    return np.stack([same, ~same, np.zeros_like(same)], axis=1).astype(judged.dtype)


def flops_of(call: Callable[[], object]) -> int:
    """Count the floating-point operations of a call, padding included."""
    with FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())
