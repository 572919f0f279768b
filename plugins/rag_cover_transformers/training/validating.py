"""What validation examples say of a network: its AUROC, and the numbers it is read with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from rag_cover_transformers.batches import Floats, Runner, logistic
from rag_cover_transformers.devices import Placement
from rag_cover_transformers.geneval.folder import FittedHeads
from rag_cover_transformers.geneval.judge import both_heads
from rag_cover_transformers.geneval.network import GenEvalNetwork
from rag_cover_transformers.training.examples import EncodedExample
from rag_cover_transformers.training.fitting import balanced_cut, fit_temperature, rank_accuracy, shares_temperature

__all__ = ["fit_on", "validation_auc"]


def validation_auc(network: GenEvalNetwork, held: Sequence[EncodedExample], placement: Placement, pad: int) -> float:
    """Return the area under the ROC curve of the correctness head."""
    logits = np.array([row[0] for row in _outputs(network, held, placement, pad)], np.float64)
    return rank_accuracy(logits, _truth(held))


def fit_on(
    network: GenEvalNetwork, held: Sequence[EncodedExample], placement: Placement, pad: int, unfitted: FittedHeads
) -> FittedHeads:
    """Fit the temperatures of both heads, and the cut for coverage on the examples without references."""
    rows = _outputs(network, held, placement, pad)
    logits, truth = np.array([row[0] for row in rows], np.float64), _truth(held)
    temperature = fit_temperature(logits, truth)
    free = np.array([target.reference_free for target in held])
    shares = [
        (row[1:][target.laid.question].astype(np.float64), target.relevant.astype(np.float64))
        for row, target in zip(rows, held, strict=True)
        if target.relevant is not None
    ]
    return replace(
        unfitted,
        threshold=balanced_cut(logistic((logits[free] / temperature).astype(np.float32)).astype(np.float64), truth[free]),
        correctness_temperature=temperature,
        relevance_temperature=shares_temperature(shares),
    )


def _outputs(network: GenEvalNetwork, held: Sequence[EncodedExample], placement: Placement, pad: int) -> list[Floats]:
    network.eval()
    return Runner(network, placement, pad, Lock()).run([target.laid.encoded for target in held], both_heads)


def _truth(held: Sequence[EncodedExample]) -> NDArray[np.bool_]:
    return np.array([target.correct > 0 for target in held], dtype=np.bool_)
