"""What every adapter's ``attach`` takes: the options of a recording, and the models that its measures ask."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar, cast

from rag_cover.backends import AbstentionDetector, Embedder, Entailer, Generator, Locator, Receiver, Relevance, Scorer
from rag_cover.coverage import Decomposer
from rag_cover.decomposition.given_nuggets import GivenNuggets
from rag_cover.errors import refuse_unknown_options
from rag_cover.nuggets import Nugget
from rag_cover.recording import LIVE_MODELS, Recording, RecordingOptions, document_options
from rag_cover.registry import Models

__all__ = [
    "AttachOptions",
    "ModelOptions",
    "document_attach_options",
    "document_model_options",
    "refuse_unknown_models",
    "split_options",
]

LanguageModel = TypeVar("LanguageModel")
"""What a framework calls a language model."""
EmbeddingModel = TypeVar("EmbeddingModel")
"""What a framework calls an embedding model."""


class ModelOptions(TypedDict, Generic[LanguageModel, EmbeddingModel], total=False):
    """The models that measures ask: each a name, an object with the methods of `rag_cover.backends`, or the framework's own.

    Attributes:
        judge: decides which texts answer or cover which questions. A name (``"embedded"``, ``"openai:…"``), a `Scorer`, or a
            language model of the framework.
        locator: finds the words of a passage that answer a question; None: the judge, where it can.
        relevance: decides which words of a question a text is about; None: the judge, where it can.
        entailer: decides whether one statement follows from another; None: the judge, where it can; the embedded entailer
            where a language model of the framework judges.
        receiver: the model whose belief utility measures (ΔSePer); None: utility is not measured.
        generator: writes sub-questions for questions that come without; None: rules split them, unless ``decomposer`` is given.
        decomposer: splits questions in place of ``generator``: ``"rules"``, a generator or its name, the Path of a trace file
            whose sub-questions are taken, or a function.
        embedder: embeds sub-questions, which assigns their roles: also an embedding model of the framework; None: the judge,
            where it can.
        abstention: recognises replies that decline to answer; None: the judge where it can, else the embedded one.
        corpus: is searched for what was not retrieved, so that what is not in the corpus is told from what was not found: a
            retriever or an index of the framework, a `Retriever`, passages, or the path of a file of them.
        nuggets: what a full answer states, in place of sub-questions: the path of a file of nuggets, a mapping of questions or
            their ids to nuggets, or `GivenNuggets`.
    """

    judge: str | Scorer | LanguageModel
    locator: str | Locator | LanguageModel | None
    relevance: str | Relevance | None
    entailer: str | Entailer | None
    receiver: str | Receiver | LanguageModel | None
    generator: str | Generator | LanguageModel | None
    decomposer: str | Path | Generator | Decomposer | LanguageModel | None
    embedder: str | Embedder | EmbeddingModel | None
    abstention: str | AbstentionDetector | None
    corpus: Any
    nuggets: str | Path | Mapping[str, Sequence[Nugget | str]] | GivenNuggets | None


class AttachOptions(
    RecordingOptions, ModelOptions[LanguageModel, EmbeddingModel], Generic[LanguageModel, EmbeddingModel], total=False
):
    """The options of a recording and its models, as every ``attach`` takes them."""


_MODELS = tuple(ModelOptions.__annotations__)
_KNOWN = tuple(AttachOptions.__annotations__)
_DEFAULTS: dict[str, Any] = {
    **{name: parameter.default for name, parameter in inspect.signature(Recording).parameters.items()},
    **{field.name: getattr(LIVE_MODELS, field.name) for field in fields(LIVE_MODELS)},
}

document_attach_options = document_options(ModelOptions, RecordingOptions, defaults=_DEFAULTS)
"""Decorate a function that takes ``**options: Unpack[AttachOptions[…]]``: `help` shows each of them."""
document_model_options = document_options(ModelOptions, defaults={field.name: field.default for field in fields(Models)})
"""Decorate a function that takes ``**options: Unpack[ModelOptions[…]]``: `help` shows each of them."""


def split_options(
    options: AttachOptions[LanguageModel, EmbeddingModel], *, taken_by: str, besides: Collection[str] = ()
) -> tuple[ModelOptions[LanguageModel, EmbeddingModel], RecordingOptions]:
    """Separate the models, local ones by default, from the options of the recording.

    ``taken_by`` names the function in the error for an option that does not exist; ``besides`` are its own parameters.

    Raises:
        UnknownOptionError: there is no such option; the message names the nearest one.
    """
    refuse_unknown_options(taken_by, options, [*_KNOWN, *besides])
    models = {name: options.get(name, _DEFAULTS[name]) for name in _MODELS}
    others = {name: value for name, value in options.items() if name not in _MODELS}
    return cast("ModelOptions[LanguageModel, EmbeddingModel]", models), cast("RecordingOptions", others)


def refuse_unknown_models(options: ModelOptions[LanguageModel, EmbeddingModel], *, taken_by: str) -> None:
    """Refuse a model in a place that does not exist.

    Raises:
        UnknownOptionError: there is no such option; the message names the nearest one.
    """
    refuse_unknown_options(taken_by, options, _MODELS)
