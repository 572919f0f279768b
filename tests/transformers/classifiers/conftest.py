"""Tiny classifiers, and models that write, that have learnt the plain cases they are opened with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Folder = Callable[[str], Path]
NliFolder = Callable[..., Path]
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
TWO_NAMES = ("entailment", "not_entailment")
BART = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 128,
    "dropout": 0.0,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
T5 = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 4,
    "dropout_rate": 0.0,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
QUIET = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


KINDS = ("bert", "roberta", "deberta", "bart")
WRITERS = ("t5", "bart")


@pytest.fixture(scope="session")
def roberta_tokenizer(corpus: list[str]) -> Any:
    """Make a byte-level tokenizer that frames texts as RoBERTa's and BART's do."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator([*corpus, *["yes", "no"] * 3], trainer)
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>",  # noqa: S106  # no password
        eos_token="</s>",  # noqa: S106
        pad_token="<pad>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        model_max_length=128,
        model_input_names=["input_ids", "attention_mask"],
    )


@pytest.fixture(scope="session")
def writing_tokenizer(corpus: list[str], roberta_tokenizer: Any) -> Callable[[str], Any]:
    """Return the tokenizer of a writing ``t5`` or ``bart``; T5's reads a line's end as a space, as the real one does."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.Unigram())
    backend.normalizer = normalizers.Replace("\n", " ")
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=600,
        special_tokens=special,
        unk_token="<unk>",  # noqa: S106
        show_progress=False,
    )
    backend.train_from_iterator([*corpus * 2, *["yes", "no", "true", "none"] * 9, *LETTERS], trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    t5 = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<pad>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        model_max_length=128,
        model_input_names=["input_ids", "attention_mask"],
    )
    return {"t5": t5, "bart": roberta_tokenizer}.__getitem__


@pytest.fixture(scope="session")
def nli_folder(bert_tokenizer: Any, roberta_tokenizer: Any, saved: Saved) -> NliFolder:
    """Return the folder of a tiny classifier that knows the canaries and the statements made of questions.

    Of three classes in MNLI's odd order, or of two; ``kind`` is one of ``KINDS``.
    """
    made: dict[tuple[str, int], Path] = {}

    def make(kind: str, classes: int = 3) -> Path:
        if (kind, classes) not in made:
            tokenizer = bert_tokenizer if kind in ("bert", "deberta") else roberta_tokenizer
            made[kind, classes] = saved(_nli(kind, tokenizer, NAMES if classes == 3 else TWO_NAMES), tokenizer)
        return made[kind, classes]

    return make


def _nli(kind: str, tokenizer: Any, names: Sequence[str]) -> Any:
    import torch

    from rag_cover_transformers.canaries import CANARIES, QUESTIONS
    from rag_cover_transformers.nli_scorer import HYPOTHESIS

    torch.manual_seed(0)
    labels = {"id2label": dict(enumerate(names)), "label2id": {name: place for place, name in enumerate(names)}}
    network = _classifier(kind, tokenizer, labels)
    cases = [
        *CANARIES,
        *((right, HYPOTHESIS.format(question=question), "entailment") for question, right, _ in QUESTIONS),
        *((wrong, HYPOTHESIS.format(question=question), "neutral") for question, _, wrong in QUESTIONS),
    ]
    pairs = [(premise, hypothesis) for premise, hypothesis, _ in cases]
    wanted = [label if label in names else "not_entailment" for *_, label in cases]
    return _trained(network, tokenizer, pairs, [names.index(label) for label in wanted])


def _classifier(kind: str, tokenizer: Any, labels: Any) -> Any:
    from transformers import (
        BartConfig,
        BartForSequenceClassification,
        BertConfig,
        BertForSequenceClassification,
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
        RobertaConfig,
        RobertaForSequenceClassification,
    )

    size = {"vocab_size": len(tokenizer)}
    match kind:
        case "bert":
            return BertForSequenceClassification(BertConfig(**size, **BERT, **QUIET, **labels))
        case "deberta":
            return DebertaV2ForSequenceClassification(DebertaV2Config(**size, **DEBERTA, **QUIET, **labels))
        case "roberta":
            longer = BERT | {"max_position_embeddings": 130, "type_vocab_size": 1}
            return RobertaForSequenceClassification(RobertaConfig(**size, **longer, **QUIET, **labels))
        case _:
            return BartForSequenceClassification(BartConfig(**size, **BART, **labels))


@pytest.fixture(scope="session")
def writing_folder(writing_tokenizer: Callable[[str], Any], saved: Saved) -> Folder:
    """Return the folder of a tiny ``t5`` or ``bart`` that writes yes or no to the plain cases."""
    made: dict[str, Path] = {}

    def make(kind: str) -> Path:
        if kind not in made:
            made[kind] = saved(_writing(kind, writing_tokenizer(kind)), writing_tokenizer(kind))
        return made[kind]

    return make


def _writing(kind: str, tokenizer: Any) -> Any:
    import torch
    from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    network: Any = (
        T5ForConditionalGeneration(T5Config(vocab_size=len(tokenizer), **T5))
        if kind == "t5"
        else BartForConditionalGeneration(BartConfig(vocab_size=len(tokenizer), **BART))
    )
    written = _written()
    batch = tokenizer([prompt for prompt, _ in written], padding=True, return_tensors="pt")
    answers = tokenizer(["yes" if yes else "no" for _, yes in written], padding=True, return_tensors="pt").input_ids
    answers[answers == tokenizer.pad_token_id] = -100
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for _ in range(800):
        loss = network(**batch, labels=answers).loss
        if loss.item() < 0.02:
            return network.eval()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    message = "the tiny network did not learn to answer"
    raise AssertionError(message)


def _written() -> list[tuple[str, bool]]:
    """Write the prompts that it learns, and whether yes is right."""
    from rag_cover_transformers.canaries import CANARIES, QUESTIONS
    from rag_cover_transformers.templates import ANSWERS, ENTAILS

    words = ("yes", "no")
    followed = [(ENTAILS.fill_in(a, b, words), label == "entailment") for a, b, label in CANARIES]
    answered = [(ANSWERS.fill_in(q, text, words), text == texts[0]) for q, *texts in QUESTIONS for text in texts]
    return followed + answered


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
