"""The embedded judge as a plugin: offered under the scheme ``embedded``, loaded when first asked for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from rag_cover.argument_checks import refuse_below, without_none
from rag_cover.errors import needs_extra
from rag_cover.hooks import hook
from rag_cover_embedded.devices import DEVICE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rag_cover.backends import Backend
    from rag_cover.questions import Passage
    from rag_cover_embedded.equivalence import AnswerEntailer
    from rag_cover_embedded.judge import EmbeddedJudge
    from rag_cover_embedded.reader import EmbeddedReader
    from rag_cover_embedded.retrieval import EmbeddedRetriever

__all__ = ["backends", "commands"]


@hook
def backends() -> list[Backend]:
    """Offer the embedded judge, and the extractive reader and the hybrid retriever over the same network."""
    from rag_cover.backends import Backend

    return [
        Backend(
            scheme="embedded",
            summary="a 22M-parameter judge, reader and retriever shipped with rag_cover; CPU, offline, deterministic, English",
            entailer=open_entailer,
            scorer=open_judge,
            locator=open_judge,
            relevance=open_judge,
            receiver=open_receiver,
            embedder=open_judge,
            retriever=build_retriever,
            abstention=open_judge,
        )
    ]


@hook
def commands() -> dict[str, str]:
    """Offer ``rag-cover train judge``, ``train entailment`` and ``train replies``."""
    return {
        "train judge": "rag_cover_embedded.command_line:app",
        "train entailment": "rag_cover_embedded.command_line:entailment_app",
        "train replies": "rag_cover_embedded.command_line:replies_app",
    }


def open_judge(
    model: str = "", *, threads: int | None = None, exhaustive: bool = False, device: str | None = None
) -> EmbeddedJudge:
    """Open the shipped judge (``"embedded"``), one that was fitted to labels (``"embedded:mine"``), or a folder of weights.

    ``"embedded:cuda"`` (``cuda:1``, ``mps``) is the shipped judge on a GPU, by torch; ``device`` names one for any judge.
    Opening it again with the same options gives the same object, so that scorer, locator and entailer share one network.
    """
    refuse_below(1, **without_none(threads=threads))
    model, device = _split_device(model, device)
    return _judge(*_place(model), threads, exhaustive, device)


def open_entailer(model: str = "", *, threads: int | None = None, device: str | None = None) -> AnswerEntailer:
    """Open the judge as an entailer that knows two answers to one question when it sees them."""
    judge = open_judge(model, threads=threads, device=device)
    from rag_cover_embedded.equivalence import AnswerEntailer

    return AnswerEntailer(judge)


def open_receiver(model: str = "", *, threads: int | None = None, device: str | None = None) -> EmbeddedReader:
    """Open the extractive reader of the shipped judge (``"embedded"``), or of a folder of weights.

    It is a receiver without prior knowledge (`rag_cover_embedded.reader`). Opening it again gives the same object.
    """
    refuse_below(1, **without_none(threads=threads))
    model, device = _split_device(model, device)
    return _reader(*_place(model), threads, device)


def build_retriever(corpus: Iterable[Passage], index: Path | None = None) -> EmbeddedRetriever:
    """Build the hybrid retriever over passages; ``index`` is the folder where its index is kept, or found."""
    with needs_extra("all", "bm25s", "onnxruntime", "tokenizers"):
        from rag_cover_embedded.retrieval import EmbeddedRetriever
    return EmbeddedRetriever(corpus, index)


def _split_device(model: str, device: str | None) -> tuple[str, str | None]:
    """Take a device of torch for what it is where a judge's name stands."""
    return ("", device or model) if DEVICE.fullmatch(model) else (model, device)


def _place(model: str) -> tuple[Path | None, int]:
    """Return a judge's folder, None for the shipped one, and when its numbers were written: fitted anew, it is another one."""
    if not model:
        return None, 0
    with needs_extra("all", "onnxruntime", "tokenizers"):
        from rag_cover_embedded.named_judges import ABOUT, find_folder
    folder = find_folder(model)
    about = None if folder is None else folder / ABOUT
    return folder, about.stat().st_mtime_ns if about is not None and about.exists() else 0


@cache
def _judge(
    folder: Path | None,
    _written: int,
    threads: int | None,
    exhaustive: bool,  # noqa: FBT001  # a key
    device: str | None,
) -> EmbeddedJudge:
    with needs_extra("all", "onnxruntime", "tokenizers"):
        from rag_cover_embedded.judge import EmbeddedJudge
    return EmbeddedJudge(folder, threads=threads, exhaustive=exhaustive, device=device)


@cache
def _reader(folder: Path | None, _written: int, threads: int | None, device: str | None) -> EmbeddedReader:
    with needs_extra("all", "onnxruntime", "tokenizers"):
        from rag_cover_embedded.reader import EmbeddedReader
    return EmbeddedReader(folder, threads=threads, device=device)
