"""``rag-cover label``: a page on this machine on which people label the verdicts of an evaluation."""

from __future__ import annotations

import getpass
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.cli.console import say, warn
from rag_cover.cli.options import INPUT, OUTPUT, Force, Quiet
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.errors import InputError, InvalidValueError, nearest, needs_extra
from rag_cover.evaluation import Evaluation
from rag_cover.labelling import RANDOM_SHARE, LabelSampling, LabelSession, import_labels, list_items
from rag_cover.labelling.merging import LabelMerge
from rag_cover.labelling.tables import explain_unknown, labels_csv, labels_jsonl
from rag_cover.reports.text import format_count
from rag_cover.stores.files import replacing, require_file
from rag_cover.stores.labels import append_labels, cut_torn_line, labels_beside, read_label_file

__all__ = ["LabelOptions", "label_verdicts"]

_PAGE = "The page"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """The options of ``rag-cover label``."""

    store: Annotated[Path, typer.Argument(help="The store of an evaluation.", metavar="STORE", show_default=False)]
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The file of labels (.jsonl). New labels are appended to it.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="STORE.labels.jsonl",
        ),
    ] = None
    annotator: Annotated[
        str | None,
        typer.Option(
            help="The annotator. With --import: the annotator of labels without a name. With --export: write only "
            "the labels of this annotator.",
            metavar="NAME",
            rich_help_panel=INPUT,
            show_default="the user of this machine; --export: everybody",
        ),
    ] = None
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            "--beside",
            help="Another annotator's file of labels, for kappa and disagreements. May be repeated.",
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    other_judge: Annotated[
        Path | None,
        typer.Option(
            "--other-judge",
            help="A store of the same traces with another judge. Verdicts on which the two judges disagree come first.",
            metavar="STORE",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    random_share: Annotated[
        float,
        typer.Option(
            help="The share of verdicts that are drawn at random. The others are chosen because their labels teach most.",
            min=0.0,
            max=1.0,
            metavar="NUMBER",
            rich_help_panel=INPUT,
        ),
    ] = RANDOM_SHARE
    import_file: Annotated[
        Path | None,
        typer.Option(
            "--import",
            help="Add the labels of a CSV or JSONL table to the file of labels, and open no page.",
            metavar="FILE",
            rich_help_panel=INPUT,
            show_default="none",
        ),
    ] = None
    export_file: Annotated[
        Path | None,
        typer.Option(
            "--export",
            help="Write the current labels to a table (.csv, .jsonl), and open no page.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="none",
        ),
    ] = None
    port: Annotated[
        int,
        typer.Option(
            help="The port of the page.", min=0, max=65535, metavar="N", rich_help_panel=_PAGE, show_default="a free one"
        ),
    ] = 0
    no_browser: Annotated[
        bool,
        typer.Option(
            "--no-browser", help="Only print the address, without opening a browser.", rich_help_panel=_PAGE, show_default=False
        ),
    ] = False
    force: Force = False
    quiet: Quiet = False

    @property
    def labels(self) -> Path:
        """Return the file of labels."""
        return self.out or labels_beside(self.store)

    @property
    def name(self) -> str:
        """Return who labels.

        Raises:
            InvalidValueError: the name is blank, or that of the user is not known.
        """
        given = self.annotator
        try:
            name = getpass.getuser() if given is None else given
        except (OSError, KeyError, ImportError):
            name = ""
        if not name.strip():
            message = "the annotator has no name; give one with --annotator NAME"
            raise InvalidValueError(message)
        return name.strip()


@expand_options
def label_verdicts(options: LabelOptions) -> None:
    """Label the verdicts of an evaluation on a local page, with one key for each label.

    Half of the verdicts are drawn at random from those behind the headline, and their labels correct the headline. The
    others are unsure verdicts. Each label is saved before the next verdict appears. Ctrl+C stops the server.

    [bold]Examples[/bold]

      rag-cover label traces-coverage.sqlite

      rag-cover label traces-coverage.sqlite --annotator ada --no-browser

      rag-cover report traces-coverage.sqlite --labels traces-coverage.labels.jsonl
    """
    if options.import_file is not None or options.export_file is not None:
        _move_labels(options)
        return
    evaluation = Evaluation.open(options.store)
    session = _open_session(options, evaluation)
    with needs_extra("label", "starlette", "uvicorn"):
        from rag_cover.labelling.application import LabelService, make_application
        from rag_cover.labelling.server import bind, serve
    service = LabelService(evaluation, session, tuple(options.beside or ()))
    with bind(options.port) as port, suppress(KeyboardInterrupt):  # which is how the page is left
        serve(
            lambda access: make_application(service, access),
            port,
            told=lambda address: _tell(address, session),
            browser=not options.no_browser,
        )
    _tell_end(options, session)


def _open_session(options: LabelOptions, evaluation: Evaluation) -> LabelSession:
    if not options.labels.parent.is_dir():
        problem = "there is no such folder for the file of labels; make it, or name another file with --out"
        raise InputError(problem, file=options.labels.parent)
    for path in options.beside or ():
        require_file(path)
        read_label_file(path)
    others = Evaluation.open(options.other_judge).results if options.other_judge else ()
    items = list_items(evaluation.results, others=others)
    if not items:
        message = f"{options.store} holds no verdicts on texts; measure coverage: rag-cover evaluate … --measure coverage"
        raise InvalidValueError(message)
    plan = LabelSampling(items, random_share=options.random_share, seed=evaluation.seed)
    session = LabelSession(items, options.labels, annotator=options.name, plan=plan)
    if session.torn:
        warn(f"The last line of {session.path} was not written whole; it was cut off. No label that was saved is lost.")
    return session


def _tell(address: str, session: LabelSession) -> None:
    say(f"Labels go to {session.path}. Ctrl+C ends the page.")
    say(f"Label here: {address}")


def _tell_end(options: LabelOptions, session: LabelSession) -> None:
    labels, random, _ = session.counts()
    if not session.path.exists():
        say("No label was given.", quiet=options.quiet)
        return
    next_step = f"rag-cover report {options.store} --labels {session.path}"
    given = f"{format_count(labels, 'label')} of {session.annotator}, {random:,} at random"
    say(f"{given}. Next: {next_step}", quiet=options.quiet)


def _move_labels(options: LabelOptions) -> None:
    """Import labels, export them, or both in this order."""
    if options.export_file is not None and options.export_file.suffix.lower() not in (".csv", ".jsonl"):
        message = f"labels are written as .csv or .jsonl; give {options.export_file} one of these endings"
        raise InvalidValueError(message)
    refuse_existing(options.export_file, force=options.force, inputs=[options.store, options.labels, options.import_file])
    if options.import_file is not None:
        _import(options, options.import_file)
    if options.export_file is not None:
        _export(options, options.export_file)


def _import(options: LabelOptions, table: Path) -> None:
    """Add the labels of a table that the file of labels does not hold yet, and say how many.

    Raises:
        InvalidValueError: the table names other annotators than the one that is given.
    """
    imported = import_labels(table, options.name)
    named = sorted({each.annotator for each in imported if each.annotator})
    if options.annotator is not None and named and options.name not in named:
        message = f"{table} says itself who labelled ({', '.join(named)}): leave --annotator {options.name} out"
        raise InvalidValueError(message)
    unknown, why = explain_unknown(imported, Evaluation.open(options.store).results)
    if unknown:
        verb = "is" if unknown == 1 else "are"
        warn(f"{unknown:,} of {len(imported):,} labels {verb} of no text in {options.store}, and of no use there: {why}.")
    if cut_torn_line(options.labels):
        warn(f"The last line of {options.labels} was not written whole; it was cut off. No label that was saved is lost.")
    merge = LabelMerge.of(read_label_file(options.labels) if options.labels.exists() else (), imported)
    append_labels(options.labels, merge.lines)
    say(_tell_merge(merge, options.labels), quiet=options.quiet)


def _tell_merge(merge: LabelMerge, path: Path) -> str:
    """Say what became of imported labels."""
    others = [
        f"{merge.replaced:,} replaced" if merge.replaced else "",
        f"{merge.held:,} held already" if merge.held else "",
        f"{format_count(merge.repeated, 'row')} {'repeats' if merge.repeated == 1 else 'repeat'} another"
        if merge.repeated
        else "",
        f"{merge.outdated:,} older than what it says now, left out" if merge.outdated else "",
    ]
    return "; ".join(filter(None, [f"{format_count(merge.added, 'label')} added to {path}", *others])) + "."


def _export(options: LabelOptions, table: Path) -> None:
    """Write the labels that stand, all or one annotator's.

    Raises:
        InputError: nothing was labelled yet, or the labels cannot be read.
        InvalidValueError: the annotator that is given gave none.
    """
    if not options.labels.exists():
        message = f"{options.labels} does not exist: nothing was labelled yet. 'rag-cover label {options.store}' opens the page"
        raise InputError(message)
    labels = read_label_file(options.labels)
    if options.annotator is not None and options.import_file is None:
        names = sorted({each.annotator for each in labels if each.annotator})
        labels = tuple(each for each in labels if each.annotator == options.name)
        if not labels:
            message = f"{options.labels} holds no label of {options.name}.{nearest(options.name, names)}"
            raise InvalidValueError(message)
    text = labels_csv(labels) if table.suffix.lower() == ".csv" else labels_jsonl(labels)
    with replacing(table) as file:
        file.write(text.encode())
    say(f"Labels written to {table}.", quiet=options.quiet)
