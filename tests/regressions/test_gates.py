"""Real pipelines of both frameworks are made worse on purpose, and `rag-cover gate` names the cause."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rag_cover.cli import app
from tests.regressions.shop import QUESTIONS, Variant, regressions, unsteady

pytestmark = pytest.mark.slow

Gate = Callable[..., Result]
RUNS = 10  # of each framework


@pytest.fixture(params=[("llama_index.core", "engines"), ("langchain_core", "chains")], ids=["LlamaIndex", "LangChain"])
def gate(request: pytest.FixtureRequest, tmp_path: Path) -> Gate:
    """Hold a variant of a pipeline against the pipeline as it stands; both are recorded into stores."""
    framework, module = request.param
    pytest.importorskip(framework)
    record = import_module(f"tests.regressions.{module}").record

    def hold(variant: Variant, baseline: Variant | None = None) -> Result:
        main, pr = tmp_path / "main.sqlite", tmp_path / "pr.sqlite"
        for store, each in ((main, baseline or Variant()), (pr, variant)):
            store.unlink(missing_ok=True)
            record(QUESTIONS, each, str(store))
        return CliRunner().invoke(app, ["gate", "--baseline", str(main), "--candidate", str(pr)])

    return hold


@pytest.mark.parametrize("regression", regressions)
def test_a_regression_fails_and_the_first_line_names_its_cause(gate: Gate, regression: str) -> None:
    variant, cause = regressions[regression]

    done = gate(variant)

    assert done.exit_code == 1, done.output
    lines = [line for line in done.stderr.splitlines() if line.startswith("Gate failed: Cause: ")]
    assert len(lines) == 1
    assert cause in lines[0].partition("(")[0]


def test_the_same_pipeline_passes(gate: Gate) -> None:
    done = gate(Variant())

    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Gate passed: ")


def test_runs_of_an_unsteady_model_pass_beside_each_other(gate: Gate) -> None:
    done = [gate(unsteady(2 * run), unsteady(2 * run + 1)) for run in range(RUNS)]

    assert [each.exit_code for each in done] == [0] * RUNS, "\n".join(each.output for each in done)
    assert len({each.stdout for each in done}) > 1  # the runs do differ
