"""Which plugins are installed, and the models they open by name."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from weakref import WeakValueDictionary

from rag_cover.backends import (
    KINDS,
    AbstentionDetector,
    Backend,
    Embedder,
    Entailer,
    Generator,
    Locator,
    Receiver,
    Relevance,
    Retriever,
    Scorer,
)
from rag_cover.cascade import CascadeJudge, CascadePlan, CascadeSettings, JudgeNames
from rag_cover.cascade.names import SCHEME
from rag_cover.cascade.settings import AUDIT
from rag_cover.decomposition.generated import GeneratedDecomposer
from rag_cover.decomposition.given_nuggets import GivenNuggets
from rag_cover.decomposition.strategies import Decomposer, GivenDecomposer
from rag_cover.engines import Engine
from rag_cover.errors import (
    BackendNotFoundError,
    InvalidValueError,
    NotOfferedError,
    PluginError,
    UnfitModelError,
    refuse_unknown_options,
)
from rag_cover.llm.usage import Price
from rag_cover.measures import ModelKind
from rag_cover.nuggets import Nugget
from rag_cover.plugin_manager import find_commands, plugins
from rag_cover.questions import Passage
from rag_cover.stores import read_passages, read_traces
from rag_cover.stores.files import require_file
from rag_cover.stores.passages import convert_passages

__all__ = [
    "Models",
    "build_retriever",
    "find_backends",
    "find_commands",
    "find_engines",
    "open_abstention",
    "open_cascade",
    "open_embedder",
    "open_entailer",
    "open_generator",
    "open_locator",
    "open_receiver",
    "open_relevance",
    "open_scorer",
]


def find_backends() -> Mapping[str, Backend]:
    """Return every installed backend by its scheme.

    Raises:
        PluginError: two plugins claim one scheme.
    """
    found: dict[str, Backend] = {SCHEME: _CASCADE}
    for backend in (backend for several in plugins().hook.backends() for backend in several):
        if backend.scheme in found:
            message = f"Two plugins offer the backend {backend.scheme!r}; uninstall one of them."
            raise PluginError(message)
        found[backend.scheme] = backend
    return dict(sorted(found.items()))


def find_engines() -> Mapping[str, type[Engine]]:
    """Return the engines that plugins bring, by name."""
    return {name: engine for several in plugins().hook.engines() for name, engine in several.items()}


def open_scorer(name: str, **options: Any) -> Scorer:
    """Open a Scorer, which judges whether a text answers a question, by name; options go to its factory.

    Args:
        name: ``"embedded"`` for the judge that ships, ``"embedded:mine"`` for one fitted to your labels, ``"openai:MODEL"`` for
            a language model, ``"transformers:FOLDER"`` for a checkpoint; ``rag-cover backends`` lists what is installed.
        **options: the backend's own options.

    Returns:
        the scorer: ``correctness(items)`` takes `rag_cover.backends.ScoringItem` objects and returns their probabilities,
        ``threshold`` is the probability from which a passage answers, `rag_cover.backends.reply_threshold_of` that of a reply.

    Raises:
        InvalidValueError: the name is no string.
        BackendNotFoundError: no installed backend has the name.
        UnknownOptionError: the backend has no such option.
    """
    return cast("Scorer", _open("scorer", name, options))


def open_locator(name: str, **options: Any) -> Locator:
    """Open a Locator by name."""
    return cast("Locator", _open("locator", name, options))


def open_relevance(name: str, **options: Any) -> Relevance:
    """Open a Relevance model by name."""
    return cast("Relevance", _open("relevance", name, options))


def open_entailer(name: str, **options: Any) -> Entailer:
    """Open an Entailer by name."""
    return cast("Entailer", _open("entailer", name, options))


def open_generator(name: str, **options: Any) -> Generator:
    """Open a Generator by name, such as ``"openai:gpt-4.1-mini"``."""
    return cast("Generator", _open("generator", name, options))


def open_receiver(name: str, **options: Any) -> Receiver:
    """Open a Receiver by name."""
    return cast("Receiver", _open("receiver", name, options))


def open_embedder(name: str, **options: Any) -> Embedder:
    """Open an Embedder by name."""
    return cast("Embedder", _open("embedder", name, options))


def open_abstention(name: str, **options: Any) -> AbstentionDetector:
    """Open an AbstentionDetector by name."""
    return cast("AbstentionDetector", _open("abstention", name, options))


def build_retriever(
    name: str, corpus: Iterable[Passage | str | Mapping[str, object]] | Path | str, *, index: Path | str | None = None
) -> Retriever:
    """Build a Retriever over a corpus.

    Args:
        name: the backend that brings it, such as ``"embedded"``.
        corpus: the path of a file of passages (`read_passages`), or passages; these may be texts, or dicts with the fields of a
            line of such a file.
        index: the folder where the index is kept, or found; None keeps it in memory.

    Raises:
        InputError: the file of passages cannot be read, or something among the passages is none.
        InvalidValueError: the name is no string, the corpus is neither a path nor an iterable, or the index is no path.
        DuplicatePassageError: the embedded retriever's, where two passages have one id.
    """
    factory = _factory("retriever", name)
    if index is not None and (not isinstance(index, Path | str) or not str(index).strip()):
        message = f"index is the path of a folder, not {index!r}"
        raise InvalidValueError(message)
    passages = read_passages(corpus) if isinstance(corpus, Path | str) else list(convert_passages(corpus))
    return cast("Retriever", factory(passages, None if index is None else Path(index)))


def _factory(kind: str, name: str) -> Any:
    if not isinstance(name, str):
        message = f"a {kind} is opened by its name, such as 'embedded', not {name!r}"
        raise InvalidValueError(message)
    scheme = name.partition(":")[0]
    backends = find_backends()
    if scheme not in backends:
        raise BackendNotFoundError(scheme, backends)
    factory = getattr(backends[scheme], kind)
    if factory is None:
        raise NotOfferedError(scheme, kind, backends[scheme].offers)
    return factory


def _open(kind: str, name: str, options: Mapping[str, Any]) -> object:
    factory = _factory(kind, name)
    known = [parameter.name for parameter in list(inspect.signature(factory).parameters.values())[1:]]
    refuse_unknown_options(name, options, known)
    return factory(name.partition(":")[2], **options)


def open_cascade(  # one option each
    name: str,
    *,
    max_calls: int | None = None,
    max_cost: float | None = None,
    prices: Mapping[str, Price] | None = None,
    audit: float = AUDIT,
    seed: int = 0,
    plan: CascadePlan | None = None,
) -> CascadeJudge:
    """Open two judges as one: ``embedded+openai:gpt-4.1-mini`` (`CascadeSettings` tells what the options are).

    Opening it again with the same options gives the same object while it is in use, so that it knows the fragments that its
    model quoted.

    Raises:
        InvalidValueError: the name has not two judges, an option is out of its range, or the first judge is never unsure.
    """
    names = JudgeNames.read(name)
    limits = {"max_calls": max_calls, "max_cost": max_cost, "audit": audit, "seed": seed}
    settings = CascadeSettings.of(names.second, prices, **limits)
    with _lock:
        if (found := _cascades.get((names, settings, plan))) is None:
            first, second = open_scorer(names.first), open_scorer(names.second)
            found = _cascades[names, settings, plan] = CascadeJudge(first, second, settings, plan=plan)
        return found


def _open_of_first(kind: str) -> Callable[..., Any]:
    """Return the factory of what a cascade takes from its first judge."""

    def open_it(name: str) -> object:
        first = JudgeNames.read(name).first
        try:
            return _open(kind, first, {})
        except NotOfferedError as lacking:
            raise UnfitModelError(str(lacking)) from lacking

    return open_it


_lock = threading.Lock()
_cascades: WeakValueDictionary[tuple[JudgeNames, CascadeSettings, CascadePlan | None], CascadeJudge] = WeakValueDictionary()
_CASCADE = Backend(
    scheme=SCHEME,
    summary="two judges, as 'cascade:embedded+openai:<model>': the second is asked where the first is unsure",
    scorer=open_cascade,
    locator=open_cascade,
    entailer=_open_of_first("entailer"),
    relevance=_open_of_first("relevance"),
    embedder=_open_of_first("embedder"),
    abstention=_open_of_first("abstention"),
)


@dataclass(frozen=True, slots=True)
class Models:
    """The models that measures use, by name or as objects; where one is None, the judge's own is used.

    ``decomposer`` splits questions where a trace brings no sub-questions: ``"rules"``, the name of a generator, a generator,
    a trace file whose sub-questions are taken (a Path), or a function from a Question to its SubQuestions. None is the
    ``generator``, where there is one, else rules. ``abstention`` detects replies that decline to answer; None is the judge
    if it can, else the embedded model. ``nuggets`` are those that every trace is measured on, whatever it brings: a file of
    them (a Path), a mapping of questions or their ids to nuggets, or a `GivenNuggets`. ``corpus`` is searched for what was not
    retrieved: a retriever over it, its passages, or their file (a Path), which the embedded retriever then indexes.
    ``judge_options`` go to the judge that is named, such as ``{"max_calls": 200}`` to a cascade.
    """

    judge: str | Scorer = "embedded"
    locator: str | Locator | None = None
    relevance: str | Relevance | None = None
    entailer: str | Entailer | None = None
    receiver: str | Receiver | None = None
    generator: str | Generator | None = None
    decomposer: str | Path | Generator | Decomposer | None = None
    embedder: str | Embedder | None = None
    abstention: str | AbstentionDetector | None = None
    nuggets: Path | Mapping[str, Sequence[Nugget | str]] | GivenNuggets | None = None
    corpus: Path | Retriever | Sequence[Passage] | None = None
    judge_options: Mapping[str, Any] = field(default_factory=dict, hash=False)  # equal options have equal hashes all the same

    def check(self, kinds: Iterable[ModelKind]) -> None:
        """Refuse names that nobody answers to, without opening anything.

        Raises:
            BackendNotFoundError: no installed plugin has this scheme.
            NotOfferedError: one has, and offers no such model.
            InvalidValueError: a trace file is named where a model is.
            InputError: the file of nuggets cannot be read, or there is no such corpus.
        """
        for kind in kinds:
            name = getattr(self, _role_of(kind))
            if kind == "decomposer" and isinstance(name, str):
                _refuse_file(name)
            if kind == "scorer" and isinstance(name, str) and name.partition(":")[0] == SCHEME:
                _check_cascade(name)
            if kind == "nuggets":
                _open_nuggets(name)
            elif kind == "corpus":
                _check_corpus(name)
            elif isinstance(name, str) and name != "rules":
                _factory("generator" if kind == "decomposer" else kind, name)

    def refuse_budget(self) -> None:
        """Refuse a judge with a budget, where traces are measured as they come.

        Raises:
            InvalidValueError: it has one.
        """
        limits = [self.judge_options.get(name) for name in ("max_calls", "max_cost")]
        if any(limit is not None for limit in limits) or (isinstance(self.judge, CascadeJudge) and self.judge.needs_plan):
            message = (
                "a budget (max_calls, max_cost) is planned over all traces in memory; measure them with rag_cover.evaluate "
                "(rag-cover evaluate), or leave it out: the cascade then asks about every verdict that its first judge is "
                "unsure of"
            )
            raise InvalidValueError(message)

    def open(self, kinds: Iterable[ModelKind]) -> dict[ModelKind, Any]:
        """Open the models of these kinds that are named or that the judge offers; a kind nobody offers is absent."""
        opened = {kind: self._open(kind) for kind in kinds}
        return {kind: model for kind, model in opened.items() if model is not None}

    def open_roles(self, kinds: Iterable[ModelKind]) -> Models:
        """Open the models of these kinds, as `open` does, and return them in their places; a kind nobody offers is None."""
        roles: dict[str, Any] = {_role_of(kind): model for kind, model in self.open(kinds).items()}
        return Models(**{"judge": self.judge, "decomposer": "rules"} | roles)

    def _open(self, kind: ModelKind) -> object | None:
        if kind == "scorer":
            return self._open_judge()
        if kind in _NOT_MODELS:
            return _NOT_MODELS[kind](self)
        if (chosen := getattr(self, kind)) is not None:
            return self._open_model(kind, chosen)
        if kind in ("locator", "relevance", "entailer"):
            return self._from_judge(kind)
        if kind == "abstention":
            own = self._from_judge(kind)
            return self._open_model(kind, "embedded") if own is None else own
        return self._judge_that_embeds() if kind == "embedder" else None

    def _open_judge(self) -> object:
        if self.judge_options and isinstance(self.judge, str):
            return _open("scorer", self.judge, self.judge_options)
        if self.judge_options:
            message = f"judge_options are for a judge that is named; open {type(self.judge).__name__} with its options"
            raise InvalidValueError(message)
        return self._open_model("scorer", self.judge)

    def _decomposer(self) -> object | None:
        match self.decomposer:
            case "rules":
                return None
            case None:
                return None if self.generator is None else self._make_decomposer(self.generator)
            case Path():
                return GivenDecomposer.of(read_traces(self.decomposer))
            case str() | Generator():
                _refuse_file(self.decomposer)
                return self._make_decomposer(self.decomposer)
        if not callable(self.decomposer):
            message = f"decomposer is 'rules', a generator or its name, a Path or a function, not {self.decomposer!r}"
            raise InvalidValueError(message)
        return self.decomposer

    def _make_decomposer(self, generator: str | Generator) -> GeneratedDecomposer:
        opened = cast("Generator", self._open_model("generator", generator))
        return GeneratedDecomposer(opened, embedder=cast("Embedder | None", self._open("embedder")))

    def _from_judge(self, kind: ModelKind) -> object | None:
        if kind == "embedder":  # a judge's server may embed too, but hardly with the model that judges
            return self._judge_that_embeds()
        if isinstance(self.judge, str) and kind == "locator" and self.judge_options:
            judge = self._open_judge()  # the same object: it knows what it was asked
            return judge if isinstance(judge, Locator) else None
        if isinstance(self.judge, str):
            backend = find_backends().get(self.judge.partition(":")[0])
            try:
                return _open(kind, self.judge, {}) if backend and getattr(backend, kind) is not None else None
            except UnfitModelError:  # its scheme offers the kind, this model does not
                return None
        judge = self.judge.first if isinstance(self.judge, CascadeJudge) and kind != "locator" else self.judge
        return judge if isinstance(judge, _PROTOCOLS[kind]) else None

    def _judge_that_embeds(self) -> object | None:
        """Return the judge itself where it embeds: its scheme may need another model's name for that."""
        judge = self._open_judge()
        embedding = judge.first if isinstance(judge, CascadeJudge) else judge
        return embedding if isinstance(embedding, Embedder) else None

    @staticmethod
    def _open_model(kind: str, model: object) -> object:
        if isinstance(model, str):
            return _open(kind, model, {})
        if not isinstance(model, _PROTOCOLS[kind]):
            message = f"{type(model).__name__!r} cannot serve as {kind}: it lacks a method that rag_cover.backends asks for"
            raise InvalidValueError(message)
        return model


