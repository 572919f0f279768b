"""``rag-cover demo``: two pipelines whose losses are known, evaluated and compared offline."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_cover.augmentation import Augmenter
from rag_cover.backends import Failure
from rag_cover.cli.console import busy, say, screen
from rag_cover.cli.inputs import TraceFile
from rag_cover.cli.json_output import write_page
from rag_cover.cli.options import OUTPUT, Judge, Quiet, RetrieverName
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.run import EvaluationRun
from rag_cover.demo import corpus_path, kept_results_paths, trace_paths
from rag_cover.demo.labelled import read_labelled_answers
from rag_cover.errors import ModelFailedError, StoreError
from rag_cover.evaluation import Evaluation
from rag_cover.evaluation.comparison import compare
from rag_cover.llm.cache import cache_for
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.registry import Models, build_retriever
from rag_cover.reports import before_and_after, write_report
from rag_cover.reports.comparison import comparison_headline
from rag_cover.reports.gains import AugmentedQuestion
from rag_cover.reports.loss_text import loss_advice
from rag_cover.reports.people import LabelComparison, compare_with_labels, people_table
from rag_cover.reports.text import headline, losses_sentence_of
from rag_cover.stores import read_traces
from rag_cover.summaries import Comparison

__all__ = ["DemoOptions", "fetch_for_question", "show_demo"]

_SHOWN = "q07"  # of which judge and labels say the same, sub-question by sub-question: two found before, all after, of four
_KEPT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """The options of ``rag-cover demo``."""

    out: Annotated[Path, typer.Option(help="The folder for results and reports.", metavar="DIR", rich_help_panel=OUTPUT)] = (
        Path("rag-cover-demo")
    )
    judge: Judge = "embedded"
    retriever: RetrieverName = "embedded"
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Judge the answers again, instead of using the verdicts in the package.", show_default=False
        ),
    ] = False
    quiet: Quiet = False


@expand_options
def show_demo(options: DemoOptions) -> None:
    """Evaluate and compare two demo pipelines that answer the same twenty questions and lose different things.

    Then retrieve missing passages for one of the pipelines.

    [bold]Example[/bold]

      rag-cover demo
    """
    out, quiet = options.out, options.quiet
    _make(out)
    _take_kept_results(out, fresh=options.fresh)
    models = Models(judge=options.judge)
    run = partial(EvaluationRun, models=models, resume=True, quiet=quiet, command="rag-cover demo")
    evaluations = [run(TraceFile(path), out / f"{path.stem}.sqlite").evaluate() for path in trace_paths()]
    comparison = compare(*evaluations)
    pages = [out / f"{path.stem}.html" for path in trace_paths()]
    beside = list(map(_compare_with_labels, evaluations))
    for evaluation, people, page in zip(evaluations, beside, pages, strict=True):
        write = partial(write_report, page, evaluation.results, evaluation.summary(), comparison=comparison, people=people)
        write_page(page, write)
    _tell(evaluations, comparison, beside, quiet=quiet)
    if not options.fresh and options.judge == "embedded":
        say("The verdicts on these answers are kept with the package; --fresh judges anew, in half a minute.\n", quiet=quiet)
    if not quiet:
        _tell_fetched(fetch_for_question(options.judge, options.retriever, out))
    _tell_next(pages, quiet=quiet)


def _take_kept_results(folder: Path, *, fresh: bool) -> None:
    """Put the results that are kept with the package into the folder, unless there are some, or all is to be judged now."""
    for kept in kept_results_paths():
        store = folder / kept.name
        if fresh:
            store.unlink(missing_ok=True)
        elif not store.exists():
            shutil.copyfile(kept, store)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as denied:
        message = f"The folder {folder} cannot be made ({denied.strerror}); name another one with --out."
        raise StoreError(message) from denied


def fetch_for_question(judge: str, retriever: str, out: Path) -> AugmentedQuestion:
    """Retrieve passages for one question, then for those of its core sub-questions that they do not cover."""
    trace = next(trace for trace in read_traces(trace_paths()[0]) if trace.question.id == _SHOWN)
    run = LLMSession(cache_for(True, out / "augmented.sqlite"))  # noqa: FBT003  # the parameter says what it is
    with busy("Fetching what is missing", quiet=False):
        models = bind_models(Models(judge=judge).open(["scorer"]), run)
        augmenter = Augmenter(
            retriever=build_retriever(retriever, corpus_path()), scorer=models["scorer"], mode="auto", k=_KEPT
        )
        try:
            return AugmentedQuestion(trace, augmenter.augment(trace.question, sub_questions=trace.sub_questions))
        except ModelFailedError as failed:
            return AugmentedQuestion(trace, Failure.of(failed))


def _tell(evaluations: list[Evaluation], comparison: Comparison, beside: list[LabelComparison], *, quiet: bool) -> None:
    out = screen(quiet=quiet)
    out.print("Two pipelines answered the same questions about heat pumps and insulation.\n")
    for evaluation, name in zip(evaluations, (comparison.name_a, comparison.name_b), strict=True):
        summary = evaluation.summary()
        lost = losses_sentence_of(summary)
        story = [headline(summary).text + ".", lost, loss_advice(summary.losses)]
        out.print(f"{name}: {' '.join(part for part in story if part)}\n")
    out.print(f"{comparison_headline(comparison)}.\n")
    out.print("People labelled these answers, too; the judge never saw their labels.\n")
    out.print(people_table(beside))
    out.print()


def _compare_with_labels(evaluation: Evaluation) -> LabelComparison:
    pipeline = evaluation.summary().pipelines[0]
    return compare_with_labels(
        pipeline, evaluation.results, evaluation.with_labels(read_labelled_answers(pipeline)).known_of_judge
    )


def _tell_fetched(found: AugmentedQuestion) -> None:
    out = screen()
    if isinstance(found.made, Failure):
        say(f"What is missing could not be fetched: {found.made.message}\n")
        return
    searches = found.made.calls - 1
    out.print(
        f"What retrieval misses can be fetched. One of the questions, picked because it gains: what the first {_KEPT} passages "
        f"that it finds cover, and what {_KEPT} cover that are chosen after {searches} more searches.\n"
    )
    out.print(before_and_after([found]))
    say(f"All questions:\n  rag-cover augment {trace_paths()[0]} --corpus {corpus_path()} --mode auto --top-k {_KEPT}\n")


def _tell_next(pages: list[Path], *, quiet: bool) -> None:
    out = screen(quiet=quiet)
    first, second = pages
    out.print(
        f"""\
Open a report in your browser:
  {first}
  {second}

The figures side by side, with the questions that changed:
  rag-cover compare {first.with_suffix(".sqlite")} {second.with_suffix(".sqlite")}

Next, with your own answers, one a line such as {{"question": "…", "answer": "…"}}:
  rag-cover evaluate traces.jsonl
  rag-cover compare before.jsonl after.jsonl
  rag-cover --help"""
    )
