"""Tiny classifiers that have learnt the plain cases they are opened with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Folder = Callable[[str], Path]
Saved = Callable[[Any, Any], Path]

BERT = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
DEBERTA = BERT | {
    "relative_attention": True,
    "position_buckets": 16,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "type_vocab_size": 0,
    "position_biased_input": False,
}
NAMES = ("contradiction", "neutral", "entailment")
QUIET = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@pytest.fixture(scope="session")
def nli_folder(bert_tokenizer: Any, saved: Saved) -> Folder:
    """Return the folder of a tiny ``bert`` or ``deberta`` that knows the canaries, its labels named and in MNLI's odd order."""
    made: dict[str, Path] = {}

    def make(kind: str) -> Path:
        if kind not in made:
            made[kind] = saved(_nli(kind, bert_tokenizer), bert_tokenizer)
        return made[kind]

    return make


def _nli(kind: str, tokenizer: Any) -> Any:
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
    )

    from rag_cover_transformers.canaries import CANARIES

    torch.manual_seed(0)
    labels = {"id2label": dict(enumerate(NAMES)), "label2id": {name: place for place, name in enumerate(NAMES)}}
    network: Any = (
        BertForSequenceClassification(BertConfig(vocab_size=len(tokenizer), **BERT, **QUIET, **labels))
        if kind == "bert"
        else DebertaV2ForSequenceClassification(DebertaV2Config(vocab_size=len(tokenizer), **DEBERTA, **QUIET, **labels))
    )
    pairs = [(premise, hypothesis) for premise, hypothesis, _ in CANARIES]
    return _trained(network, tokenizer, pairs, [NAMES.index(label) for _, _, label in CANARIES])


@pytest.fixture(scope="session")
def qnli_folder(bert_tokenizer: Any, saved: Saved) -> Callable[[int], Path]:
    """Return the folder of a tiny cross-encoder of one or two outputs that knows which texts answer; QNLI's label order."""
    made: dict[int, Path] = {}

    def make(outputs: int) -> Path:
        import torch
        from transformers import BertConfig, BertForSequenceClassification

        from rag_cover_transformers.canaries import QUESTIONS

        if outputs not in made:
            torch.manual_seed(0)
            labels = {"id2label": {0: "entailment", 1: "not_entailment"}} if outputs == 2 else {"num_labels": 1}
            network = BertForSequenceClassification(BertConfig(vocab_size=len(bert_tokenizer), **BERT, **QUIET, **labels))
            pairs = [(question, text) for question, *texts in QUESTIONS for text in texts]
            right = [1, 0] if outputs == 1 else [0, 1]
            made[outputs] = saved(_trained(network, bert_tokenizer, pairs, right * len(QUESTIONS)), bert_tokenizer)
        return made[outputs]

    return make


def _trained(network: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]], labels: Sequence[int]) -> Any:
    """Teach a classifier these pairs by heart."""
    import torch

    batch = tokenizer([a for a, _ in pairs], [b for _, b in pairs], padding=True, return_tensors="pt")
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)
    wanted = torch.tensor(labels)
    for _ in range(500):
        logits = network(**batch).logits
        flat = logits.shape[1] == 1
        loss = (
            torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], wanted.float())
            if flat
            else torch.nn.functional.cross_entropy(logits, wanted)
        )
        if loss.item() < 0.05:
            return network.eval()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    message = "the tiny network did not learn its cases"
    raise AssertionError(message)
