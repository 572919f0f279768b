"""The plugin's own command: ``rag-cover train geneval``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_cover.errors import needs_extra

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def geneval(  # noqa: PLR0913, PLR0917  # one argument an option, given by name
    data: Annotated[Path, typer.Option(help="Training examples, JSON Lines.")],
    validation: Annotated[Path, typer.Option(help="Examples of the same form to check and fit thresholds on.")],
    base: Annotated[str, typer.Option(help="A T5 or BERT checkpoint to start from: a folder, or a name of the hub.")],
    out: Annotated[Path, typer.Option(help="Where the run's state, its log and, at the end, the folder 'model' go.")],
    reading: Annotated[
        Literal["decoder", "first", "mean"] | None,
        typer.Option(
            help="The vector that judges correctness.", show_default="the decoder's where there is one, else the first"
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Optimiser steps at most.")] = 2000,
    learning_rate: Annotated[float, typer.Option(min=0, help="The highest learning rate.")] = 1e-4,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Tokens in a batch, padding included.")] = 8192,
    check_every: Annotated[int, typer.Option(min=1, help="Steps between two checks; each keeps the state.")] = 100,
    patience: Annotated[int, typer.Option(min=1, help="Checks without a better AUROC after which the run ends.")] = 5,
    max_tokens: Annotated[int, typer.Option(min=32, help="The most tokens of one input.")] = 512,
    seed: Annotated[int, typer.Option(min=0, help="Seed of data order, dropout and initial heads.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, …")] = "auto",
) -> None:
    """Train a GenEval judge (answer correctness, token relevance), or go on from the state in OUT; needs 'transformers'.

    A line of DATA: {"question": "Who wrote Emma?", "text": "Jane Austen did.", "correct": true}. It may also have
    "references", a list of accepted answers, and "relevant", a list of the words of the question that the text is about.
    """
    with needs_extra("transformers", "torch", "transformers", "safetensors", "huggingface_hub"):
        from rag_cover_transformers.training.trainer import Plan, train_checkpoint
    plan = Plan(
        reading=reading,
        steps=steps,
        learning_rate=learning_rate,
        batch_tokens=batch_tokens,
        check_every=check_every,
        patience=patience,
        max_tokens=max_tokens,
        seed=seed,
    )
    out.mkdir(parents=True, exist_ok=True)

    def report(numbers: Mapping[str, float]) -> None:
        with (out / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(dict(numbers)) + "\n")
        typer.echo(f"step {numbers['step']}: validation AUROC {numbers['auroc']:.4f}, loss {numbers['correctness']:.4f}")

    model = train_checkpoint(base, data, validation, out, plan, device=device, report=report)
    typer.echo(f"The judge is in {model}; use it with --judge transformers:{model}")
