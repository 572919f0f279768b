"""The training loop: multi-task batches of about as many tokens each, with distillation that keeps the text mode."""

from __future__ import annotations

import json
import random
import time
from dataclasses import asdict
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import BertModel

from rag_cover_embedded.inputs import PAD, Encoded, Task, encode_texts, open_tokenizer
from rag_cover_embedded.training.example import NOT_ENTAILED
from rag_cover_embedded.training.examples import STAGES, plain_texts
from rag_cover_embedded.training.network import JudgeNetwork, find_pretrained_folder, mean_pooled
from rag_cover_embedded.training.restoring import restore_weights
from rag_cover_embedded.training.schedule import CYCLES, Schedule
from rag_cover_embedded.training.targets import NO_TARGET, Target, encode_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tokenizers import Tokenizer

    from rag_cover_embedded.training.example import Example


T = TypeVar("T", Target, Encoded)
STAGE_SEED = 1_000
"""Added to the seed for each stage, so that it draws other samples."""


def train_judge(
    data: Path,
    out: Path,
    schedule: Schedule,
    *,
    packed: Path | None = None,
    start: Path | None = None,
    passes: Sequence[Callable[[int], Sequence[Example]]] | None = None,
) -> None:
    """Train the judge, or go on from the checkpoint in ``out``; leaves ``out/judge.pt`` and ``out/log.jsonl``.

    With ``packed``, a ``judge.onnx``, and no checkpoint yet, the stages of the last cycle alone are trained, from those
    weights. ``start`` is another run's ``judge.pt``, whose weights to start from. ``passes`` build a pass of examples of each
    stage by a seed; without them `STAGES` do. Without text tokens the text mode is not trained.
    """
    torch.manual_seed(schedule.seed)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = open_tokenizer(find_pretrained_folder() / "tokenizer.json")
    kept = plain_texts(data, seed=schedule.seed) if schedule.text_tokens else []
    texts = encode_texts(tokenizer, kept, max_tokens=128)
    begun = (out / "judge.pt").exists()
    network = JudgeNetwork.from_pretrained()
    if packed is not None and not begun:
        restore_weights(network, packed)
    if start is not None and not begun:
        network.load_state_dict(torch.load(start, weights_only=True)["network"])
    teacher = BertModel.from_pretrained(find_pretrained_folder(), add_pooling_layer=False).eval()
    optimiser = torch.optim.AdamW(_groups(network), lr=schedule.learning_rates[0], betas=(0.9, 0.98))
    first = _resume(out, network, optimiser) if begun else sum(schedule.steps[: CYCLES[-1].start]) if packed else 0
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network.to(device), teacher.to(device)

    readers = passes or [partial(stage.draw, data) for stage in STAGES]

    def stages() -> Iterator[list[Target]]:
        done = 0
        for number, (read, steps) in enumerate(zip(readers, schedule.steps, strict=True)):
            if first < done + steps:
                seed, skip = schedule.seed + number * STAGE_SEED, max(0, first - done)
                yield from islice(
                    _endless(partial(_encode_pass, tokenizer, read), schedule.batch_tokens, seed=seed, skip=skip),
                    steps - skip,
                )
            done += steps

    batches = stages()
    text_batches = _endless(lambda _: texts, schedule.text_tokens, seed=schedule.seed + 1, skip=first)
    began = time.monotonic()
    with (out / "log.jsonl").open("a") as log:
        log.write(json.dumps({"schedule": asdict(schedule), "from": first}) + "\n")
        for step in range(first, sum(schedule.steps)):
            for group in optimiser.param_groups:
                group["lr"] = schedule.rate(step)
            with torch.autocast(device.type, torch.bfloat16, enabled=computes_bfloat16(device)):
                network.train()
                losses = judging_losses(network, next(batches), device)
                network.eval()  # no dropout: the teacher has none either
                if schedule.text_tokens:
                    losses |= text_losses(network, teacher, next(text_batches), device)
            sum(losses.values()).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            seconds = round(time.monotonic() - began, 1)
            log.write(json.dumps({"step": step, "s": seconds} | {k: round(v.item(), 4) for k, v in losses.items()}) + "\n")
            log.flush()
            if (step + 1) % schedule.checkpoint_every == 0 or step + 1 == sum(schedule.steps):
                _save(out, network, optimiser, step + 1)


