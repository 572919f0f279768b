"""The options that say who runs the workers: this process, or an engine that a plugin brings."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rag_cover.cli.options import MEASURING
from rag_cover.engines import Engine
from rag_cover.evaluation.local_engine import open_engine

__all__ = ["Address", "EngineName", "Gpus", "engine_of"]

EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Who runs the workers: local, or an installed engine, such as ray.",
        metavar="NAME",
        rich_help_panel=MEASURING,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="The cluster of the engine: auto for the one that this machine belongs to, or host:port; by default one of this "
        "machine alone.",
        metavar="ADDRESS",
        rich_help_panel=MEASURING,
    ),
]
Gpus = Annotated[
    float | None,
    typer.Option(
        help="GPUs of each worker of the engine, which sees no others; 0.5 puts two workers on each.",
        min=0.0,
        metavar="N",
        rich_help_panel=MEASURING,
    ),
]


def engine_of(name: str, *, workers: int | None, address: str | None, gpus: float | None) -> str | Engine:
    """Open the engine with what was asked of it; the local one has no address and no GPUs of its own.

    >>> engine_of("local", workers=2, address=None, gpus=None)
    'local'
    """
    asked: dict[str, Any] = {"address": address, "gpus": gpus}
    given = {option: value for option, value in asked.items() if value is not None}
    if name == "local":
        for option in given:
            message = "this is for an engine that runs elsewhere; name it, such as --engine ray"
            raise typer.BadParameter(message, param_hint=f"--{option}")
        return name
    return open_engine(name, **given, **({} if workers is None else {"workers": workers}))
