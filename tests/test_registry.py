import importlib
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from rag_cover import registry
from rag_cover.backends import Backend
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
from rag_cover.registry import Models
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer


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
    manager = registry.plugins()
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
        BackendNotFoundError, match="No backend is called 'wrds'. Did you mean 'words'. Installed: embedded, words"
    ):
        registry.open_scorer("wrds")


@pytest.mark.usefixtures("words")
def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownOptionError, match="takes no option 'treshold'. Did you mean 'threshold'"):
        registry.open_scorer("words", treshold=0.9)


@pytest.mark.usefixtures("words")
def test_a_kind_that_a_backend_lacks_is_named_with_what_it_offers() -> None:
    with pytest.raises(NotOfferedError, match="'words' offers no generator; it offers: locator, scorer"):
        registry.open_generator("words")


@pytest.mark.usefixtures("words")
def test_two_plugins_with_one_scheme_are_an_error() -> None:
    twin = _Plugin(Backend("words", "again"))
    registry.plugins().register(twin)
    try:
        with pytest.raises(PluginError, match="Two plugins offer the backend 'words'"):
            registry.installed_backends()
    finally:
        registry.plugins().unregister(twin)


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


def test_a_plugin_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> object:
        message = "no such module"
        raise ImportError(message)

    broken = SimpleNamespace(name="broken", value="broken_plugin", load=load)
    monkeypatch.setattr(registry, "entry_points", lambda **_: [broken])

    with pytest.raises(PluginError, match=r"Plugin 'broken' \(broken_plugin\) could not be loaded: no such module"):
        registry.plugins.__wrapped__()


def test_only_the_absence_of_the_named_package_becomes_an_install_hint() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'rag-cover\[openai\]'"), needs_extra("openai", "absent_package"):
        importlib.import_module("absent_package")
    with pytest.raises(ModuleNotFoundError, match="another_absent"), needs_extra("openai", "absent_package"):
        importlib.import_module("another_absent")
