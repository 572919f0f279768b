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
        help="Print the shipped instructions, to be edited and passed to --prompts.",
        rich_help_panel=panel,
        show_default=False,
    )
    return option


LabelTable = Annotated[
    Path,
    typer.Option(
        "--labels",
        help="A CSV or JSONL table with a question, a text and a label (1, 0, or nothing) in each row.",
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
        help="Where a column has another name than the field: FIELD=COLUMN, such as question=Frage. May be repeated.",
        metavar="FIELD=COLUMN",
        rich_help_panel=INPUT,
        show_default="the usual names",
    ),
]
OnBadLine = Annotated[
    Literal["raise", "skip"],
    typer.Option(help="What to do with a trace that cannot be read: stop, or leave it out and say so.", rich_help_panel=INPUT),
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
    help='The passages that can be retrieved: JSON Lines, {"text": "…", "title": "…", "id": "…"} a line, or a folder of texts.',
    metavar="FILE",
    rich_help_panel=INPUT,
    show_default="none",
)
FailIfWorse = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if-worse",
        help="Exit with 1 where this metric of B is worse than that of A and that is hardly chance, such as core_coverage; "
        "with a margin, such as core_coverage=0.05, unless B is shown to be no more than that worse. May be repeated.",
        metavar="METRIC[=MARGIN]",
        rich_help_panel=GATES,
        show_default="no gate",
    ),
]
Corpus = Annotated[Path | None, _CORPUS]
RequiredCorpus = Annotated[Path, _CORPUS]
RetrieverName = Annotated[
    str,
    typer.Option("--retriever", help="What retrieves passages from the corpus.", metavar="NAME", rich_help_panel=RETRIEVAL),
]
TopK = Annotated[
    int,
    typer.Option(
        "--top-k",
        "-k",
        help="Passages for each question: how many are retrieved, or kept of what several searches retrieve.",
        min=1,
        metavar="N",
        rich_help_panel=RETRIEVAL,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option("--depth", help="Passages that each search asks for.", min=1, metavar="N", rich_help_panel=RETRIEVAL),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        help=f"What to measure: {', '.join(own_measure_names())}, or a plugin's measure. May be repeated.",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="the first four, as far as the traces allow",
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
        help="People's labels of the answers: they show what the judge's errors do to a figure.",
        metavar="FILE",
        rich_help_panel=MEASURING,
        show_default="what is known of the judge",
    ),
]
Receiver = Annotated[
    str | None,
    typer.Option(
        help="The model whose belief measures the utility of retrieval, such as embedded or openai:gpt-4.1-mini.",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="the samples that the traces bring",
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
        help="The model that splits questions where traces bring no sub-questions, and texts into claims (--measure claims).",
        metavar="NAME",
        rich_help_panel=MEASURING,
        show_default="rules split them",
    ),
]
NuggetsFile = Annotated[
    Path | None,
    typer.Option(
        "--nuggets",
        help="Measure on the nuggets of this file, not on what traces bring: one question a line, as [bold]rag-cover nuggets"
        "[/bold], nuggetizer and TREC write them.",
        metavar="FILE",
        rich_help_panel=MEASURING,
        show_default="none",
    ),
]
Again = Annotated[
    bool,
    typer.Option("--again", help="Make them also for questions that have some.", rich_help_panel=INPUT, show_default=False),
]
MaxText = Annotated[
    int,
    typer.Option(
        "--max-text",
        help="A trace with a longer text, in characters, is not judged, and counted as failed.",
        min=1,
        metavar="N",
        rich_help_panel=MEASURING,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        help="How many threads work, or how many workers of another engine.",
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
        help="Ask remote models again; use no replies that were kept from earlier runs.",
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
        show_default="costs are not told",
    ),
]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="The store (SQLite) to keep the results in.",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        show_default="none",
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Keep no results.", rich_help_panel=OUTPUT, show_default=False)]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on with the results that are kept: measure what is missing, and again what failed.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Write over files that exist already.", rich_help_panel=OUTPUT, show_default=False),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", help="Write the HTML report here.", metavar="FILE", rich_help_panel=OUTPUT, show_default="no report"
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=OUTPUT, show_default=False)]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel=OUTPUT, show_default=False)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only errors and failed gates.", rich_help_panel=OUTPUT, show_default=False)
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit with 4 where a model failed on anything.", rich_help_panel=GATES, show_default=False),
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