def _check_cascade(name: str) -> None:
    """Refuse a cascade of judges that nobody answers to, without opening them."""
    names = JudgeNames.read(name.partition(":")[2])
    for each in (names.first, names.second):
        _factory("scorer", each)


def _open_nuggets(given: object) -> GivenNuggets | None:
    match given:
        case None | GivenNuggets():
            return given
        case Path():
            return GivenNuggets.read(given)
        case Mapping():
            return GivenNuggets.from_mapping(given)
    message = f"nuggets is a file of nuggets as a Path, a mapping of questions to nuggets, or a GivenNuggets, not {given!r}"
    raise InvalidValueError(message)


def _check_corpus(given: object) -> None:
    if isinstance(given, Path):
        require_file(given)
    elif (given is not None and not isinstance(given, Retriever | Sequence)) or isinstance(given, str):
        message = f"corpus is a retriever, a file of passages as a Path, or a sequence of passages, not {given!r}"
        raise InvalidValueError(message)


def _open_corpus(given: Path | Retriever | Sequence[Passage] | None) -> Retriever | None:
    _check_corpus(given)
    return given if given is None or isinstance(given, Retriever) else build_retriever("embedded", given)


_NOT_MODELS: Mapping[ModelKind, Callable[[Models], object | None]] = {
    "decomposer": Models._decomposer,  # noqa: SLF001  # its own table
    "nuggets": lambda models: _open_nuggets(models.nuggets),
    "corpus": lambda models: _open_corpus(models.corpus),
}


def _refuse_file(decomposer: object) -> None:
    if isinstance(decomposer, str) and decomposer.endswith((".jsonl", ".jsonl.gz")):
        message = f"a trace file whose sub-questions are taken is given as a Path: decomposer=Path({decomposer!r})"
        raise InvalidValueError(message)


_PROTOCOLS: Mapping[str, Any] = dict(
    zip(
        KINDS, (Entailer, Scorer, Locator, Relevance, Generator, Receiver, Embedder, Retriever, AbstentionDetector), strict=True
    )
)


def _role_of(kind: ModelKind) -> str:
    return "judge" if kind == "scorer" else kind
