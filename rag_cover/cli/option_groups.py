"""Groups of options that go together, as dataclasses that the commands' own dataclasses compose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_cover.backends import Retriever
from rag_cover.belief import BeliefKind, Preset, ReferenceSource
from rag_cover.cascade.names import SCHEME
from rag_cover.cascade.settings import AUDIT
from rag_cover.cli.console import busy, warn
from rag_cover.cli.inputs import TraceFile, read_document_folder
from rag_cover.cli.options import (
    GATES,
    INPUT,
    MEASURING,
    OUTPUT,
    RETRIEVAL,
    AsJson,
    Columns,
    NoCache,
    OnBadLine,
    Quiet,
    RetrieverName,
    Strict,
    columns_of,
)
from rag_cover.engines import Engine
from rag_cover.evaluation.local_engine import open_engine
from rag_cover.importers import FORMATS
from rag_cover.llm.usage import Price
from rag_cover.redaction import Redaction
from rag_cover.registry import build_retriever
from rag_cover.stores import read_passages

__all__ = [
    "BeliefOptions",
    "CascadeOptions",
    "CorpusOptions",
    "EngineOptions",
    "FileOptions",
    "GateOptions",
    "RedactionOptions",
    "RemoteOptions",
    "ScreenOptions",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """How a file of traces is read."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"The format of the file: {', '.join(FORMATS)}.",
            metavar="NAME",
            rich_help_panel=INPUT,
            show_default="detected",
        ),
    ] = None
    column: Columns = None
    on_bad_line: OnBadLine = "raise"

    def trace_file(self, path: Path, limit: int | None = None, *, user_ids: bool = False) -> TraceFile:
        """Return the file to read so."""
        return TraceFile(path, self.format, columns_of(self.column), self.on_bad_line, limit, user_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOptions:
    """How a corpus is read and indexed."""

    corpus_column: Annotated[
        list[str] | None,
        typer.Option(
            "--corpus-column",
            help="The name of a column of the corpus: FIELD=COLUMN, such as text=body. May be repeated.",
            metavar="FIELD=COLUMN",
            rich_help_panel=INPUT,
            show_default="the usual names",
        ),
    ] = None
    retriever: RetrieverName = "embedded"
    index: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the retriever's index. It is created, or opened and updated.",
            metavar="PATH",
            rich_help_panel=RETRIEVAL,
            show_default="a new index in memory",
        ),
    ] = None

    def open_retriever(self, corpus: Path, *, top_k: int, quiet: bool) -> Retriever:
        """Read the passages, of a file or of a folder of documents, and index them; warn of fewer than ``top_k``.

        Raises:
            InputError: the passages cannot be read.
            RagCoverError: there is no such retriever, or it cannot index them.
        """
        columns = columns_of(self.corpus_column, "--corpus-column")
        passages = read_document_folder(corpus)[0] if corpus.is_dir() else tuple(read_passages(corpus, columns=columns))
        with busy(f"Indexing {len(passages):,} passages", quiet=quiet):
            retriever = build_retriever(self.retriever, passages, index=self.index)
        if (count := len(passages)) < top_k and not quiet:
            them = "its only passage is" if count == 1 else f"all its {count:,} passages are"
            line = f"{corpus} holds fewer than the {top_k} passages asked for (--top-k): {them} judged for each question."
            warn(line)
        return retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefOptions:
    """How a receiver's belief in the right answer is measured."""

    references: Annotated[
        ReferenceSource,
        typer.Option(
            help="The reference answers: the gold answers, or the pipeline's own answer (this measures self-consistency).",
            rich_help_panel=MEASURING,
        ),
    ] = "gold"
    samples: Annotated[
        int, typer.Option(help="The number of answers sampled in each context.", min=1, metavar="N", rich_help_panel=MEASURING)
    ] = 10
    kind: Annotated[
        BeliefKind,
        typer.Option(
            help="How answers are compared: by degree of entailment (soft), or by clusters of equal meaning (hard).",
            rich_help_panel=MEASURING,
        ),
    ] = "soft"
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="The weights of the samples.",
            rich_help_panel=MEASURING,
            show_default="official, or unbiased if log-probabilities are missing",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Who runs the workers: this process, or an engine that a plugin brings."""

    engine: Annotated[
        str,
        typer.Option(
            help="What runs the workers: local, or an installed engine, such as ray.", metavar="NAME", rich_help_panel=MEASURING
        ),
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(
            help="The cluster of the engine: host:port, or auto for the cluster of this machine.",
            metavar="ADDRESS",
            rich_help_panel=MEASURING,
            show_default="a new cluster on this machine",
        ),
    ] = None
    gpus: Annotated[
        float | None,
        typer.Option(
            help="The number of GPUs for each worker. 0.5 puts two workers on each GPU.",
            min=0.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
            show_default="none",
        ),
    ] = None

    def open(self, workers: int | None) -> str | Engine:
        """Open the engine with what was asked of it; the local one has no address and no GPUs of its own.

        >>> EngineOptions().open(2)
        'local'

        Raises:
            BadParameter: an option of another engine is given for the local one.
        """
        asked: dict[str, Any] = {"address": self.address, "gpus": self.gpus}
        given = {option: value for option, value in asked.items() if value is not None}
        if self.engine == "local":
            for option in given:
                message = "this is for an engine that runs elsewhere; name it, such as --engine ray"
                raise typer.BadParameter(message, param_hint=f"--{option}")
            return self.engine
        return open_engine(self.engine, **given, **({} if workers is None else {"workers": workers}))


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOptions:
    """How remote models are asked."""

    no_cache: NoCache = False
    deadline: Annotated[
        float | None,
        typer.Option(
            "--deadline",
            help="Stop asking remote models after this time. The remaining items fail.",
            min=0.0,
            metavar="SECONDS",
            rich_help_panel=MEASURING,
            show_default="none",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOptions:
    """What a cascade of judges may ask of its model, and what it checks."""

    max_calls: Annotated[
        int | None,
        typer.Option(
            "--max-calls",
            help="With a cascade: the largest number of calls of the second judge. It is asked first about the "
            "verdicts that change the headline most.",
            min=0,
            metavar="N",
            rich_help_panel=MEASURING,
            show_default="no limit",
        ),
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            help="With a cascade: the largest cost of these calls, estimated before each call from [bold]--prices[/bold].",
            min=0.0,
            metavar="NUMBER",
            rich_help_panel=MEASURING,
            show_default="no limit",
        ),
    ] = None
    audit: Annotated[
        float | None,
        typer.Option(
            "--audit",
            help="With a cascade: the share of the first judge's sure verdicts that the second judge checks.",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            rich_help_panel=MEASURING,
            show_default=f"{AUDIT:g}",
        ),
    ] = None
    audit_seed: Annotated[
        int | None,
        typer.Option(
            "--audit-seed",
            help="With a cascade: the seed for drawing the verdicts of --audit.",
            metavar="N",
            rich_help_panel=MEASURING,
            show_default="0",
        ),
    ] = None

    def options_for(self, judge: str, prices: Mapping[str, Price]) -> dict[str, Any]:
        """Return the options for the judge of this name; nothing for one that is no cascade.

        >>> CascadeOptions(max_calls=9).options_for("cascade:embedded+openai:small", {})
        {'max_calls': 9}

        Raises:
            BadParameter: an option of a cascade is given for another judge, or a limit of the cost without prices.
        """
        asked = {"max_calls": self.max_calls, "max_cost": self.max_cost, "audit": self.audit, "seed": self.audit_seed}
        given = {name: value for name, value in asked.items() if value is not None}
        if judge.partition(":")[0] != SCHEME:
            for name in given:
                message = f"this is for a cascade of judges, such as --judge {SCHEME}:embedded+openai:MODEL"
                raise typer.BadParameter(message, param_hint=_HINTS.get(name, f"--{name.replace('_', '-')}"))
            return {}
        if self.max_cost is not None and not prices:
            message = "the price of the model is not known; give a table of prices that has it (--prices)"
            raise typer.BadParameter(message, param_hint="--max-cost")
        return given | ({"prices": prices} if prices and given else {})


_HINTS = {"seed": "--audit-seed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionOptions:
    """Whether texts are replaced in what is written."""

    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Replace every text in results and report by its hash. Numbers stay. A short text can be guessed "
            "and checked against its hash.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = False
    redact_key: Annotated[
        Path | None,
        typer.Option(
            "--redact-key",
            help="The same, with the secret key in this file (HMAC). Without the key, nobody can check a guess.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            show_default="none",
        ),
    ] = None

    def read(self, *, names: Iterable[str] = ()) -> Redaction | None:
        """Read the options, of which the second implies the first; ``names`` of metadata stay readable.

        >>> RedactionOptions().read(), RedactionOptions(redact=True).read()
        (None, Redaction(names=()))
        """
        if self.redact_key is not None:
            return Redaction.from_file(self.redact_key, names=names)
        return Redaction(names=tuple(names)) if self.redact else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOptions:
    """What goes to the screen."""

    as_json: AsJson = False
    quiet: Quiet = False

    @property
    def is_silent(self) -> bool:
        """Return whether nothing but a JSON document goes to the screen."""
        return self.quiet or self.as_json


def _gate_option(name: str, text: str) -> Any:
    """Describe an option that holds metrics against numbers."""
    return typer.Option(name, help=text, metavar="METRIC=NUMBER", rich_help_panel=GATES, show_default="no gate")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """When a command that measured fails."""

    fail_under: Annotated[
        list[str] | None,
        _gate_option(
            "--fail-under",
            "Exit with 1 if the metric is below the number, such as core_coverage=0.6 or utility=0.1. May be repeated.",
        ),
    ] = None
    fail_under_lower: Annotated[
        list[str] | None,
        _gate_option("--fail-under-lower", "Exit with 1 if the lower end of the metric's 95% interval is below the number."),
    ] = None
    fail_over: Annotated[
        list[str] | None,
        _gate_option(
            "--fail-over",
            "Exit with 1 if the metric is above the number, for metrics where lower is better, such as "
            "hallucination=0.05. May be repeated.",
        ),
    ] = None
    fail_over_upper: Annotated[
        list[str] | None,
        _gate_option("--fail-over-upper", "Exit with 1 if the upper end of the metric's 95% interval is above the number."),
    ] = None
    strict: Strict = False
