"""A model that writes (T5, BART and their kin) as a classifier of two classes: the first token of its answer, yes or no.

It is asked a question of `templates`, and the decoder is run for one step: the logits of the two words' first tokens are the
logits of two classes. Nothing is sampled and no text is written, so the same pair always gets the same verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModelForSeq2SeqLM

from rag_cover.errors import InvalidValueError
from rag_cover_transformers.batches import Runner
from rag_cover_transformers.checkpoints import Checkpoint
from rag_cover_transformers.classifiers import join_texts
from rag_cover_transformers.devices import choose_placement
from rag_cover_transformers.encodings import NetworkInput, TextEncoder, longest_input
from rag_cover_transformers.errors import WordsError, WrongKindError
from rag_cover_transformers.labels import TWO_CLASSES
from rag_cover_transformers.model_source import Source
from rag_cover_transformers.templates import WORDING, Template, TemplateEncoder

__all__ = ["WORDS", "Seq2SeqClassifier", "Seq2SeqModel", "check_words", "is_seq2seq", "read_seq2seq"]

WORDS = ("yes", "no")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Seq2SeqModel:
    """An encoder-decoder with its tokenizer; ``start`` is what its decoder reads before the first token of an answer."""

    name: str
    fingerprint: str
    encoder: TextEncoder
    runner: Runner
    start: tuple[int, ...]
    unknown: int | None

    def classifier(self, template: Template, words: Sequence[str] | None = None) -> Seq2SeqClassifier:
        """Ask it the question of a template.

        Raises:
            WordsError: the two words begin with the same token, or with one that the model does not know.
        """
        pair = check_words(words)
        return Seq2SeqClassifier(self, TemplateEncoder(self.encoder, template, pair), pair, self._tokens(pair))

    def _tokens(self, words: tuple[str, str]) -> tuple[int, int]:
        first, second = (self._first_token(word, words) for word in words)
        if first == second:
            problem = "both begin with the same token, and only the first one is read"
            raise WordsError(self.name, words, problem)
        return first, second

    def _first_token(self, word: str, words: tuple[str, str]) -> int:
        (text,) = self.encoder.tokenise([word])
        if not len(text.ids) or text.ids[0] == self.unknown:
            problem = f"its vocabulary has no token that begins {word!r}"
            raise WordsError(self.name, words, problem)
        return int(text.ids[0])


@dataclass(frozen=True, slots=True)
class Seq2SeqClassifier:
    """A `PairClassifier` of two classes, in the order of its words: the first says entailment."""

    model: Seq2SeqModel
    encoder: TemplateEncoder
    words: tuple[str, str]
    tokens: tuple[int, int]

    @property
    def name(self) -> str:
        """Return the name that the checkpoint was asked for by."""
        return self.model.name

    @property
    def fingerprint(self) -> str:
        """Name the weights, the wording of the questions and the words of the answer."""
        return f"{self.model.fingerprint}:prompt-{WORDING}:{'/'.join(self.words)}"

    @property
    def id2label(self) -> dict[int, str]:
        """Return what each word stands for."""
        return dict(enumerate(TWO_CLASSES))

    def logits(self, rows: Sequence[NetworkInput]) -> NDArray[np.float32]:
        """Return the (rows, 2) logits of the two words."""
        found = self.model.runner.run(rows, self._first_step)
        return np.array(found, dtype=np.float32).reshape(len(rows), len(self.words))

    def logits_of_texts(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the logits of short pairs, which are not windowed."""
        return self.logits(join_texts(self.encoder, pairs))

    def _first_step(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        ids = batch["input_ids"]
        started = torch.tensor(self.model.start, device=ids.device).expand(len(ids), -1)
        found = network(
            input_ids=ids, attention_mask=batch["attention_mask"], decoder_input_ids=started, use_cache=False, return_dict=True
        )
        logits: Tensor = found.logits[:, -1, list(self.tokens)]
        return logits


def check_words(words: Sequence[str] | None) -> tuple[str, str]:
    """Return the two words of an answer, yes and no unless given.

    >>> check_words(None), check_words(["true", "false"])
    (('yes', 'no'), ('true', 'false'))

    Raises:
        InvalidValueError: not two words.
    """
    given = WORDS if words is None else words
    if isinstance(given, str) or len(given) != len(WORDS) or not all(isinstance(word, str) and word.strip() for word in given):
        message = f"words are two, first the one that agrees, such as words=('yes', 'no'): not {words!r}"
        raise InvalidValueError(message)
    return given[0], given[1]


def is_seq2seq(config: Any) -> bool:
    """Return whether a model writes, and is no sequence classifier of the same architecture, such as BART's."""
    named = config.architectures or ()
    return bool(config.is_encoder_decoder) and not any(name.endswith("ForSequenceClassification") for name in named)


def read_seq2seq(checkpoint: Checkpoint, source: Source) -> Seq2SeqModel:
    """Read an encoder-decoder that was trained to write."""
    config, tokenizer = checkpoint.config(), checkpoint.tokenizer()
    placement = choose_placement(source.device, source.precision, source.batch_tokens, model_type=config.model_type)
    longest = longest_input(tokenizer, config, source.max_tokens)
    network = checkpoint.network(AutoModelForSeq2SeqLM, placement)
    encoder = TextEncoder(tokenizer, longest)
    start = _decoder_start(network, checkpoint.name)
    before = tuple(int(token) for token in encoder.text_start)
    fingerprint = f"{checkpoint.fingerprint()}:{placement.precision}:{longest}"
    runner = Runner(network, placement, encoder.pad, Lock())
    # as in training: labels are what the tokenizer makes of an answer, shifted by one, so BART's begin with <s>
    started = (start,) if before == (start,) else (start, *before)
    return Seq2SeqModel(checkpoint.name, fingerprint, encoder, runner, started, tokenizer.unk_token_id)


def _decoder_start(network: Any, name: str) -> int:
    for described in (network.generation_config, network.config):
        if (start := getattr(described, "decoder_start_token_id", None)) is not None:
            return int(start)
    problem = (
        "neither its generation_config.json nor its config.json names the decoder_start_token_id that an answer begins with"
    )
    raise WrongKindError(name, problem)
