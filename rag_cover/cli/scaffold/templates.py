"""The files that ``rag-cover init`` writes, as texts."""

from __future__ import annotations

import shlex

from rag_cover.cli.scaffold.project import FRAMEWORKS, Project
from rag_cover.cli.scaffold.sources import EngineObject

__all__ = ["REPORT", "SCRIPT", "TRACES", "answers_script", "config_text", "pipeline_script", "workflow_text"]

SCRIPT = "rag_cover_check.py"
TRACES = "rag_cover_traces.jsonl"
REPORT = "rag_cover_check.html"

_PIPELINE = '''\
"""Ask the pipeline some questions, and see what its answers leave out: python {script}"""

from {adapter} import evaluate_pipeline

from rag_cover import write_traces

QUESTIONS = []  # <<< YOUR QUESTIONS: texts, or in place of the list the path of a file of them


def load_pipeline():
{load}


if __name__ == "__main__":
    if not QUESTIONS:
        raise SystemExit("{script}: there are no questions yet; write some of your users' into QUESTIONS")
    evaluation = evaluate_pipeline(load_pipeline(), QUESTIONS)
    write_traces("{traces}", [result.trace for result in evaluation.results])
    evaluation.to_html("{report}")
{ending}'''

_ANSWERS = '''\
"""See what the answers of a file leave out: python {script}"""

from pathlib import Path

from rag_cover import evaluate

ANSWERS = "{answers}"  # <<< YOUR FILE: a line of JSON for each answer, {{"question": "…", "answer": "…", "steps": [...]}}

if __name__ == "__main__":
    if not Path(ANSWERS).is_file():
        raise SystemExit(f"{script}: there is no file {{ANSWERS}} yet; name the file of your answers in ANSWERS")
    evaluation = evaluate(ANSWERS)
    evaluation.to_html("{report}")
{ending}'''

_ENDING = """\
    metrics = evaluation.summary().metrics
    for name in ("core_coverage", "core_retrieved", "groundedness"):
        if name in metrics and (interval := metrics[name].interval):
            print(f"{{metrics[name].label}}: {{interval.estimate:.0%}} of {{interval.n}} questions")
    print("Report: {report}")
"""

_FOUND = """\
    from {module} import {name}  # <<< YOUR {kind}: what answers questions

    return {expression}"""

_PLACEHOLDER = """\
    # <<< YOUR {kind}: import it and return it in place of the next line, such as
    # from app import {example}; return {example}
    raise SystemExit("{script}: there is no {lower} yet; import yours in load_pipeline() and return it")"""

_WORDS = {"llama-index": ("ENGINE", "query_engine"), "langchain": ("CHAIN", "chain")}

_CONFIG = """\
# Defaults of the options of rag-cover. An option on the command line wins; 'rag-cover COMMAND --help' lists them.
# A file like this may not say where texts are sent: a model behind an API is named on the command line.

[common]
judge = "embedded"

[evaluate]
# After the first run, set a floor under what it found; below it 'rag-cover evaluate' exits with 1:
# fail_under = {{ core_coverage = 0.6 }}
resume = true  # answers that are judged already are not judged again
"""

_WORKFLOW = """\
# Evaluates the answers on every pull request; rag-cover.toml holds the floor below which the build fails.
name: rag-cover
on: [pull_request]
permissions:
  contents: read
jobs:
  rag-cover:
    runs-on: ubuntu-latest
    timeout-minutes: 30{folder}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {{ python-version: "3.11" }}
{steps}
      - uses: actions/upload-artifact@v4
        if: always()
        with: {{ name: rag-cover, path: "{prefix}{report}" }}
"""


def pipeline_script(framework: str, engine: EngineObject | None) -> str:
    """Return the script that asks a pipeline; where no engine is known, it ends with a sentence until one is put in."""
    kind, example = _WORDS[framework]
    load = (
        _PLACEHOLDER.format(kind=kind, example=example, script=SCRIPT, lower=kind.lower())
        if engine is None
        else _FOUND.format(module=engine.module, name=engine.name, kind=kind, expression=engine.expression)
    )
    ending, adapter = _ENDING.format(report=REPORT), FRAMEWORKS[framework].adapter
    return _PIPELINE.format(adapter=adapter, load=load, ending=ending, script=SCRIPT, traces=TRACES, report=REPORT)


def answers_script(answers: str | None) -> str:
    """Return the script that evaluates a file of answers."""
    name = (answers or "answers.jsonl").replace("\\", "\\\\").replace('"', '\\"')
    return _ANSWERS.format(answers=name, script=SCRIPT, report=REPORT, ending=_ENDING.format(report=REPORT))


def config_text() -> str:
    """Return the configuration file."""
    return _CONFIG.format()


def workflow_text(project: Project, framework: str, folder: str) -> str:
    """Return the workflow of GitHub; ``folder`` is where the project is in its repository, ``""`` at its root."""
    asked = framework in FRAMEWORKS
    package = f"rag-cover[{FRAMEWORKS[framework].extra}]" if asked else "rag-cover"
    installed = {"requirements.txt": "-r requirements.txt ", None: ""}.get(project.requirements, ". ")
    runs = [f"pip install {installed}'{package}'"]
    if asked:
        runs.append(f"python {SCRIPT}  # a key that your models need: env: {{ NAME: ${{{{ secrets.NAME }}}} }}")
    evaluated, report = (TRACES, "--no-report") if asked else (project.answers or "answers.jsonl", f"--report {REPORT}")
    runs.append(f"rag-cover evaluate {shlex.quote(evaluated)} --resume {report}")
    steps = "\n".join(f"      - run: {each}" for each in runs)
    defaults = f'\n    defaults: {{ run: {{ working-directory: "{folder}" }} }}' if folder else ""
    prefix = f"{folder}/" if folder else ""
    return _WORKFLOW.format(steps=steps, folder=defaults, prefix=prefix, report=REPORT)
