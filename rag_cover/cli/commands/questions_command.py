"""``rag-cover questions``: a test set made of documents, by rules or by a language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.backends import Failure
from rag_cover.cli.commands.nuggets_command import end_command
from rag_cover.cli.console import busy, say, warn
from rag_cover.cli.exit_codes import ExitCode
from rag_cover.cli.inputs import read_document_folder
from rag_cover.cli.options import (
    OUTPUT,
    Force,
    Prices,
    Quiet,
    RequiredCorpus,
    Strict,
    prices_of,
    prompts_option,
    show_prompts_option,
)
from rag_cover.cli.outputs import refuse_existing
from rag_cover.cli.parameters import expand_options
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.questions import Passage
from rag_cover.registry import build_retriever, open_embedder, open_generator, open_scorer
from rag_cover.reports.text import format_count
from rag_cover.testsets import Shares, Testset, TestsetFormat, TestsetMaker, candidates_by_rules, write_testset
from rag_cover.testsets.generated import SHIPPED_PROMPTS, QuestionWriter, TestsetPrompts
from rag_cover.testsets.generation import QuestionCandidate, is_passed_over

__all__ = ["QuestionsOptions", "make_questions"]

_HOW = "How questions are made"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionsOptions:
    """The options of ``rag-cover questions``."""

    corpus: RequiredCorpus
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file to write.", metavar="OUT", rich_help_panel=OUTPUT, show_default=False)
    ]
    n: Annotated[int, typer.Option("--n", "-n", help="How many questions to make.", min=1, rich_help_panel=_HOW)] = 50
    multi: Annotated[
        float, typer.Option(help="The share of questions that need two passages.", min=0, max=1, rich_help_panel=_HOW)
    ] = 0.2
    unanswerable: Annotated[
        float, typer.Option(help="The share of questions that the corpus does not answer.", min=0, max=1, rich_help_panel=_HOW)
    ] = 0.1
    generator: Annotated[
        str | None,
        typer.Option(
            help="A language model that writes the questions, such as openai:gpt-4.1-mini.",
            metavar="NAME",
            rich_help_panel=_HOW,
            show_default="rules write them",
        ),
    ] = None
    prompts: Annotated[Path | None, prompts_option(_HOW)] = None
    seed: Annotated[int, typer.Option(help="The seed. Another seed gives other questions.", rich_help_panel=_HOW)] = 0
    form: Annotated[
        TestsetFormat, typer.Option("--as", help="The tool for which the file is written.", rich_help_panel=OUTPUT)
    ] = "traces"
    prices: Prices = None
    strict: Strict = False
    force: Force = False
    quiet: Quiet = False
    show_prompts: Annotated[bool, show_prompts_option(SHIPPED_PROMPTS, _HOW)] = False


@dataclass(slots=True)
class _Writer:
    """Who writes candidates: rules, or a model within a run."""

    options: QuestionsOptions
    run: LLMSession = field(default_factory=lambda: LLMSession(None))
    failures: list[Failure] = field(default_factory=list)

    def candidates(self, passages: tuple[Passage, ...]) -> Iterator[QuestionCandidate]:
        seed = self.options.seed
        if self.options.generator is None:
            return candidates_by_rules(passages, seed=seed)
        generator = bind_models({"generator": open_generator(self.options.generator)}, self.run)["generator"]
        prompts = TestsetPrompts.read(self.options.prompts)
        return QuestionWriter(generator, prompts, self.failures).candidates(passages, seed=seed)


@expand_options
def make_questions(options: QuestionsOptions) -> None:
    """Make a test set from documents: questions with the passages that answer them, and some unanswerable questions.

    Rules turn statements of the documents into questions, or a language model writes them (--generator). Unsuitable
    questions are left out, for example if their passage does not answer them, or if another passage answers them as well.
    Questions by rules sound stiff: read OUT before you use it, and delete questions that nobody would ask.

    [bold]Examples[/bold]

      rag-cover questions --corpus docs/ --n 50 --out testset.jsonl

      rag-cover questions --corpus docs/ --out testset.json --as llama-index --multi 0.4 --unanswerable 0
    """
    shares, prices = Shares(options.multi, options.unanswerable), prices_of(options.prices)
    refuse_existing(options.out, force=options.force, inputs=[options.corpus])
    passages, unread = read_document_folder(options.corpus)
    writer = _Writer(options)
    candidates = writer.candidates(passages)
    with busy(f"Indexing {format_count(len(passages), 'passage')}", quiet=options.quiet):
        retriever = build_retriever("embedded", passages)
    with busy("Choosing questions", quiet=options.quiet):
        maker = TestsetMaker(passages, retriever, open_scorer("embedded"), open_embedder("embedded"))
        made = maker.make(candidates, options.n, shares=shares, seed=options.seed)
    if made.questions:
        write_testset(options.out, made.questions, options.form)
    _describe(made, options)
    _name_unasked(made, passages, quiet=options.quiet)
    strict = options.strict
    end_command(
        writer.failures, "passages gave no questions", writer.run, prices, strict=strict, quiet=options.quiet, told=len(unread)
    )


_REASONS = {"answerable": "meant to be unanswerable and answered"}
_NAMED = 5


def _name_unasked(made: Testset, passages: Sequence[Passage], *, quiet: bool) -> None:
    """Name the documents that no question is about, where questions are about some."""
    documents = dict.fromkeys(str(each.metadata["document"]) for each in passages if "document" in each.metadata)
    asked = {each.metadata.get("document") for question in made.questions for each in question.passages}
    passed = [document for document in documents if document not in asked and is_passed_over(document)]
    unasked = [document for document in documents if document not in asked and document not in passed]
    if passed:
        say(f"Change logs, licences and the like are passed over: {_list_names(passed)}.", quiet=quiet)
    if unasked and len(unasked) < len(documents):
        of = format_count(len(documents), "document")
        say(f"No question is about {len(unasked):,} of {of}: {_list_names(unasked)}.", quiet=quiet)


def _list_names(documents: Sequence[str]) -> str:
    return ", ".join(documents[:_NAMED]) + (", …" if len(documents) > _NAMED else "")


def _describe(made: Testset, options: QuestionsOptions) -> None:
    counts = [sum(each.kind == kind for each in made.questions) for kind in ("single", "multi", "unanswerable")]
    kinds = f"{counts[0]} of one passage, {counts[1]} of two, {counts[2]} that the documents do not answer"
    if made.questions:
        say(f"{format_count(len(made.questions), 'question')} written to {options.out}: {kinds}.", quiet=options.quiet)
    reasons = sorted(made.rejected.items(), key=lambda pair: -pair[1])
    left_out = ", ".join(f"{count:,} {_REASONS.get(reason, reason)}" for reason, count in reasons)
    if left_out:
        say(f"Left out: {left_out}.", quiet=options.quiet)
    if not made.questions:
        wanted = "no question that the documents do not answer" if options.unanswerable == 1 else "no question"
        why = "" if made.rejected else ": rules read English sentences, and a small folder has few that fit"
        warn(f"There is {wanted} that could be made, and no file was written{why}; add documents, or try --generator")
        raise typer.Exit(ExitCode.BAD_INPUT)
    if len(made.questions) < options.n:
        warn(
            f"{options.n} were asked for, and the documents gave no more. Rules turn only some kinds of sentences into "
            "questions: add documents, or name a model that writes (--generator)"
        )