def _encode_pass(tokenizer: Tokenizer, read: Callable[[int], Sequence[Example]], seed: int) -> list[Target]:
    return encode_targets(tokenizer, read(seed))


def computes_bfloat16(device: torch.device) -> bool:
    """Tell whether a device computes in bfloat16; a CPU that only imitates it is some fifteen times as slow as in fp32."""
    if device.type != "cpu":
        return True
    found: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # absent from older versions
    return bool(found.get("avx512_bf16") or found.get("amx_bf16"))


def judging_losses(network: JudgeNetwork, batch: Sequence[Target], device: torch.device) -> dict[str, Tensor]:
    """Compute each head's mean loss over its examples of the batch, weighted by their share of it."""
    ids, mask, segments = pad_batch([target.encoded for target in batch], device)
    vectors = network.token_vectors(ids, mask, segments)
    losses = {}
    rows = {task: [i for i, target in enumerate(batch) if target.task is task] for task in Task}
    lead = vectors[:, 0].float()
    if chosen := rows[Task.ENTAILMENT]:
        labels = torch.tensor([int(batch[i].label or 0) for i in chosen], device=device)
        loss = _entailment_loss(network.entailment(lead[chosen]).float(), labels)
        losses["entailment"] = loss * len(chosen) / len(batch)
    if chosen := rows[Task.ANSWERS]:
        losses["answers"] = _binary_loss(network.answers(lead[chosen]), [batch[i] for i in chosen]) * len(chosen) / len(batch)
    if chosen := [i for i in rows[Task.REPLIES] if batch[i].label is not None]:
        losses["replies"] = _binary_loss(network.replies(lead[chosen]), [batch[i] for i in chosen]) * len(chosen) / len(batch)
    if chosen := [i for i in rows[Task.REPLIES] if batch[i].abstains != NO_TARGET]:
        labels = torch.tensor([batch[i].abstains for i in chosen], device=device)
        loss = functional.cross_entropy(network.abstention(lead[chosen]).float(), labels)
        losses["abstention"] = 0.5 * loss * len(chosen) / len(batch)
    if chosen := rows[Task.CORRECT]:
        features = torch.tensor([batch[i].encoded.features for i in chosen], device=device)
        logits = network.correct(torch.cat([lead[chosen], features], dim=-1))
        losses["correct"] = _binary_loss(logits, [batch[i] for i in chosen]) * len(chosen) / len(batch)
    placed = [i for i, target in enumerate(batch) if target.start != NO_TARGET]
    if placed:
        logits = network.span_logits(vectors[placed], mask[placed], segments[placed])
        ends = torch.tensor([[batch[i].start, batch[i].end] for i in placed], device=device)
        losses["span"] = 0.3 * functional.cross_entropy(logits, ends) * len(placed) / len(batch)
    if known := [(i, 1 + j, label) for i, target in enumerate(batch) for j, label in enumerate(target.touched) if label >= 0]:
        where = torch.tensor([(i, j) for i, j, _ in known], device=device)
        logits = network.relevance(vectors[where[:, 0], where[:, 1]])
        share = len({i for i, _, _ in known}) / len(batch)
        labels = torch.tensor([float(label) for _, _, label in known], device=device)
        losses["relevance"] = 0.3 * functional.binary_cross_entropy_with_logits(logits.float()[:, 0], labels) * share
    return losses


