"""Any Hugging Face checkpoint as a model of rag_cover: ``transformers:<folder or name of the hub>``, on GPU or CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from rag_cover.errors import needs_extra
from rag_cover.hooks import hook
from rag_cover_transformers.model_source import Source

if TYPE_CHECKING:
    from rag_cover.backends import Backend, Embedder, Entailer, Generator, Receiver, Relevance, Scorer

__all__ = ["backends", "commands"]

_PACKAGES = ("torch", "transformers", "huggingface_hub", "safetensors")


@hook
def backends() -> list[Backend]:
    """Offer what checkpoints can serve as."""
    from rag_cover.backends import Backend

    return [
        Backend(
            scheme="transformers",
            summary="any Hugging Face checkpoint (safetensors), by folder or name of the hub, on GPU or CPU",
            entailer=open_entailer,
            scorer=open_scorer,
            relevance=open_relevance,
            generator=open_generator,
            receiver=open_receiver,
            embedder=open_embedder,
        )
    ]


@hook
def commands() -> Mapping[str, str]:
    """Offer ``rag-cover train geneval``."""
    return {"train geneval": "rag_cover_transformers.command_line:app"}


def open_entailer(  # noqa: PLR0913  # the options are what the registry offers by name
    model: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    max_tokens: int | None = None,
    batch_tokens: int | None = None,
    revision: str | None = None,
    labels: Sequence[str] | None = None,
    canaries: Sequence[tuple[str, str, str]] | None = None,
    words: Sequence[str] | None = None,
) -> Entailer:
    """Open a classifier trained for entailment, or a model that writes (T5, BART) and answers with one of two words.

    Args:
        model: a folder, or a name of the hub.
        device: ``"auto"`` is the GPU where there is one; else a device of torch, such as ``"cuda:1"``.
        precision: ``"auto"`` is bfloat16 (or float16) on a GPU and float32 on the CPU.
        max_tokens: of one input; None is what the checkpoint takes.
        batch_tokens: of one batch, padding included.
        revision: of the hub.
        labels: what each output means, where the checkpoint does not say; first output first.
        canaries: (premise, hypothesis, label) cases it must get right to be opened; None is a set in English, () asks none.
        words: of a model that writes: the one that says it follows, and the other; None is ``("yes", "no")``.
    """
    source = Source(model, revision, device, precision, max_tokens, batch_tokens)
    with needs_extra("transformers", *_PACKAGES):
        from rag_cover_transformers.factories import entailer_from
    return entailer_from(source, labels=labels, canaries=canaries, words=words)


def open_scorer(  # noqa: PLR0913  # likewise
    model: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    max_tokens: int | None = None,
    batch_tokens: int | None = None,
    revision: str | None = None,
    labels: Sequence[str] | None = None,
    threshold: float | None = None,
    canaries: Sequence[tuple[str, str, str]] | None = None,
    task: Literal["answers", "entailment"] | None = None,
    words: Sequence[str] | None = None,
) -> Scorer:
    """Open a GenEval folder, a classifier or a model that writes (T5, BART) as a scorer.

    A classifier of (question, text) pairs, with one or two outputs (QNLI), judges without references. Entailment classifiers
    and models that write judge with references, too. A GenEval folder takes none of the options from ``labels`` on.

    Args:
        model: a folder, or a name of the hub.
        device: as of `open_entailer`.
        precision: as of `open_entailer`.
        max_tokens: as of `open_entailer`.
        batch_tokens: as of `open_entailer`.
        revision: of the hub.
        labels: what each output means, first output first; of a model that writes, what each word means.
        threshold: the probability from which a text covers; None is 0.5.
        canaries: (question, text that answers it, text that does not) cases; None is a set in English, () asks none.
        task: what the checkpoint was trained to tell: ``"answers"``, whether a text answers a question, or ``"entailment"``,
            whether a statement follows. None is entailment for three outputs, else answers.
        words: of a model that writes: the one that says yes, and the other; None is ``("yes", "no")``.
    """
    source = Source(model, revision, device, precision, max_tokens, batch_tokens)
    with needs_extra("transformers", *_PACKAGES):
        from rag_cover_transformers.factories import scorer_from
    return scorer_from(source, labels=labels, threshold=threshold, canaries=canaries, task=task, words=words)


def open_relevance(
    model: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    max_tokens: int | None = None,
    batch_tokens: int | None = None,
    revision: str | None = None,
) -> Relevance:
    """Open a GenEval folder; as a scorer and as this it is loaded once."""
    source = Source(model, revision, device, precision, max_tokens, batch_tokens)
    with needs_extra("transformers", *_PACKAGES):
        from rag_cover_transformers.factories import relevance_from
    return relevance_from(source)


def open_generator(
    model: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    max_tokens: int | None = None,
    batch_tokens: int | None = None,
    revision: str | None = None,
) -> Generator:
    """Open a causal language model; ``max_tokens`` is of prompt and answer together."""
    source = Source(model, revision, device, precision, max_tokens, batch_tokens)
    with needs_extra("transformers", *_PACKAGES):
        from rag_cover_transformers.factories import generator_from
    return generator_from(source)


def open_receiver(  # noqa: PLR0913  # likewise
    model: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    max_tokens: int | None = None,
    batch_tokens: int | None = None,
    revision: str | None = None,
    temperature: float = 1.0,
    top_p: float = 1.0,
    top_k: int | None = None,
    answer_tokens: int = 128,
    instruction: str | None = None,
) -> Receiver:
    """Open a causal language model whose belief ΔSePer measures, by samples as its authors' release draws them.

    ``answer_tokens`` is the longest sample, ``instruction`` the prompt's first line; loaded once with `open_generator`.
    """
    source = Source(model, revision, device, precision, max_tokens, batch_tokens)
    from rag_cover.backends import Sampling

    sampling = Sampling(temperature=temperature, top_p=top_p, top_k=top_k, max_tokens=answer_tokens)
    with needs_extra("transformers", *_PACKAGES):
        from rag_cover_transformers.factories import receiver_from
        from rag_cover_transformers.prompts import INSTRUCTION
    return receiver_from(source, sampling, INSTRUCTION if instruction is None else instruction)


def open_embedder(
    model: str,
    *,
    device: str = "auto",
    precision: str = "auto",
    max_tokens: int | None = None,
    batch_tokens: int | None = None,
    revision: str | None = None,
    prompt: str | None = None,
) -> Embedder:
    """Open an encoder, pooled as its sentence-transformers files say; ``prompt`` stands before every text."""
    source = Source(model, revision, device, precision, max_tokens, batch_tokens)
    with needs_extra("transformers", *_PACKAGES):
        from rag_cover_transformers.embedder import open_text_embedder
    return open_text_embedder(source, prompt=prompt)
