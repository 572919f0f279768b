"""What a configuration file may not set: it comes with a checkout, so it sends no texts anywhere, and runs nothing.

A file sets what is measured and how it is shown. Where texts go, which secrets are used, which code runs and what is written
over is said on the command line alone, by whoever runs the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

__all__ = [
    "COMMON_OPTIONS",
    "MODEL_OPTIONS",
    "WRITTEN_OPTIONS",
    "is_named_judge",
    "model_problem",
    "outside_problem",
    "refusal_of",
]

_SENDS = "says where texts are sent"
_SECRET = "is a secret, which does not belong in a file of the project"  # noqa: S105  # nosec B105  # the reason, not one
_CODE = "names code that is run"

_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "address": _SENDS,
        "engine": _SENDS,
        "base_url": _SENDS,
        "url": _SENDS,
        "api_base": _SENDS,
        "endpoint": _SENDS,
        "host": _SENDS,
        "server": _SENDS,
        "uri": _SENDS,
        "webhook": _SENDS,
        "proxy": _SENDS,
        "header": _SENDS,
        "headers": _SENDS,
        "organization": _SENDS,
        "project": _SENDS,
        "api_key": _SECRET,
        "key": _SECRET,
        "token": _SECRET,
        "secret": _SECRET,
        "password": _SECRET,
        "redact_key": _SECRET,
        "plugin": _CODE,
        "plugins": _CODE,
        "plugin_path": _CODE,
        "module": _CODE,
        "base": "names a model that may be fetched from elsewhere",
        "force": "writes over files",
        "write": "lets a server write files",
    }
)
_ENDINGS = ("base_url", "api_key", "url", "token", "secret", "password", "header", "headers", "plugin", "plugins")

MODEL_OPTIONS = frozenset(
    {"judge", "entailer", "receiver", "generator", "embedder", "retriever", "parser", "decompose_with", "llm", "model"}
)
"""Options whose value names a model; the last two are what plugins may call theirs."""

_OF_THE_PACKAGE = ("embedded", "rules")
_OF_FOLDERS = ("embedded", "transformers")

WRITTEN_OPTIONS = frozenset(
    {"out", "store", "report", "into", "index", "baseline", "export", "html", "junit", "markdown", "to_dataset"}
)
"""Options whose value is a path that a command writes."""

COMMON_OPTIONS = frozenset(
    {
        "again",
        "column",
        "corpus",
        "corpus_column",
        "costs",
        "deadline",
        "depth",
        "entailer",
        "fail_if_worse",
        "fail_over",
        "fail_over_upper",
        "fail_under",
        "fail_under_lower",
        "gpus",
        "index",
        "json",
        "judge",
        "limit",
        "max_nuggets",
        "max_text",
        "measure",
        "no_cache",
        "no_report",
        "no_store",
        "nuggets",
        "on_bad_line",
        "preset",
        "prices",
        "prompts",
        "quiet",
        "redact",
        "references",
        "resume",
        "retriever",
        "samples",
        "strict",
        "threshold",
        "top_k",
        "workers",
    }
)
"""Options that mean the same in every command that has them, so that one table can set them for all."""


def refusal_of(key: str) -> str | None:
    """Return why a key may not be set in a file; None where it may.

    >>> refusal_of("openai_api_key")
    'is a secret, which does not belong in a file of the project'
    >>> refusal_of("max_tokens") is None
    True
    """
    if key in _REFUSED:
        return _REFUSED[key]
    ending = next((each for each in _ENDINGS if key.endswith(f"_{each}")), None)
    return _REFUSED[ending] if ending else None


def model_problem(name: str, folder: Path) -> str | None:
    """Return why a model may not be named in a file.

    None for those of the package, for a folder of weights that exists, and for a named judge of `rag-cover judge fit`.

    >>> model_problem("embedded", Path())
    >>> model_problem("openai:gpt-4.1-mini", Path()) is None
    False
    """
    scheme, _, path = name.partition(":")
    if is_named_judge(name, folder):
        return None
    if name in _OF_THE_PACKAGE or (scheme in _OF_FOLDERS and path and (folder / path).is_dir()):
        return None
    if scheme in _OF_FOLDERS and path:
        return f"there is no folder {path!r} beside this file, and a model that is fetched is named on the command line alone"
    return "a model that may send texts elsewhere or run code of others is named on the command line alone"


def is_named_judge(name: str, folder: Path) -> bool:
    """Return whether a model is a fitted judge by its name, rather than by a folder beside the file.

    ``rag-cover judge fit`` keeps it on this machine: nothing is fetched for it, and no code is run.

    >>> is_named_judge("embedded:mine", Path()), is_named_judge("embedded:org/name", Path())
    (True, False)
    """
    scheme, _, judge = name.partition(":")
    if scheme != "embedded" or not judge:
        return False
    from rag_cover.score_fits import JUDGE_NAME  # not at the start of every command

    return bool(JUDGE_NAME.fullmatch(judge)) and not (folder / judge).is_dir()


def outside_problem(paths: Sequence[str], folder: Path) -> str | None:
    """Return which path lies outside of the file's folder, where a file names nothing to write.

    >>> outside_problem(["runs/kept.sqlite"], Path())
    """
    root = folder.resolve()
    outside = next((each for each in paths if not (folder / each).resolve().is_relative_to(root)), None)
    return None if outside is None else f"{outside} is outside of the file's folder; name it on the command line"
