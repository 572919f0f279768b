"""The notebooks of the documentation run offline, and the outputs that are kept in them are whole."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

NAMES = {
    "quickstart": "pandas",
    "llama_index": "llama_index",
    "langchain": "langchain_core",
    "compare_two_pipelines": "rag_cover_embedded",
}


@pytest.fixture(params=NAMES)
def path(request: pytest.FixtureRequest, source_tree: Path) -> Path:
    return source_tree / "docs/notebooks" / f"{request.param}.ipynb"


def _code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_every_notebook_is_tested(source_tree: Path) -> None:
    assert {path.stem for path in (source_tree / "docs/notebooks").glob("*.ipynb")} == set(NAMES)


def test_the_kept_outputs_have_no_error_and_are_not_empty(path: Path) -> None:
    outputs = [output for cell in _code_cells(path) for output in cell["outputs"]]

    assert len(outputs) >= 4
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert all(output.get("data") or output.get("text") for output in outputs)
    assert any("<iframe sandbox" in str(output) for output in outputs)


def test_the_kept_outputs_name_no_folder_of_the_machine(path: Path) -> None:
    assert "/work/" not in path.read_text(encoding="utf-8")
    assert "/home/" not in path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the notebook's own machinery
def test_the_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    pytest.importorskip(NAMES[path.stem], reason="needs what the notebook imports")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    notebook = nbformat.read(path, as_version=4)

    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()

    kinds = [output.output_type for cell in notebook.cells for output in cell.get("outputs", ())]
    assert "display_data" in kinds or "execute_result" in kinds
    assert "error" not in kinds
