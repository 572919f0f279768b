import importlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rag_cover import plugin_manager, registry
from rag_cover.backends import Backend
from rag_cover.coverage import GeneratedDecomposer
from rag_cover.errors import (
    BackendNotFoundError,
    InvalidValueError,
    MissingExtraError,
    NotOfferedError,
    PluginError,
    UnknownOptionError,
    needs_extra,
)
from rag_cover.hooks import hook
from rag_cover.questions import Question, SubQuestion
from rag_cover.registry import Models
from rag_cover.stores import write_traces
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer, ScriptedGenerator
from rag_cover.traces import Trace


def _open(_model: str, *, threshold: float = 0.5) -> KeywordScorer:
    return KeywordScorer(threshold)


class _Plugin:
    def __init__(self, *backends: Backend) -> None:
        self._backends = list(backends)

    @hook
    def backends(self) -> list[Backend]:
        return self._backends


@pytest.fixture
def words() -> Iterator[None]:
    manager = plugin_manager.plugins()
    plugin = _Plugin(Backend("words", "words shared", scorer=_open, locator=lambda _: KeywordLocator()))
    manager.register(plugin)
    yield
    manager.unregister(plugin)


@pytest.mark.usefixtures("words")
def test_a_model_is_opened_by_scheme_and_options() -> None:
    assert registry.open_scorer("words:any", threshold=0.9).threshold == 0.9


@pytest.mark.usefixtures("words")
def test_a_misspelt_scheme_names_the_nearest_and_what_is_installed() -> None:
    with pytest.raises(
        BackendNotFoundError,
        match="No backend is called 'wrds'. Did you mean 'words'. Installed: cascade, embedded, openai, .*words",
    ):
        registry.open_scorer("wrds")


@pytest.mark.usefixtures("words")
def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownOptionError, match="takes no option 'treshold'. Did you mean 'threshold'"):
        registry.open_scorer("words", treshold=0.9)


@pytest.mark.parametrize("name", [None, 3, Path("embedded")])
def test_what_is_no_name_is_refused(name: Any) -> None:
    with pytest.raises(InvalidValueError, match="a scorer is opened by its name, such as 'embedded', not"):
        registry.open_scorer(name)


@pytest.mark.usefixtures("words")
def test_a_kind_that_a_backend_lacks_is_named_with_what_it_offers() -> None:
    with pytest.raises(NotOfferedError, match="'words' offers no generator; it offers: locator, scorer"):
        registry.open_generator("words")


@pytest.mark.usefixtures("words")
def test_two_plugins_with_one_scheme_are_an_error() -> None:
    twin = _Plugin(Backend("words", "again"))
    plugin_manager.plugins().register(twin)
    try:
        with pytest.raises(PluginError, match="Two plugins offer the backend 'words'"):
            registry.find_backends()
    finally:
        plugin_manager.plugins().unregister(twin)


@pytest.mark.usefixtures("words")
def test_a_named_judge_brings_its_locator_and_no_entailer() -> None:
    opened = Models(judge="words").open(("scorer", "locator", "entailer", "decomposer"))

    assert set(opened) == {"scorer", "locator"}


def test_a_judge_object_serves_as_what_it_can() -> None:
    class Both(KeywordScorer):
        def entail(self, pairs: object) -> object:
            return KeywordEntailer().entail(pairs)  # type: ignore[arg-type]

    opened = Models(judge=Both()).open(("scorer", "locator", "entailer"))

    assert set(opened) == {"scorer", "entailer"}


def test_an_object_that_cannot_serve_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="cannot serve as entailer"):
        Models(judge=KeywordScorer(), entailer=KeywordScorer()).open(("entailer",))  # type: ignore[arg-type]


SKY = Question("Why is the sky blue?")
SUBS = (SubQuestion("What is light?", role="background"),)


@pytest.fixture
def writer() -> Iterator[ScriptedGenerator]:
    generator = ScriptedGenerator()
    plugin = _Plugin(Backend("writer", "writes", generator=lambda _: generator))
    plugin_manager.plugins().register(plugin)
    yield generator
    plugin_manager.plugins().unregister(plugin)


@pytest.mark.parametrize("models", [{}, {"decomposer": "rules"}, {"decomposer": "rules", "generator": ScriptedGenerator()}])
def test_rules_decompose_unless_told_otherwise(models: dict[str, Any]) -> None:
    assert Models(judge=KeywordScorer(), **models).open(("decomposer",)) == {}


