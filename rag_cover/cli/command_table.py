"""Every command of the package by its name: where it stands in the list, and the module that is imported when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["COMMANDS", "ListedCommand"]


@dataclass(frozen=True, slots=True)
class ListedCommand:
    """A command that is imported when it is called.

    ``target`` is ``"module:function"``, a function that takes its options, or ``"module:app"``, a typer app. ``summary`` is
    what the list of commands shows: the first paragraph of the command's docstring, which a test holds against it.
    """

    name: str
    panel: str
    target: str
    summary: str


def _ours(name: str, panel: str, target: str, summary: str) -> ListedCommand:
    return ListedCommand(name, panel, f"rag_cover.cli.commands.{target}", summary)


_LISTED = (
    _ours(
        "demo",
        "Start here",
        "demo:show_demo",
        "Evaluate and compare two demo pipelines that answer the same twenty questions and lose different things.",
    ),
    _ours(
        "init",
        "Start here",
        "init_command:write_files",
        "Write what a project needs for its first evaluation: a script for the framework that it uses, and rag-cover.toml.",
    ),
    _ours(
        "evaluate",
        "Measure",
        "evaluate_command:evaluate_traces",
        "Measure what answers cover, what they leave out, and where it was lost.",
    ),
    _ours(
        "evaluate-files",
        "Measure",
        "evaluate_files_command:evaluate_many",
        "Measure many traces: cut files into slices, measure the slices in parallel, and write the results in parts.",
    ),
    _ours(
        "utility",
        "Measure",
        "utility:measure_utilities",
        "Measure what each retrieval step was worth: how far it moved a model's belief toward the right answer (ΔSePer).",
    ),
    _ours(
        "complexity",
        "Measure",
        "complexity:describe_questions",
        "Describe how hard questions are for a corpus: does one passage answer them, do several together, or does none?",
    ),
    _ours(
        "compare",
        "Measure",
        "compare_command:compare_pipelines",
        "Compare two pipelines on the questions they share: B against A.",
    ),
    _ours(
        "gate",
        "Measure",
        "gate_command:hold_gate",
        "Compare a candidate with a baseline on the questions that they share, and exit with 1 if it is worse.",
    ),
    _ours(
        "study",
        "Measure",
        "study:study_traces",
        "Study the components of a pipeline: the utility of each setting on the same questions, and the length of its prompts.",
    ),
    _ours(
        "report",
        "Measure",
        "report:report_results",
        "Write the report of an evaluation, as one HTML file that opens offline.",
    ),
    _ours(
        "dashboard",
        "Measure",
        "dashboard:draw_dashboard",
        "Show several evaluations side by side: metrics over time, losses by cause, and the worst questions.",
    ),
    _ours(
        "label",
        "Measure",
        "label:label_verdicts",
        "Label the verdicts of an evaluation on a local page, with one key for each label.",
    ),
    _ours("judge", "Measure", "judge_fit:judge_app", "Check how far a judge can be trusted, and fit a judge to labels."),
    _ours("route", "Route", "route:route_questions", "Choose the route of a question, and print why."),
    _ours(
        "skills", "Route", "skills:skills_app", "Learn which pipeline answers which questions correctly, and show the result."
    ),
    _ours(
        "augment",
        "Retrieve",
        "augment_command:augment_questions",
        "Fetch what is missing: search also for the core sub-questions, and keep the passages that together cover the most.",
    ),
    _ours(
        "set-query",
        "Retrieve",
        "set_query:run_set_query",
        'Find all entities of "A or B but not C": search for each part of the query, and judge the entities that are found.',
    ),
    _ours(
        "convert",
        "Prepare",
        "convert:convert_traces",
        "Convert a file of another tool, or a table, into a trace file (JSON Lines, one trace per line).",
    ),
    _ours(
        "schema",
        "Prepare",
        "schema:print_schema",
        "Print the JSON Schema of a trace: a line of the files that [bold]rag-cover evaluate[/bold] reads.",
    ),
    _ours(
        "questions",
        "Prepare",
        "questions_command:make_questions",
        "Make a test set from documents: questions with the passages that answer them, and some unanswerable questions.",
    ),
    _ours(
        "decompose",
        "Prepare",
        "decompose_command:decompose_questions",
        "Split questions into sub-questions with the roles core, background and follow-up.",
    ),
    _ours(
        "backends",
        "Prepare",
        "backend_list:list_backends",
        "List the model backends that are installed, what each one offers, and the engines that run them.",
    ),
    _ours(
        "nuggets",
        "Prepare",
        "nugget_extraction:nuggets_app",
        "Make nuggets, assign them to answers, and score answers with them.",
    ),
    _ours(
        "mcp",
        "For programs",
        "mcp_command:serve_mcp",
        "Serve evaluate, compare, worst questions and route to a coding agent "
        "(Model Context Protocol, standard input and output).",
    ),
)

COMMANDS: Mapping[str, ListedCommand] = MappingProxyType({each.name: each for each in _LISTED})
"""The commands in the order in which they are listed."""
