"""The options that several commands share, said in the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_cover.belief import BeliefKind, Preset, ReferenceSource
from rag_cover.importers import FORMATS
from rag_cover.redaction import Redaction

__all__ = [
    "GATES",
    "INPUT",
    "MEASURING",
    "OUTPUT",
    "AsJson",
    "Columns",
    "DeadlineSeconds",
    "Entailer",
    "FailUnder",
    "FailUnderLower",
    "Format",
    "Judge",
    "Kind",
    "Limit",
    "NoCache",
    "NoReport",
    "NoStore",
    "OnBadLine",
    "Prices",
    "Quiet",
    "Receiver",
    "Redact",
    "RedactKey",
    "References",
    "Report",
    "Resume",
    "Samples",
    "Strict",
    "Weights",
    "Workers",
    "columns_of",
    "redaction_of",
]

INPUT = "What is read"
MEASURING = "What is measured"
OUTPUT = "Where it goes"
GATES = "When it fails"

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel=OUTPUT, show_default=False)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only errors and failed gates.", rich_help_panel=OUTPUT, show_default=False)
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write the HTML report here.", metavar="FILE", rich_help_panel=OUTPUT)
]
Judge = Annotated[
    str,
    typer.Option(
        help="The model that judges; [bold]rag-cover backends[/bold] lists them.", metavar="NAME", rich_help_panel=MEASURING
    ),
]
Receiver = Annotated[
    str | None,
    typer.Option(
        help="The model whose belief tells what retrieval was worth, such as embedded or openai:gpt-4.1-mini; by default the "
        "samples that the traces bring.",
        metavar="NAME",
        rich_help_panel=MEASURING,
    ),
]
Entailer = Annotated[
    str | None,
    typer.Option(
        help="The model that tells what follows from what (groundedness, agreement of answers); by default the judge's own.",
        metavar="NAME",
        rich_help_panel=MEASURING,
    ),
]
References = Annotated[
    ReferenceSource,
    typer.Option(
        help="What is right: the gold answers, or the pipeline's own answer (which is self-consistency).",
        rich_help_panel=MEASURING,
    ),
]
Samples = Annotated[int, typer.Option(help="Answers drawn in each context.", min=1, metavar="N", rich_help_panel=MEASURING)]
Kind = Annotated[
    BeliefKind, typer.Option(help="Agreement by degree, or by clusters of one meaning.", rich_help_panel=MEASURING)
]
Weights = Annotated[
    Preset | None,
    typer.Option(
        help="How samples are weighed; by default official, or unbiased where log-probabilities are missing.",
        rich_help_panel=MEASURING,
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        help="Threads, by default one per two cores; or the workers of another engine.",
        min=1,
        metavar="N",
        rich_help_panel=MEASURING,
    ),
]
DeadlineSeconds = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        help="Ask remote models no longer than this; what is left then fails, and --resume goes on with it.",
        min=0.0,
        metavar="SECONDS",
        rich_help_panel=MEASURING,
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Ask remote models again, even where their answer is kept beside the store.",
        rich_help_panel=MEASURING,
        show_default=False,
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help='What a million tokens of each remote model cost, as JSON: {"gpt-4.1-mini": {"prompt": 0.4, "completion": 1.6}}.',
        metavar="FILE",
        rich_help_panel=OUTPUT,
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Keep no results.", rich_help_panel=OUTPUT, show_default=False)]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on with what the store holds, instead of anew: measure what is missing, and again what failed.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=OUTPUT, show_default=False)]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Replace every text in results and report by its hash; numbers stay. A plain hash of a short text can be guessed.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
RedactKey = Annotated[
    Path | None,
    typer.Option(
        "--redact-key",
        help="The same, hashed with the secret key in this file (HMAC), so that nobody without it can check a guess.",
        metavar="FILE",
        rich_help_panel=OUTPUT,
    ),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under",
        help="Exit with 1 where the figure is below this, such as core_coverage=0.6 or utility=0.1. May be repeated.",
        metavar="METRIC=NUMBER",
        rich_help_panel=GATES,
    ),
]
FailUnderLower = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under-lower",
        help="The same for the lower end of its 95% interval.",
        metavar="METRIC=NUMBER",
        rich_help_panel=GATES,
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit with 4 where a measurement failed.", rich_help_panel=GATES, show_default=False),
]
Limit = Annotated[
    int | None, typer.Option(help="Read only the first so many traces.", min=1, metavar="N", rich_help_panel=INPUT)
]
OnBadLine = Annotated[
    Literal["raise", "skip"],
    typer.Option(help="What to do with a trace that cannot be read: stop, or leave it out and say so.", rich_help_panel=INPUT),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help=f"By default it is detected. There are: {', '.join(FORMATS)}.", metavar="NAME", rich_help_panel=INPUT
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Where a table has other names: FIELD=COLUMN, such as question=Frage. May be repeated.",
        metavar="FIELD=COLUMN",
        rich_help_panel=INPUT,
    ),
]

CorpusColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus-column",
        help="Where passages have other names: FIELD=COLUMN, such as text=body. May be repeated.",
        metavar="FIELD=COLUMN",
        rich_help_panel=INPUT,
    ),
]


def redaction_of(asked: bool, key: Path | None, *, names: Iterable[str] = ()) -> Redaction | None:  # noqa: FBT001  # an option
    """Read ``--redact`` and ``--redact-key``, of which the second implies the first; ``names`` of metadata stay readable.

    >>> redaction_of(False, None), redaction_of(True, None)
    (None, Redaction(names=()))
    """
    if key is not None:
        return Redaction.from_file(key, names=names)
    return Redaction(names=tuple(names)) if asked else None


def columns_of(options: list[str] | None, hint: str = "--column") -> dict[str, str] | None:
    """Read ``--column`` options; ``hint`` names the option where it is another.

    >>> columns_of(["question=Frage", "answer=Antwort a=b"])
    {'question': 'Frage', 'answer': 'Antwort a=b'}
    """
    if not options:
        return None
    pairs = [option.partition("=") for option in options]
    for option, (field, _, column) in zip(options, pairs, strict=True):
        if not field or not column:
            message = f"{option!r} is not FIELD=COLUMN, such as question=Frage"
            raise typer.BadParameter(message, param_hint=hint)
    return {field: column for field, _, column in pairs}
