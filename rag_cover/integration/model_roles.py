"""A framework's language and embedding models as the models of rag_cover.

A language model generates, judges, reads and decomposes; an embedding model embeds. How a framework's object becomes a
generator or an embedder is the adapter's to say, in a `FrameworkModels`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from rag_cover.argument_checks import describe_argument
from rag_cover.backends import (
    AbstentionDetector,
    Embedder,
    Entailer,
    Generator,
    Locator,
    Receiver,
    Relevance,
    Retriever,
    Scorer,
)
from rag_cover.belief import GeneratorReceiver
from rag_cover.errors import InvalidValueError
from rag_cover.llm.judge import PromptedJudge
from rag_cover.recording import UnrecordedRetriever
from rag_cover.registry import Models, open_embedder, open_generator

__all__ = ["FrameworkModels"]

T = TypeVar("T")

_PLACES: Mapping[str, type[Any]] = {
    "judge": Scorer,
    "locator": Locator,
    "relevance": Relevance,
    "entailer": Entailer,
    "receiver": Receiver,
    "generator": Generator,
    "embedder": Embedder,
    "abstention": AbstentionDetector,
}
"""What must stand in each place of `Models`."""
_WRITING: Mapping[str, Callable[[Generator], Any]] = {
    "judge": PromptedJudge,
    "locator": PromptedJudge,
    "receiver": GeneratorReceiver,
    "generator": lambda writer: writer,
    "decomposer": lambda writer: writer,
}
"""What is made of a language model in each place that it can fill."""


@dataclass(frozen=True, slots=True)
class FrameworkModels:
    """How a framework's models become rag_cover's.

    Attributes:
        language_model: what a language model is called where one was expected, such as ``"a LlamaIndex LLM"``.
        embedding_model: the same of an embedding model.
        make_generator: makes a language model a generator; None of what is none.
        make_embedder: makes an embedding model an embedder; None of what is none.
        make_judge: makes what can judge without writing a judge; None of what cannot.
        make_retriever: makes what searches a corpus a retriever; None of what does not.
    """

    language_model: str
    embedding_model: str
    make_generator: Callable[[object], Generator | None]
    make_embedder: Callable[[object], Embedder | None]
    make_judge: Callable[[object], Scorer | None] = lambda _: None
    make_retriever: Callable[[object], Retriever | None] = lambda _: None

    def generator_of(self, model: object) -> Generator:
        """Return a model, or what a name opens, as a generator.

        Raises:
            InvalidValueError: the model cannot generate text.
        """
        made = self.make_generator(model)
        return made if made is not None else self._open_or_check(model, "generator", open_generator)

    def embedder_of(self, model: object) -> Embedder:
        """Return a model, or what a name opens, as an embedder: (n, d) vectors of unit length, float32.

        Raises:
            InvalidValueError: the model cannot embed.
        """
        made = self.make_embedder(model)
        return made if made is not None else self._open_or_check(model, "embedder", open_embedder)

    def models_of(self, **given: object) -> Models:
        """Return the models that measures ask, by the fields of `Models`, the framework's own objects translated.

        A language model in several places is one model: what it refuses, and as a judge what it has judged, is known in all.
        One that judges does not tell what follows from what: the embedded entailer does, unless another is given. Names are
        looked up when the models are opened.

        Raises:
            InvalidValueError: an object that cannot serve as what it is given as.
        """
        made: dict[tuple[int, object], Any] = {}
        models = Models(**{place: self._translate(model, place, made) for place, model in given.items()})
        if models.entailer is None and not isinstance(models.judge, str | Entailer) and models.judge is not given.get("judge"):
            models = replace(models, entailer="embedded")
        self._refuse_unfit(models)
        return models

    def _translate(self, model: object, place: str, made: dict[tuple[int, object], Any]) -> Any:
        if place == "corpus":
            return self._corpus(model)
        if place == "nuggets" and isinstance(model, str):  # no model: the path of a file
            model = Path(model)
        if model is None or isinstance(model, str):
            return model
        if place == "embedder":
            return self.make_embedder(model) or model
        if place == "judge" and (judge := self.make_judge(model)) is not None:
            return judge
        if (make := _WRITING.get(place)) is None or (writer := self.make_generator(model)) is None:
            return model
        asked = made.setdefault((id(model), "writer"), writer)
        return made.setdefault((id(model), make), make(asked))

    def _corpus(self, corpus: object) -> Any:
        """Translate what is searched for what was not retrieved; what a search does there is no part of any trace."""
        if isinstance(corpus, str):
            return Path(corpus)
        made = self.make_retriever(corpus)
        return corpus if made is None else UnrecordedRetriever(made)

    def _open_or_check(self, model: object, place: str, open_by_name: Callable[[str], T]) -> T:
        if isinstance(model, str):
            return open_by_name(model)
        if isinstance(model, _PLACES[place]) and not isinstance(model, type):
            return cast("T", model)
        raise self._unfit(model, place)

    def _refuse_unfit(self, models: Models) -> None:
        for place, protocol in _PLACES.items():
            model = getattr(models, place)
            given = model is not None or place == "judge"
            if given and (isinstance(model, type) or not isinstance(model, str | protocol)):  # a class has the methods, too
                raise self._unfit(model, place)
        models.check(["corpus", "nuggets"])
        if not isinstance(models.decomposer, str | Path | Generator | None):  # those take other models to open
            models.open(["decomposer"])

    def _unfit(self, model: object, place: str) -> InvalidValueError:
        fitting = f"an object with the methods of rag_cover.backends.{_PLACES[place].__name__}"
        framework = self.embedding_model if place == "embedder" else self.language_model if place in _WRITING else None
        offered = f"give the name of one, {fitting}, or {framework}" if framework else f"give the name of one, or {fitting}"
        return InvalidValueError(f"{describe_argument(model)} cannot serve as {place}: {offered}")