@pytest.mark.usefixtures("writer")
@pytest.mark.parametrize(
    "models",
    [
        {"decomposer": "writer:small"},
        {"generator": "writer:small"},
        {"decomposer": ScriptedGenerator()},
        {"generator": ScriptedGenerator()},
        {"decomposer": "writer:small", "generator": ScriptedGenerator(name="other")},
    ],
)
def test_a_generator_by_name_or_as_an_object_decomposes(models: dict[str, Any]) -> None:
    decomposer = Models(judge=KeywordScorer(), **models).open(("decomposer",))["decomposer"]

    assert isinstance(decomposer, GeneratedDecomposer)
    assert decomposer.source == "model:scripted"


def test_a_file_of_decompositions_decomposes(tmp_path: Path) -> None:
    write_traces(tmp_path / "decomposed.jsonl", [Trace(question=SKY, sub_questions=SUBS)])

    opened = Models(judge=KeywordScorer(), decomposer=tmp_path / "decomposed.jsonl").open(("decomposer",))

    assert opened["decomposer"](SKY) == SUBS


def test_a_function_decomposes_and_what_is_none_is_refused() -> None:
    def one(question: Question) -> list[SubQuestion]:
        return [SubQuestion(question.text)]

    assert Models(judge=KeywordScorer(), decomposer=one).open(("decomposer",)) == {"decomposer": one}
    with pytest.raises(InvalidValueError, match="decomposer is 'rules', a generator or its name, a Path or a function, not 3"):
        Models(judge=KeywordScorer(), decomposer=3).open(("decomposer",))  # type: ignore[arg-type]


def test_a_judge_that_embeds_is_the_embedder_and_its_scheme_is_not() -> None:
    class Embedding(KeywordScorer):
        def embed(self, texts: object) -> object:
            return texts

    judge = Embedding()
    plugin = _Plugin(Backend("chat", "judges", scorer=_open, embedder=lambda _: pytest.fail("another model's name")))
    plugin_manager.plugins().register(plugin)
    try:
        opened = [Models(judge=each).open(("embedder",)) for each in (judge, "chat:large")]
    finally:
        plugin_manager.plugins().unregister(plugin)

    assert opened == [{"embedder": judge}, {}]


def test_a_plugin_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> object:
        message = "no such module"
        raise ImportError(message)

    broken = SimpleNamespace(name="broken", value="broken_plugin", load=load)
    monkeypatch.setattr(plugin_manager, "entry_points", lambda **_: [broken])

    with pytest.raises(PluginError, match=r"Plugin 'broken' \(broken_plugin\) could not be loaded: no such module"):
        plugin_manager.plugins.__wrapped__()


def test_only_the_absence_of_the_named_package_becomes_an_install_hint() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'rag-cover\[openai\]'"), needs_extra("openai", "absent_package"):
        importlib.import_module("absent_package")
    with pytest.raises(ModuleNotFoundError, match="another_absent"), needs_extra("openai", "absent_package"):
        importlib.import_module("another_absent")


class _Commander:
    def __init__(self, *names: str) -> None:
        self._names = names

    @hook
    def commands(self) -> dict[str, str]:
        return {name: f"module_{number}:app" for number, name in enumerate(self._names)}


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ("greet", "greet", "Two plugins bring the command 'greet'"),
        ("greet kindly", "greet kindly", "Two plugins bring the command 'greet kindly'"),
        ("greet", "greet kindly", "One plugin brings the command 'greet' .*, another commands under it"),
    ],
)
def test_two_plugins_with_one_command_are_an_error(first: str, second: str, problem: str) -> None:
    several = [_Commander(first), _Commander(second)]
    for plugin in several:
        plugin_manager.plugins().register(plugin)
    try:
        with pytest.raises(PluginError, match=problem):
            registry.find_commands()
    finally:
        for plugin in several:
            plugin_manager.plugins().unregister(plugin)


def test_several_plugins_may_add_to_one_group() -> None:
    several = [_Commander("greet kindly"), _Commander("greet oddly")]
    for plugin in several:
        plugin_manager.plugins().register(plugin)
    try:
        assert {"greet kindly", "greet oddly"} <= set(registry.find_commands())
    finally:
        for plugin in several:
            plugin_manager.plugins().unregister(plugin)
