"""Every error of rag_cover: one root, facts as fields, and a sentence that says what to do next."""

from __future__ import annotations

from contextlib import contextmanager
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "BackendNotFoundError",
    "ConfigError",
    "CorruptFileError",
    "DuplicatePassageError",
    "EngineError",
    "EvaluationError",
    "IncomparableError",
    "IndexChangedError",
    "InputError",
    "InvalidValueError",
    "MalformedReplyError",
    "MissingExtraError",
    "ModelFailedError",
    "NotOfferedError",
    "NothingLearnedError",
    "OutputExistsError",
    "PassageNotFoundError",
    "PluginError",
    "RagCoverError",
    "StoreError",
    "StoreInUseError",
    "TransientError",
    "UnfitModelError",
    "UnknownOptionError",
    "nearest",
    "needs_extra",
    "refuse_unknown_options",
]


class RagCoverError(Exception):
    """The root of all errors that rag_cover raises on purpose. They travel between processes as they are."""

    def __reduce__(self) -> tuple[Callable[..., RagCoverError], tuple[object, ...]]:
        """Travel as what it says and knows, since each kind is made from something else."""
        return _rebuild_error, (type(self), self.args, self.__dict__)


class InputError(RagCoverError, ValueError):
    """A file, line or field that cannot be read; says where it is and what is wrong with it."""

    def __init__(
        self, problem: str, *, file: Path | str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        where = ", ".join(
            part
            for part in (
                str(file) if file is not None else "",
                f"line {line}" if line is not None else "",
                f"at {field}" if field else "",
            )
            if part
        )
        super().__init__(f"{where}: {problem}" if where else problem)
        self.problem, self.file, self.line, self.field = problem, file, line, field


class ConfigError(InputError):
    """A configuration file that cannot be used, or sets what a file may not set; says on which line, and what to do."""


class InvalidValueError(RagCoverError, ValueError):
    """An argument outside what a function is defined for."""


class IncomparableError(RagCoverError, ValueError):
    """Two evaluations that cannot be laid side by side."""


class BackendNotFoundError(RagCoverError, LookupError):
    """A model name whose scheme no installed plugin answers to."""

    def __init__(self, scheme: str, installed: Collection[str]) -> None:
        super().__init__(
            f"No backend is called {scheme!r}.{nearest(scheme, installed)} "
            f"Installed: {', '.join(sorted(installed)) or 'none'}. "
            "Run 'rag-cover backends' to see what each one offers."
        )
        self.scheme, self.installed = scheme, tuple(sorted(installed))


class NotOfferedError(RagCoverError, LookupError):
    """A backend that exists but does not offer the kind of model asked for."""

    def __init__(self, scheme: str, kind: str, offered: Collection[str]) -> None:
        super().__init__(
            f"Backend {scheme!r} offers no {kind}; it offers: {', '.join(sorted(offered)) or 'nothing'}. "
            "Run 'rag-cover backends' to see which backend does."
        )
        self.scheme, self.kind, self.offered = scheme, kind, tuple(sorted(offered))


class UnfitModelError(RagCoverError, ValueError):
    """A model that was found and cannot serve as the kind it was opened as; a judge counts as not offering that kind then."""


class NothingLearnedError(RagCoverError, ValueError):
    """Skills that predict held-out questions not clearly better than each pipeline's mean; figures are nats per response.

    ``gain`` is the means' log-loss less the skills', ``lower`` and ``upper`` its 95% interval over questions. ``area`` is the
    area under the ROC curve, in [0, 1]; 0.5 is guessing.
    """

    def __init__(  # all by name
        self,
        *,
        log_loss: float,
        means_log_loss: float,
        gain: float,
        lower: float | None,
        upper: float | None,
        questions: int,
        area: float | None = None,
    ) -> None:
        than = "guessing does" if lower is not None and lower > 0 else "each pipeline's mean does"
        told = "" if area is None else f", ROC-AUC {area:.2f}"
        sure = "" if lower is None or upper is None else f" (95% interval {lower:+.3f} to {upper:+.3f})"
        super().__init__(
            f"Nothing was learned: on {questions:,} held-out questions the skills predict not clearly better than {than}: "
            f"log-loss {log_loss:.3f}, of the means {means_log_loss:.3f}, a gain of {gain:+.3f}{sure}{told}. Take the pipeline "
            "that is best on average, give more questions, or keep such skills with require_gain=False (--force)."
        )
        self.log_loss, self.means_log_loss, self.gain, self.lower, self.upper = log_loss, means_log_loss, gain, lower, upper
        self.questions = questions


class UnknownOptionError(RagCoverError, TypeError):
    """An option that a backend's factory does not know."""

    def __init__(self, model: str, option: str, known: Collection[str]) -> None:
        super().__init__(
            f"{model!r} takes no option {option!r}.{nearest(option, known)} It takes: {', '.join(sorted(known)) or 'none'}."
        )
        self.model, self.option, self.known = model, option, tuple(sorted(known))


def refuse_unknown_options(name: str, options: Iterable[str], known: Collection[str]) -> None:
    """Refuse an option that is not among those that are known.

    Raises:
        UnknownOptionError: the first that is not.
    """
    for option in options:
        if option not in known:
            raise UnknownOptionError(name, option, known)


class MissingExtraError(RagCoverError, ImportError):
    """A feature whose optional packages are not installed."""

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(
            f"This needs the package {package!r}, which is not installed: pip install 'rag-cover[{extra}]'", name=package
        )
        self.extra, self.package = extra, package


class PluginError(RagCoverError, RuntimeError):
    """A plugin that failed to load, or two that claim the same name."""


class CorruptFileError(RagCoverError, ValueError):
    """A shipped or saved file whose content is not what its checksum or format says."""


class PassageNotFoundError(RagCoverError, LookupError):
    """Passages that a retriever was to remove and does not hold; ``ids`` are theirs."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(f"No passage has the id {_name_some(ids)}. Remove passages by the ids that they were added with.")
        self.ids = tuple(ids)


class DuplicatePassageError(RagCoverError, ValueError):
    """Passages that a retriever was to hold under ids that others of them, or of its own, have; ``ids`` are these."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(
            f"More than one passage would have the id {_name_some(ids)}. Give each passage an id of its own, or remove the old "
            "one before you add one with its id."
        )
        self.ids = tuple(ids)


