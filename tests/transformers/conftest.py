"""Tiny checkpoints of real architectures, made and saved here, so that the real loading code reads them by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

ABSENT = [package for package in ("torch", "transformers") if find_spec(package) is None]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Saved = Callable[[Any, Any], Path]


class _Absent(pytest.Module):
    """A test module that cannot be imported here."""

    def collect(self) -> NoReturn:
        pytest.skip(f"needs the extra 'transformers' ({', '.join(ABSENT)})", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return _Absent.from_parent(parent, path=module_path) if ABSENT else None


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Let tiny networks run on one thread: more cost more than they bring."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def corpus() -> list[str]:
    from rag_cover_transformers.canaries import CANARIES, QUESTIONS
    from rag_cover_transformers.nli_scorer import HYPOTHESIS
    from rag_cover_transformers.prompts import INSTRUCTION
    from rag_cover_transformers.templates import AGREES, ANSWERS, ENTAILS

    texts = [text for case in (*CANARIES, *QUESTIONS) for text in case]
    asked = [template.fill_in("", "", ("yes", "no")) for template in (AGREES, ANSWERS, ENTAILS)]
    framing = [f"{INSTRUCTION}\nContext: \nQuestion: \nAnswer:", "question: reference: document: ;"]
    return [*texts, *framing, HYPOTHESIS.format(question=""), *asked]


def _framed(backend: Any, single: str, pair: str, special: Sequence[str]) -> Any:
    from tokenizers import processors

    ids = [(token, backend.token_to_id(token)) for token in special]
    backend.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
    return backend


@pytest.fixture(scope="session")
def bert_tokenizer(corpus: list[str]) -> Any:
    """Make a WordPiece tokenizer that frames texts as BERT's does."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import BertTokenizer, PreTrainedTokenizerFast

    assert BertTokenizer is not None
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106  # no password
    backend.normalizer, backend.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=600, special_tokens=special, show_progress=False, initial_alphabet=list(LETTERS)
    )
    backend.train_from_iterator(corpus, trainer)
    _framed(backend, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",  # noqa: S106
        unk_token="[UNK]",  # noqa: S106
        cls_token="[CLS]",  # noqa: S106
        sep_token="[SEP]",  # noqa: S106
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


@pytest.fixture(scope="session")
def t5_tokenizer(corpus: list[str]) -> Any:
    """Make a Unigram tokenizer that ends texts as T5's does."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "</s>", "<unk>"],
        unk_token="<unk>",  # noqa: S106
        show_progress=False,
    )
    backend.train_from_iterator([*corpus, *LETTERS], trainer)
    _framed(backend, "$A </s>", "$A </s> $B </s>", ["</s>"])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<pad>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        model_max_length=96,
    )


@pytest.fixture(scope="session")
def llama_tokenizer(corpus: list[str]) -> Any:
    """Make a byte-level tokenizer that begins texts as Llama's does, with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    special = ["<s>", "</s>", "<|user|>", "<|assistant|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(corpus, trainer)
    _framed(backend, "<s> $A", "<s> $A $B", ["<s>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", model_max_length=512)  # noqa: S106
    tokenizer.chat_template = (
        "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}{% endfor %}<|assistant|>"
    )
    return tokenizer


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Save a network and its tokenizer into a folder of their own."""

    def save(network: Any, tokenizer: Any) -> Path:
        folder = tmp_path_factory.mktemp("checkpoint")
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return save


BERT = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}


@pytest.fixture(scope="session")
def llama_folder(llama_tokenizer: Any, saved: Saved) -> Path:
    """Return the folder of a tiny Llama with random weights that is not too sure of anything."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(llama_tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=llama_tokenizer.bos_token_id,
        eos_token_id=llama_tokenizer.eos_token_id,
        initializer_range=0.3,
    )
    return saved(LlamaForCausalLM(config), llama_tokenizer)


@pytest.fixture(scope="session")
def t5_folder(t5_tokenizer: Any, saved: Saved) -> Path:
    """Return the folder of a tiny T5 with random weights."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(t5_tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        pad_token_id=t5_tokenizer.pad_token_id,
        eos_token_id=t5_tokenizer.eos_token_id,
        decoder_start_token_id=t5_tokenizer.pad_token_id,
    )
    return saved(T5ForConditionalGeneration(config), t5_tokenizer)


@pytest.fixture(scope="session")
def bert_folder(bert_tokenizer: Any, saved: Saved) -> Path:
    """Return the folder of a tiny BERT encoder with random weights."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    return saved(BertModel(BertConfig(vocab_size=len(bert_tokenizer), **BERT)), bert_tokenizer)
