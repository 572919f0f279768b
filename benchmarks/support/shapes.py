"""Networks of well-known shapes with random weights: what they cost is their shape's, what they say is nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

import rag_cover_embedded
from rag_cover_transformers.devices import Placement

Shape = Callable[[], Any]


def tokenizer() -> Any:
    """Open BERT's vocabulary, which ships with the embedded judge."""
    path = f"{rag_cover_embedded.__path__[0]}/weights/tokenizer.json"
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_file=path, model_max_length=512, **names)


def minilm() -> Any:
    """Make a classifier of three, shaped as all-MiniLM-L6: 6 layers, 384 wide."""
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    return BertForSequenceClassification(BertConfig(num_labels=3, **sizes))


def deberta_xlarge() -> Any:
    """Make a classifier of three, shaped as DeBERTa-v2-xlarge: 24 layers, 1,536 wide."""
    sizes = {"hidden_size": 1536, "num_hidden_layers": 24, "num_attention_heads": 24, "intermediate_size": 6144}
    attention = {
        "relative_attention": True,
        "position_buckets": 256,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "type_vocab_size": 0,
    }
    return DebertaV2ForSequenceClassification(DebertaV2Config(num_labels=3, conv_kernel_size=3, **sizes, **attention))


def small_llama() -> Any:
    """Make a causal model, shaped as Llama at 8 layers, 512 wide."""
    sizes = {"hidden_size": 512, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=30_522, intermediate_size=1408, max_position_embeddings=4096, **sizes))


CLASSIFIERS: dict[str, Shape] = {"minilm": minilm, "deberta-xlarge": deberta_xlarge}


def at(placement: Placement, shape: Shape, *, seed: int) -> Any:
    """Make a network of a shape, where and how it shall run."""
    torch.manual_seed(seed)
    return shape().to(placement.device, placement.dtype).eval().requires_grad_(requires_grad=False)


def timed(call: Callable[[], object]) -> float:
    """Return how many seconds a call takes, a GPU's work included."""
    began = time.perf_counter()
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - began


def peak_flops(placement: Placement) -> float:
    """Measure the multiply-adds a second (as two operations each) of one large matrix product, the best of twenty."""
    size = 8192 if placement.device.type == "cuda" else 2048
    left, right = (torch.randn(size, size, device=placement.device).to(placement.dtype) for _ in range(2))
    return 2 * size**3 / min(timed(lambda: left @ right) for _ in range(20))
