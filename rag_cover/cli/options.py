"""The options that several commands share, each declared once.

A command takes one dataclass of options (see `rag_cover.cli.parameters.expand_options`): options that it alone has, options of
this module, and the groups of `rag_cover.cli.option_groups`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.models import OptionInfo

from rag_cover.known_measures import own_measure_names
from rag_cover.llm.usage import Price, read_prices

__all__ = [
    "GATES",
    "INPUT",
    "MEASURING",
    "OUTPUT",
    "RETRIEVAL",
    "Again",
    "AsJson",
    "Columns",
    "Corpus",
    "Depth",
    "Entailer",
    "FailIfWorse",
    "Force",
    "Judge",
    "LabelTable",
    "Labels",
    "Limit",
    "MaxText",
    "Measures",
    "NoCache",
    "NoReport",
    "NoStore",
    "NuggetsFile",
    "OnBadLine",
    "Prices",
    "QuestionFile",
    "Quiet",
    "Receiver",
    "Report",
    "RequiredCorpus",
    "Resume",
    "RetrieverName",
    "Splitter",
    "StoreFile",
    "Strict",
    "Threshold",
    "TopK",
    "TraceFileArgument",
    "Workers",
    "columns_of",
    "prices_of",
    "prompts_option",
    "show_prompts_option",
]

INPUT = "What is read"
RETRIEVAL = "How passages are retrieved"
MEASURING = "What is measured"
OUTPUT = "Where it goes"
GATES = "When it fails"


def prompts_option(panel: str) -> OptionInfo:
    """Return the option that names a file of instructions to a model, in a panel of the help."""
    option: OptionInfo = typer.Option(
        "--prompts",
        help="A file with your own instructions to the model (see --show-prompts).",
        metavar="FILE",
        rich_help_panel=panel,
        show_default="the shipped ones",
    )
    return option


def show_prompts_option(shipped: Path, panel: str) -> OptionInfo:
    """Return the option that prints the shipped instructions and ends, in a panel of the help."""

    def print_prompts(*, asked: bool) -> None:
        if asked:
            typer.echo(shipped.read_text(encoding="utf-8"), nl=False)
            raise typer.Exit

    option: OptionInfo = typer.Option(
        "--show-prompts",
        callback=print_prompts,
        is_eager=True,
        help="Print the shipped instructions. You can edit them and pass them to --prompts.",
        rich_help_panel=panel,
        show_default=False,
    )
    return option


LabelTable = Annotated[
    Path,
    typer.Option(
        "--labels",
        help="A CSV or JSONL table. Each row has a question, a text and a label (1, 0, or empty).",
        metavar="FILE",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
TraceFileArgument = Annotated[
    Path, typer.Argument(help="A trace file, or a file in any format that 'convert' reads.", metavar="TRACES")
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="The name of a column, if it differs from the field: FIELD=COLUMN, such as question=Frage. May be repeated.",
        metavar="FIELD=COLUMN",
        rich_help_panel=INPUT,
        show_default="the usual names",
    ),
]
OnBadLine = Annotated[
    Literal["raise", "skip"],
    typer.Option(help="What to do with a trace that cannot be read: stop, or skip it with a message.", rich_help_panel=INPUT),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", help="Read only the first N traces.", min=1, metavar="N", rich_help_panel=INPUT, show_default="all"
    ),
]
QuestionFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        help='A file of questions, {"question": "…"} a line, or of traces in any format that \'convert\' reads.',
        metavar="FILE",
        rich_help_panel=INPUT,
        show_default="none",
    ),
]
_CORPUS = typer.Option(
    "--corpus",
    help='The corpus: a JSON Lines file with a passage {"text": "…", "title": "…", "id": "…"} per line, or a folder of texts.',
    metavar="FILE",
    rich_help_panel=INPUT,
    show_default="none",
)
FailIfWorse = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if-worse",
        help="Exit with 1 if this metric is significantly worse in B than in A, such as core_coverage. With a "
        "margin, such as core_coverage=0.05: exit with 1 if B may be worse by more than the margin. May be "
        "repeated.",
        metavar="METRIC[=MARGIN]",
        rich_help_panel=GATES,
        show_default="no gate",
    ),
]
Corpus = Annotated[Path | None, _CORPUS]
RequiredCorpus = Annotated[Path, _CORPUS]
RetrieverName = Annotated[
    str,
    typer.Option("--retriever", help="The retriever that searches the corpus.", metavar="NAME", rich_help_panel=RETRIEVAL),
]
TopK = Annotated[
    int,
    typer.Option(
        "--top-k",
        "-k",
        help="The number of passages to retrieve for each question, or to keep from several searches.",
        min=1,
        metavar="N",
        rich_help_panel=RETRIEVAL,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", help="The number of passages that each search returns.", min=1, metavar="N", rich_help_panel=RETRIEVAL
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        help=f"What to measure: {', '.join(own_measure_names())}, or a plugin's measure. May be repeated.",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="the first four, if the traces have their inputs",
    ),
]
Judge = Annotated[
    str,
    typer.Option(
        help="The model that judges; [bold]rag-cover backends[/bold] lists them.", metavar="NAME", rich_help_panel=MEASURING
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="The probability from which a text counts as covering a sub-question.",
        min=0.0,
        max=1.0,
        metavar="NUMBER",
        rich_help_panel=MEASURING,
        show_default="the judge's own",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="People's labels of the answers. They correct the headline and its interval for the judge's errors.",
        metavar="FILE",
        rich_help_panel=MEASURING,
        show_default="the judge's known errors",
    ),
]
Receiver = Annotated[
    str | None,
    typer.Option(
        help="The model whose belief measures the utility of retrieval, such as embedded or openai:gpt-4.1-mini.",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="the samples in the traces",
    ),
]
Entailer = Annotated[
    str | None,
    typer.Option(
        help="The model that judges entailment (groundedness, agreement of answers).",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="the judge's own",
    ),
]
Splitter = Annotated[
    str | None,
    typer.Option(
        "--generator",
        help="The model that splits questions without sub-questions, and texts into claims (--measure claims).",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="rules split them",
    ),
]
NuggetsFile = Annotated[
    Path | None,
    typer.Option(
        "--nuggets",
        help="Measure on the nuggets of this file instead of the traces' own: one question per line, as written "
        "by [bold]rag-cover nuggets[/bold], nuggetizer or TREC.",
        metavar="FILE",
        rich_help_panel=MEASURING,
        show_default="none",
    ),
]
Again = Annotated[
    bool,
    typer.Option(
        "--again", help="Also make them for questions that already have some.", rich_help_panel=INPUT, show_default=False
    ),
]
MaxText = Annotated[
    int,
    typer.Option(
        "--max-text",
        help="The longest text, in characters. A trace with a longer text is not judged and counts as failed.",
        min=1,
        metavar="N",
        rich_help_panel=MEASURING,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        help="The number of threads, or of workers of another engine.",
        min=1,
        metavar="N",
        rich_help_panel=MEASURING,
        show_default="one per two cores",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Ask remote models again, without cached replies.",
        rich_help_panel=MEASURING,
        show_default=False,
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        help='The price of a million tokens of each remote model, as JSON: {"gpt-4.1-mini": {"prompt": 0.4, '
        '"completion": 1.6}}.',
        metavar="FILE",
        rich_help_panel=OUTPUT,
        show_default="costs are not shown",
    ),
]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="The store (SQLite) for the results.",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        show_default="none",
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Save no results.", rich_help_panel=OUTPUT, show_default=False)]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Continue an earlier run: measure only traces that are missing or failed.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite existing files.", rich_help_panel=OUTPUT, show_default=False),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", help="Write the HTML report here.", metavar="FILE", rich_help_panel=OUTPUT, show_default="no report"
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=OUTPUT, show_default=False)]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print only one JSON document.", rich_help_panel=OUTPUT, show_default=False)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only errors and failed gates.", rich_help_panel=OUTPUT, show_default=False)
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit with 4 if a model failed on any trace, not only if it failed on all of them.",
        rich_help_panel=GATES,
        show_default=False,
    ),
]


def prices_of(path: Path | None) -> Mapping[str, Price]:
    """Read ``--prices``; nothing where it is not given.

    Raises:
        InputError: the table cannot be read.
    """
    return read_prices(path) if path else {}


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
