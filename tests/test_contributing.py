"""The worked examples for contributors work as they stand on the page."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pluggy
import pytest
import typer
from typer.testing import CliRunner

from rag_cover import Question, RetrievalStep, Trace, evaluate, hooks, registry
from rag_cover.backends import ScoringItem
from rag_cover.importers import formats, import_traces
from rag_cover.questions import Passage
from rag_cover.registry import Models

_BLOCK = re.compile(r'^```python title="(\w+)\.py"\n(.*?)^```', re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def examples(source_tree: Path) -> dict[str, str]:
    return dict(_BLOCK.findall((source_tree / "CONTRIBUTING.md").read_text(encoding="utf-8")))


def _module(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(code, f"{name}.py", "exec"), module.__dict__)  # noqa: S102  # our own page
    return module


def test_the_backend_of_the_page_judges_by_its_scheme(examples: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = _module("rag_cover_overlap", examples["rag_cover_overlap"], monkeypatch)
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin)
    found = {backend.scheme: backend for several in manager.hook.backends() for backend in several}
    known = {**registry.find_backends(), **found}
    monkeypatch.setattr(registry, "find_backends", lambda: known)
    step = RetrievalStep(id="s", kind="retrieve", query="Why is the sky blue?", passages=(Passage("The sky is blue."),))
    trace = Trace(question=Question("Why is the sky blue?"), steps=(step,), answer="Why not?")

    scorer = registry.open_scorer("overlap:0.5")
    evaluation = evaluate([trace], measures=["coverage"], models=Models(judge="overlap:0.5", locator=None))

    assert scorer.correctness([ScoringItem("is it blue", "it is")]).tolist() == pytest.approx([2 / 3])
    assert evaluation.judge == "overlap:0.5"
    assert evaluation.results[0].coverage is not None


def test_the_command_of_the_page_has_its_own_flag_and_the_shared_ones(
    examples: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = _module("greeting", examples["greeting"], monkeypatch)
    app = typer.Typer()
    app.command()(module.greet)

    greeted = CliRunner().invoke(app, ["Ada", "--loud", "--limit", "3"])
    helped = CliRunner().invoke(app, ["--help"])

    assert greeted.output == "HELLO ADA\n"
    assert all(flag in helped.output for flag in ("--loud", "--limit", "--on-bad-line"))


def test_the_importer_of_the_page_reads_its_rows(
    examples: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notebook = _module("notebook", examples["notebook"], monkeypatch)
    known = formats._Format("notebook exports (JSONL)", notebook.recognises, notebook.traces_of)
    monkeypatch.setattr(formats, "_FORMATS", {"notebook": known, **formats._FORMATS})
    row = {"nb_query": "Why is the sky blue?", "nb_answer": "Scattering.", "nb_documents": ["Air scatters blue light."]}
    (tmp_path / "export.jsonl").write_text(json.dumps(row) + "\n")

    (trace,) = import_traces(tmp_path / "export.jsonl")

    assert (trace.question.text, trace.answer) == ("Why is the sky blue?", "Scattering.")
    assert [passage.text for passage in trace.steps[0].passages] == ["Air scatters blue light."]
