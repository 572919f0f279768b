"""A framework's objects in the places of rag_cover's models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from rag_cover import Models, open_embedder, open_scorer
from rag_cover.backends import Generator, Locator, Receiver
from rag_cover.belief import GeneratorReceiver
from rag_cover.errors import BackendNotFoundError, InvalidValueError, NotOfferedError
from rag_cover.integration import FrameworkModels
from rag_cover.llm.judge import PromptedJudge
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedGenerator, ScriptedReceiver
from tests.entailing import LevelEmbedder


@dataclass(frozen=True)
class Speaker:
    """What writes in a framework of our own."""

    generator: ScriptedGenerator


@dataclass(frozen=True)
class Pointer:
    """What embeds there."""

    embedder: LevelEmbedder


@dataclass(frozen=True)
class Umpire:
    """What judges there, and writes nothing."""

    judge: KeywordScorer


FRAMEWORK = FrameworkModels(
    language_model="a Speaker",
    embedding_model="a Pointer",
    make_generator=lambda model: model.generator if isinstance(model, Speaker) else None,
    make_embedder=lambda model: model.embedder if isinstance(model, Pointer) else None,
    make_judge=lambda model: model.judge if isinstance(model, Umpire) else None,
)


def test_a_language_model_in_several_places_is_one_model() -> None:
    speaker, pointer = Speaker(ScriptedGenerator()), Pointer(LevelEmbedder())

    models = FRAMEWORK.models_of(
        judge=speaker, locator=speaker, receiver=speaker, generator=speaker, decomposer=speaker, embedder=pointer
    )

    assert isinstance(models.judge, PromptedJudge)
    assert models.locator is models.judge
    assert isinstance(models.receiver, GeneratorReceiver)
    assert models.decomposer is models.generator is speaker.generator
    assert models.embedder is pointer.embedder
    kinds: Any = ["scorer", "locator", "receiver", "generator", "decomposer", "embedder"]
    assert set(models.open(kinds)) == set(kinds)


def test_what_judges_without_writing_is_a_judge_and_nothing_else() -> None:
    umpire = Umpire(KeywordScorer())

    assert FRAMEWORK.models_of(judge=umpire).judge is umpire.judge
    with pytest.raises(InvalidValueError, match="'Umpire' cannot serve as generator: .*, or a Speaker"):
        FRAMEWORK.models_of(generator=umpire)


def test_beside_a_language_model_that_judges_the_embedded_entailer_tells_what_follows() -> None:
    speaker, entailer = Speaker(ScriptedGenerator()), KeywordEntailer()

    assert FRAMEWORK.models_of(judge=speaker).entailer == "embedded"
    assert FRAMEWORK.models_of(judge=speaker, entailer=entailer).entailer is entailer
    assert FRAMEWORK.models_of(judge="embedded").entailer is None
    assert FRAMEWORK.models_of(judge=KeywordScorer()).entailer is None


def test_models_without_framework_objects_are_rag_covers_own() -> None:
    judge, receiver = KeywordScorer(), ScriptedReceiver()

    assert FRAMEWORK.models_of() == Models()
    assert FRAMEWORK.models_of(receiver="embedded", decomposer="rules") == Models(receiver="embedded", decomposer="rules")
    assert FRAMEWORK.models_of(judge=judge, receiver=receiver) == Models(judge=judge, receiver=receiver)


def test_a_name_opens_a_model_of_rag_covers() -> None:
    opened = FRAMEWORK.models_of(receiver="embedded").open(["scorer", "locator", "receiver"])

    assert opened["scorer"] is open_scorer("embedded")
    assert isinstance(opened["locator"], Locator)
    assert isinstance(opened["receiver"], Receiver)
    assert FRAMEWORK.embedder_of("embedded") is open_embedder("embedded")


def test_names_are_looked_up_when_models_are_opened() -> None:
    named = FRAMEWORK.models_of(judge="nobody", generator="nobody:large", receiver="nobody:large", embedder="nobody")

    with pytest.raises(BackendNotFoundError, match="nobody"):
        named.open(["decomposer"])


def test_a_name_that_nobody_answers_to_is_refused() -> None:
    with pytest.raises(BackendNotFoundError, match="Did you mean 'embedded'"):
        FRAMEWORK.models_of(judge="embeded").open(["scorer"])
    with pytest.raises(NotOfferedError, match="offers no generator"):
        FRAMEWORK.generator_of("embedded")


def test_a_model_of_rag_covers_stays_as_it_is() -> None:
    generator: Generator = ScriptedGenerator()

    assert FRAMEWORK.generator_of(generator) is generator


@pytest.mark.parametrize(
    ("translate", "kind", "offered"),
    [(FRAMEWORK.generator_of, "generator", "a Speaker"), (FRAMEWORK.embedder_of, "embedder", "a Pointer")],
)
def test_what_is_no_model_is_refused_with_what_would_be_one(
    translate: Callable[[object], object], kind: str, offered: str
) -> None:
    wanted = f"'dict' cannot serve as {kind}: .*rag_cover.backends.{kind.capitalize()}, or {offered}"
    with pytest.raises(InvalidValueError, match=wanted):
        translate({})


@pytest.mark.parametrize("place", ["judge", "locator", "relevance", "entailer", "receiver", "generator", "embedder"])
def test_an_object_in_a_place_that_it_cannot_fill_is_refused_by_the_name_of_the_place(place: str) -> None:
    with pytest.raises(InvalidValueError, match=f"'dict' cannot serve as {place}: give the name of one"):
        FRAMEWORK.models_of(**{place: {}})


def test_a_class_is_no_model_though_it_has_the_methods() -> None:
    with pytest.raises(InvalidValueError, match="the class 'KeywordScorer' itself cannot serve as judge: give the name"):
        FRAMEWORK.models_of(judge=KeywordScorer)
    with pytest.raises(InvalidValueError, match="the class 'ScriptedGenerator' itself cannot serve as generator"):
        FRAMEWORK.generator_of(ScriptedGenerator)


def test_there_is_always_a_judge() -> None:
    with pytest.raises(InvalidValueError, match="'NoneType' cannot serve as judge"):
        FRAMEWORK.models_of(judge=None)


def test_what_does_not_split_questions_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="decomposer is 'rules', a generator or its name, a Path"):
        FRAMEWORK.models_of(decomposer=5)
