"""A network of its own for replies, and answers against references: a trained judge that goes on with these alone.

What the judge's network learned of replies in other words cost it verdicts on passages of one subject, most of which answer
something else (RUNS.md, runs 13 and 15), so replies have a network to themselves. Every text is read by one of the networks, so
this takes no more time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.examples import TrainingStage
from rag_cover_embedded.training.own_network import train_own_network
from rag_cover_embedded.training.schedule import REPLY_STEPS

if TYPE_CHECKING:
    from pathlib import Path

REPLIES = TrainingStage(
    {
        "near questions": 0.8,
        "crossed": 0.35,
        "cases": 0.8,
        "near cases": 0.4,
        "contrast": 0.8,
        "plain": 0.8,
        "abstentions": 0.7,
        "unrelated": 0.5,
        "answers": 0.12,
        "verdicts": 0.4,
        "ratings": 0.4,
        "similar": 0.4,
        "agreement": 0.25,
        "written": 0.3,
        "written agreement": 0.7,
        "contrast agreement": 0.8,
        "surrounded": 0.3,
    },
    frozenset({Task.REPLIES, Task.CORRECT}),
)
"""What it learns from."""
_RATE = 4e-5


def train_replies(data: Path, start: Path, out: Path, *, steps: int = REPLY_STEPS, seed: int = 0) -> None:
    """Train from a judge's checkpoint, or go on from the one in ``out``; leaves ``out/judge.pt`` and ``out/log.jsonl``."""
    train_own_network(data, start, out, ((REPLIES, steps),), seed=seed, rate=_RATE)