class StoreError(RagCoverError, OSError):
    """A store that cannot be opened, read or written."""


class OutputExistsError(StoreError):
    """A file that a command would write over without having been told to; ``path`` names it."""

    def __init__(self, path: Path, *, is_read: bool, in_place: bool = False) -> None:
        problem = f"{path} is also read or written by this command" if is_read else f"{path} exists already"
        remedy = (
            "; name another file to write"
            if is_read and not in_place
            else "; name another file to write, or replace it with --force"
        )
        super().__init__(f"{problem}{remedy}")
        self.path, self.is_read = path, is_read


class StoreInUseError(StoreError):
    """A store that another process is writing; ``holder`` says which, in words."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(f"{path} is being written by {holder}; wait for it, or give another store")
        self.path, self.holder = path, holder


class IndexChangedError(StoreError):
    """A kept index that another retriever changed since this one opened it; ``path`` is its folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The index {path} was changed by another retriever after this one opened it; nothing was changed now. Build this "
            "retriever again with all passages that it is to hold, then repeat the change."
        )
        self.path = path


class TextTooLongError(RagCoverError, ValueError):
    """A text of a trace that is too long to ask a model about: ``name`` says which, ``characters`` how long it is."""

    def __init__(self, name: str, characters: int, longest: int) -> None:
        super().__init__(
            f"{name} has {characters:,} characters, more than {longest:,}; cut it, or allow more with longest_text (--max-text)"
        )
        self.name, self.characters, self.longest = name, characters, longest


class ModelFailedError(RagCoverError, RuntimeError):
    """A model that could not answer, after its retries.

    ``kind`` classifies the failure in a word or two; ``raw`` is what the model wrote, where that is the cause.
    """

    def __init__(self, message: str, *, attempts: int = 1, kind: str | None = None, raw: str | None = None) -> None:
        super().__init__(message)
        self.attempts, self.kind, self.raw = attempts, kind or type(self).__name__, raw


class TransientError(ModelFailedError):
    """A failure that may have passed a moment later; ``retry_after_s`` is the server's own wish, where it has one."""

    def __init__(self, message: str, *, kind: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, kind=kind)
        self.retry_after_s = retry_after_s


class MalformedReplyError(ModelFailedError):
    """What a model wrote where something else was asked of it."""

    def __init__(self, message: str, *, raw: str | None = None) -> None:
        super().__init__(message, kind="malformed", raw=raw)


class EvaluationError(RagCoverError, RuntimeError):
    """The failure that stopped an evaluation which was to stop at the first one (``on_error="raise"``)."""


class EngineError(RagCoverError, RuntimeError):
    """An engine cannot do the work: its cluster cannot be reached, or its workers die."""


def _rebuild_error(kind: type[RagCoverError], args: tuple[object, ...], known: Mapping[str, object]) -> RagCoverError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(known)
    return error


_LIKE = 0.6  # the usual bound of a close match
_LISTED = 5
"""Names that an error lists before it counts the rest."""


def nearest(name: str, known: Collection[str]) -> str:
    """Suggest the known name closest to a misspelt one, as a sentence with a leading space; one that it begins comes first.

    >>> nearest("opnai", ["openai", "ray"])
    " Did you mean 'openai'?"
    >>> nearest("core", ["core_coverage", "core_use"])
    " Did you mean 'core_coverage'?"
    >>> nearest("xyz", ["openai"])
    ''
    """
    likeness = {each: SequenceMatcher(None, each, name).ratio() for each in known}
    if name and (begun := [each for each in known if each.startswith(f"{name}_")]):
        likeness[begun[0]] = 1.0
    closest = max(likeness, key=likeness.__getitem__, default="")
    return f" Did you mean {closest!r}?" if likeness.get(closest, 0.0) >= _LIKE else ""


def _name_some(names: Sequence[str]) -> str:
    """List names in words, the first five of them.

    >>> _name_some(["a", "b"]), _name_some(list("abcdefg"))
    ("'a' or 'b'", "'a', 'b', 'c', 'd', 'e' or 2 more")
    """
    shown = [*map(repr, names[:_LISTED]), *([f"{len(names) - _LISTED} more"] if len(names) > _LISTED else [])]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


@contextmanager
def needs_extra(extra: str, *packages: str) -> Iterator[None]:
    """Turn the absence of the named packages, and nothing else, into a sentence that says what to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is not None and missing.name.partition(".")[0] in packages:
            raise MissingExtraError(extra, missing.name.partition(".")[0]) from missing
        raise
