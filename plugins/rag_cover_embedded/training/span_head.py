"""The head for answers' places fitted anew, when a network has learned from texts whose places are whole clauses.

The reader (`reader.py`) quotes spans, so it needs places as short as an answer. Texts written for the judge mark the words that
answer, often a clause, and draw the head to them. Only the head is fitted: no verdict changes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from rag_cover_embedded.inputs import Task, open_tokenizer
from rag_cover_embedded.training.examples import SOURCES
from rag_cover_embedded.training.network import WIDTH, JudgeNetwork
from rag_cover_embedded.training.splits import LEARNING, Part
from rag_cover_embedded.training.targets import Target, encode_targets

SHORT_PLACES = {"squad": 2_200, "qed": 700, "two_hop": 300}
"""Sources whose places are answers, and how many examples of each are drawn."""
EPOCHS, EVEN = 40, 0.5
_RATE = 2e-3
_BATCH = 128


def fit_span_head(network: JudgeNetwork, targets: Sequence[Target], *, epochs: int = EPOCHS, seed: int = 0) -> None:
    """Fit ``network.span`` on texts with the places of their answers, by cross-entropy of their first and last token."""
    vectors = _encode(network, targets)
    optimiser = torch.optim.Adam(network.span.parameters(), lr=_RATE, weight_decay=1e-5)
    rng, order = random.Random(seed), [*range(len(targets))]
    for epoch in range(epochs):
        rng.shuffle(order)
        optimiser.param_groups[0]["lr"] = _RATE * (1 - epoch / epochs)
        for begin in range(0, len(order), _BATCH):
            rows = order[begin : begin + _BATCH]
            texts = nn.utils.rnn.pad_sequence([vectors[row] for row in rows], batch_first=True)
            held = torch.arange(texts.shape[1])[None] < torch.tensor([len(vectors[row]) for row in rows])[:, None]
            logits = network.span(texts).masked_fill(~held[..., None], -1e4)
            places = [(targets[row].start, targets[row].end, targets[row].encoded.start) for row in rows]
            first, last = (torch.tensor([place[side] - place[2] for place in places]) for side in (0, 1))
            loss = nn.functional.cross_entropy(logits[..., 0], first) + nn.functional.cross_entropy(logits[..., 1], last)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def draw_short_places(data: Path, tokenizer: Path, part: Part = LEARNING, *, seed: int = 0) -> list[Target]:
    """Draw questions with texts that answer them from public data, encoded, each with the place of its answer."""
    rng = random.Random(seed)
    found: list[Target] = []
    for name, most in SHORT_PLACES.items():
        examples = [
            example
            for example in SOURCES[name](data, rng, part)
            if example.task is Task.ANSWERS
            and (example.label or 0) > EVEN
            and example.span is not None
            and example.span[0] >= 0
        ]
        found += encode_targets(open_tokenizer(tokenizer), rng.sample(examples, min(most, len(examples))))
    return [target for target in found if target.start >= target.encoded.start]


def _encode(network: JudgeNetwork, targets: Sequence[Target], size: int = 64) -> list[Tensor]:
    """Encode pairs, and keep each text's (tokens, 384) vectors."""
    network.eval()
    found: list[Tensor] = [torch.zeros(0, WIDTH)] * len(targets)
    order = sorted(range(len(targets)), key=lambda row: len(targets[row].encoded.ids))
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        longest = max(len(targets[row].encoded.ids) for row in rows)
        ids, mask, segments = (torch.zeros(len(rows), longest, dtype=torch.long) for _ in range(3))
        for place, row in enumerate(rows):
            encoded = targets[row].encoded
            ids[place, : len(encoded.ids)] = torch.tensor([*encoded.ids])
            mask[place, : len(encoded.ids)] = 1
            segments[place, encoded.start : len(encoded.ids)] = 1
        with torch.no_grad():
            vectors = network.token_vectors(ids, mask, segments)
        for place, row in enumerate(rows):
            encoded = targets[row].encoded
            found[row] = vectors[place, encoded.start : len(encoded.ids) - 1].clone()
    return found
