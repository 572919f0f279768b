"""The training loop: both heads at once, checked on validation examples, stopped when those no longer gain.

``loss = BCE(correctness) + share · CE(relevance)``, the second over the examples that name relevant words. Each step's order of
examples and dropout depend on the seed and the step alone, so that a run that goes on from its checkpoint ends with the
weights of one that was never interrupted.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from rag_cover.errors import InvalidValueError
from rag_cover_transformers.batches import by_length, pad_rows
from rag_cover_transformers.checkpoints import find_checkpoint
from rag_cover_transformers.devices import Placement, choose_placement
from rag_cover_transformers.encodings import TextEncoder, longest_input
from rag_cover_transformers.geneval.folder import FittedHeads, backbone_of, save_model
from rag_cover_transformers.geneval.layout import InputLayout
from rag_cover_transformers.geneval.network import GenEvalNetwork, HeadOutputs
from rag_cover_transformers.training.checkpointing import TrainingProgress, restore_progress, store
from rag_cover_transformers.training.examples import EncodedExample, encode_examples, read_examples
from rag_cover_transformers.training.validating import fit_on, validation_auc

__all__ = ["Plan", "train_checkpoint"]

Report = Callable[[Mapping[str, float]], None]

_DEFAULT_LENGTH = 512


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train. The rate rises over ``warmup`` steps (a tenth of all at most) and then falls to 0 at the last.

    ``reading`` None is the decoder where the base has one, else the first token. After ``patience`` checks, one every
    ``check_every`` steps, without a better AUROC on the validation examples the run ends.
    """

    reading: HeadOutputs | None = None
    steps: int = 2000
    learning_rate: float = 1e-4
    warmup: int = 100
    batch_tokens: int = 8192
    relevance_share: float = 0.5
    check_every: int = 100
    patience: int = 5
    max_tokens: int = _DEFAULT_LENGTH
    seed: int = 0

    def rate(self, step: int) -> float:
        """Return the learning rate at a step.

        >>> [Plan(steps=1000, learning_rate=1.0, warmup=100).rate(step) for step in (49, 100, 550)]
        [0.5, 1.0, 0.5]
        """
        warmup = min(self.warmup, self.steps // 10)
        rising, falling = (step + 1) / max(1, warmup), (self.steps - step) / max(1, self.steps - warmup)
        return self.learning_rate * min(rising, falling, 1)


def train_checkpoint(
    base: str, data: Path, validation: Path, out: Path, plan: Plan, *, device: str = "auto", report: Report
) -> Path:
    """Train a GenEval model from a T5 or BERT checkpoint, or go on from the state in ``out``; return the model's folder."""
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = find_checkpoint(base)
    config, tokenizer = checkpoint.config(), checkpoint.tokenizer()
    placement = choose_placement(device, "float32", plan.batch_tokens)
    reading = plan.reading or ("decoder" if config.is_encoder_decoder else "first")
    if reading == "decoder" and not config.is_encoder_decoder:
        message = f"{base!r} has no decoder to read; reading is 'first' or 'mean'"
        raise InvalidValueError(message)
    encoder = TextEncoder(tokenizer, longest_input(tokenizer, config, plan.max_tokens))
    layout = InputLayout(encoder)
    targets, held = (encode_examples(layout, path, read_examples(path)) for path in (data, validation))
    with torch.random.fork_rng(enabled=True):
        torch.manual_seed(plan.seed)
        network = GenEvalNetwork(backbone_of(checkpoint, reading, placement).requires_grad_(requires_grad=True), reading)
        network.to(placement.device)
        run = _run_of(plan, reading, checkpoint.fingerprint(), data, validation)
        _Run(network, placement, encoder.pad, plan, out, run, report).go(targets, held)
    fitted = fit_on(network, held, placement, encoder.pad, FittedHeads(reading, encoder.max_tokens))
    save_model(network, tokenizer, fitted, out / "model")
    return out / "model"


@dataclass(slots=True)
class _Run:
    """One run of the loop; leaves the network with the best weights."""

    network: GenEvalNetwork
    placement: Placement
    pad: int
    plan: Plan
    out: Path
    name: str
    report: Report

    def go(self, targets: Sequence[EncodedExample], held: Sequence[EncodedExample]) -> None:
        optimiser = torch.optim.AdamW(self.network.parameters(), lr=self.plan.learning_rate, weight_decay=0.01)
        state, best = self.out / "state.safetensors", self.out / "best.safetensors"
        progress = restore_progress(state, self.network, optimiser, run=self.name)
        batches = _endless(targets, self.plan, skip=progress.step)
        while progress.step < self.plan.steps and progress.checks_without_gain < self.plan.patience:
            losses = self._step(optimiser, next(batches), progress.step)
            progress.step += 1
            if progress.step % self.plan.check_every == 0 or progress.step == self.plan.steps:
                area = validation_auc(self.network, held, self.placement, self.pad)
                self._note(progress, area)
                if progress.checks_without_gain == 0:
                    store(best, self.network, optimiser, progress, run=self.name)
                store(state, self.network, optimiser, progress, run=self.name)
                self.report({"step": progress.step, "auroc": area, **losses})
        restore_progress(best, self.network, optimiser, run=self.name)

    @staticmethod
    def _note(progress: TrainingProgress, area: float) -> None:
        gained = area > progress.best
        progress.checks_without_gain = 0 if gained else progress.checks_without_gain + 1
        if gained:
            progress.best, progress.best_step = area, progress.step

    def _step(self, optimiser: torch.optim.Optimizer, batch: Sequence[EncodedExample], step: int) -> dict[str, float]:
        for group in optimiser.param_groups:
            group["lr"] = self.plan.rate(step)
        torch.manual_seed(self.plan.seed * 1_000_003 + step)  # dropout's
        self.network.train()
        with torch.autocast(self.placement.device.type, torch.bfloat16, enabled=self.placement.device.type == "cuda"):
            losses = losses_of(self.network, batch, self.placement, self.pad)
        total = losses["correctness"] + self.plan.relevance_share * losses["relevance"]
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return {name: float(value.detach()) for name, value in losses.items()}


def losses_of(network: GenEvalNetwork, batch: Sequence[EncodedExample], placement: Placement, pad: int) -> dict[str, Tensor]:
    """Compute each head's mean loss over its examples of the batch."""
    inputs = pad_rows([target.laid.encoded for target in batch], pad=pad, device=placement.device)
    logits, relevance = network(inputs["input_ids"], inputs["attention_mask"])
    correct = torch.tensor([target.correct for target in batch], device=placement.device)
    losses = {"correctness": functional.binary_cross_entropy_with_logits(logits, correct), "relevance": logits.new_zeros(())}
    named = [(row, target.laid.question, target.relevant) for row, target in enumerate(batch) if target.relevant is not None]
    if named:
        each = [
            functional.cross_entropy(relevance[row, question], torch.from_numpy(shares).to(placement.device))
            for row, question, shares in named
        ]
        losses["relevance"] = torch.stack(each).mean()
    return losses


def _endless(targets: Sequence[EncodedExample], plan: Plan, *, skip: int) -> Iterator[list[EncodedExample]]:
    """Yield batches of similar lengths for ever, shuffled anew each pass; ``skip`` batches are passed over."""
    rng = random.Random(plan.seed)
    while True:
        lengths = [max(1, round(len(target.laid.encoded) * rng.uniform(0.85, 1.15))) for target in targets]
        groups = by_length(lengths, tokens=plan.batch_tokens)
        rng.shuffle(groups)
        for group in groups:
            if skip:
                skip -= 1
            else:
                yield [targets[row] for row in group]


def _run_of(plan: Plan, reading: str, base: str, *files: Path) -> str:
    """Name a run by its settings, its base and its data."""
    digest = hashlib.sha256(json.dumps([asdict(plan), reading, base]).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