def _binary_loss(logits: Tensor, targets: Sequence[Target]) -> Tensor:
    """Take the cross-entropy with labels in [0, 1], each target weighing as it says."""
    labels = torch.tensor([target.label for target in targets], device=logits.device)
    weights = torch.tensor([target.weight for target in targets], device=logits.device)
    return functional.binary_cross_entropy_with_logits(logits.float()[:, 0], labels, weights)


def _entailment_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Take -log P(label), where *not entailed* is the sum of the other two classes."""
    logs = functional.log_softmax(logits, dim=-1)
    either = torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)
    return -torch.cat([logs, either], dim=-1).gather(1, labels.clamp(max=NOT_ENTAILED)[:, None]).mean()


def text_losses(network: JudgeNetwork, teacher: BertModel, batch: Sequence[Encoded], device: torch.device) -> dict[str, Tensor]:
    """Hold sentence embeddings and token vectors to the original encoder's."""
    ids, mask, segments = pad_batch(batch, device)
    with torch.no_grad():
        wanted = teacher(input_ids=ids, attention_mask=mask, token_type_ids=segments).last_hidden_state.float()
    vectors = network.token_vectors(ids, mask, segments).float()
    pooled = (1 - (mean_pooled(vectors, mask) * mean_pooled(wanted, mask)).sum(-1)).mean()
    tokens = (1 - functional.cosine_similarity(vectors, wanted, dim=-1))[mask == 1].mean()
    return {"pooled": 8 * pooled, "tokens": 2 * tokens}


def pad_batch(batch: Sequence[Encoded], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Stack encodings into (batch, tokens) ids, mask and segments."""
    width = max(map(len, batch))
    ids, mask, segments = (np.full((len(batch), width), fill) for fill in (PAD, 0, 0))
    for row, encoded in enumerate(batch):
        ids[row, : len(encoded)], mask[row, : len(encoded)], segments[row, : len(encoded)] = encoded.ids, 1, encoded.segments
    return tuple(torch.from_numpy(array).to(device) for array in (ids, mask, segments))


def _endless(made: Callable[[int], Sequence[T]], tokens: int, *, seed: int, skip: int) -> Iterator[list[T]]:
    """Yield batches for ever, of similar lengths within a batch; ``skip`` batches are passed over.

    Each pass asks for its items by a seed of its own, so that samples, windows and aliases are drawn anew.
    """
    rng = random.Random(seed)
    for number in count(seed):
        keyed = sorted(made(number), key=lambda item: _length(item) * rng.uniform(0.94, 1.06))
        batches: list[list[T]] = [[]]
        widest = 0
        for item in keyed:
            widest = max(widest, _length(item))
            if batches[-1] and widest * (len(batches[-1]) + 1) > tokens:
                batches.append([])
                widest = _length(item)
            batches[-1].append(item)
        rng.shuffle(batches)
        for batch in batches:
            if skip:
                skip -= 1
            else:
                yield batch


def _length(item: Target | Encoded) -> int:
    return len(item if isinstance(item, Encoded) else item.encoded)


def _groups(network: JudgeNetwork) -> list[dict[str, object]]:
    trained = [(name, p) for name, p in network.named_parameters() if p.requires_grad]
    still = [p for name, p in trained if p.ndim < 2]  # biases and layer norms do not decay
    decayed = [p for name, p in trained if p.ndim >= 2]
    return [{"params": decayed, "weight_decay": 0.01}, {"params": still, "weight_decay": 0.0}]


def _save(out: Path, network: JudgeNetwork, optimiser: torch.optim.Optimizer, step: int) -> None:
    part = out / "judge.pt.part"
    torch.save({"network": network.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, part)
    part.replace(out / "judge.pt")


def _resume(out: Path, network: JudgeNetwork, optimiser: torch.optim.Optimizer) -> int:
    saved = torch.load(out / "judge.pt", weights_only=True)
    network.load_state_dict(saved["network"])
    optimiser.load_state_dict(saved["optimiser"])
    return int(saved["step"])
