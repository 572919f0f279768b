"""A network of its own for entailment: a trained judge that goes on with premises and hypotheses alone.

The judge's network does four things at once. What it learned of claims on passages cost it verdicts on short replies (RUNS.md,
runs 9 and 10), so claims have a network to themselves. Every pair is read by one of the networks, so this takes no more time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.examples import TrainingStage
from rag_cover_embedded.training.own_network import train_own_network
from rag_cover_embedded.training.schedule import ENTAILMENT_STEPS

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = TrainingStage(
    {
        "near cases": 0.7,
        "cases": 0.7,
        "nli": 0.3,
        "statements": 0.4,
        "swaps": 0.15,
        "claims": 0.6,
        "written claims": 1.0,
        "contrast claims": 0.8,
        "unrelated": 0.3,
        "surrounded": 0.3,
    },
    frozenset({Task.ENTAILMENT}),
)
"""What it learns from first: pairs of premise and hypothesis."""
NEAR_COPIES = TrainingStage(
    {
        **PAIRS.shares,
        "near copies": 6.0,
        "statements": 0.3,
        "swaps": 0.06,
        "claims": 0.5,
        "contrast claims": 1.0,
    },
    frozenset({Task.ENTAILMENT}),
)
"""What it learns from then: also claims nearly in a passage's words, which claims made false by a rule taught it to doubt."""
NEAR_COPY_SHARE = 300 / 950
"""The share of the steps that reads them."""


def train_entailment(data: Path, start: Path, out: Path, *, steps: int = ENTAILMENT_STEPS, seed: int = 0) -> None:
    """Train from a judge's checkpoint, or go on from the one in ``out``; leaves ``out/judge.pt`` and ``out/log.jsonl``."""
    last = round(steps * NEAR_COPY_SHARE)
    train_own_network(data, start, out, ((PAIRS, steps - last), (NEAR_COPIES, last)), seed=seed)
