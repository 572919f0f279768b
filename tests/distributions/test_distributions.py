"""What is published under the frameworks' own names: nothing but their names is theirs."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

NAMES = {
    "langchain-rag-cover": ("langchain_rag_cover", "rag_cover_langchain", "langchain", "langchain_core"),
    "llama-index-evaluation-rag-cover": (
        "llama_index.evaluation.rag_cover",
        "rag_cover_llama_index",
        "llama-index",
        "llama_index.core",
    ),
}


@pytest.fixture(params=sorted(NAMES))
def folder(request: pytest.FixtureRequest, source_tree: Path) -> Path:
    return source_tree / "distributions" / str(request.param)


def read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def test_every_distribution_is_known_here(source_tree: Path) -> None:
    assert {each.name for each in (source_tree / "distributions").iterdir()} == set(NAMES)


def test_their_versions_move_with_that_of_rag_cover(folder: Path, source_tree: Path) -> None:
    version = read(source_tree / "pyproject.toml")["project"]["version"]
    project = read(folder / "pyproject.toml")["project"]
    extra = NAMES[folder.name][2]

    assert project["name"] == folder.name
    assert project["version"] == version
    assert project["dependencies"] == [f"rag-cover[{extra}]=={version}"]
    assert project["requires-python"] == read(source_tree / "pyproject.toml")["project"]["requires-python"]


def test_the_licence_is_that_of_rag_cover(folder: Path, source_tree: Path) -> None:
    assert (folder / "LICENSE").read_bytes() == (source_tree / "LICENSE").read_bytes()


def test_llamahub_is_told_of_classes_that_are_there(source_tree: Path) -> None:
    adapter = pytest.importorskip("rag_cover_llama_index", reason="needs the extra llama-index")
    hub = read(source_tree / "distributions/llama-index-evaluation-rag-cover/pyproject.toml")["tool"]["llamahub"]

    assert hub["import_path"] == "llama_index.evaluation.rag_cover"
    classes = {name for name in adapter.__all__ if isinstance(getattr(adapter, name), type) and not name.endswith("Result")}
    assert set(hub["class_authors"]) == classes


@pytest.mark.slow
def test_a_wheel_and_a_source_distribution_are_built_and_imported(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="needs hatchling")
    imported, adapter, _, framework = NAMES[folder.name]
    pytest.importorskip(framework, reason=f"needs {framework}")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)

    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    files = ZipFile(wheel).namelist()
    path = imported.replace(".", "/")
    code = {name for name in files if ".dist-info/" not in name}
    assert code == {f"{path}/__init__.py", f"{path}/py.typed"}  # and no __init__.py of a namespace
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in files)
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "example.ipynb", "pyproject.toml", f"{path}/py.typed"} <= inside

    same = "all(getattr(ours, name) is getattr(theirs, name) for name in theirs.__all__)"
    script = f"import {imported} as ours, {adapter} as theirs; print({same})"
    with ZipFile(wheel) as archive_of_wheel:  # a namespace has no folder of its own in an archive
        archive_of_wheel.extractall(tmp_path / "installed")  # noqa: S202  # built by this test
    seen = os.pathsep.join([str(tmp_path / "installed"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "PYTHONPATH": seen},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "True\n"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the notebook's own machinery
def test_the_notebook_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    pytest.importorskip(NAMES[folder.name][3], reason="needs the framework")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *sys.path]))
    notebook = nbformat.read(folder / "example.ipynb", as_version=4)

    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()

    shown = "".join(str(output) for cell in notebook.cells for output in cell.get("outputs", ()))
    assert "2/2" in shown
    assert "core sub-questions" in shown


def test_the_saved_notebooks_hold_no_outputs(folder: Path) -> None:
    assert '"outputs": []' in (folder / "example.ipynb").read_text(encoding="utf-8")
    assert '"output_type"' not in (folder / "example.ipynb").read_text(encoding="utf-8")


def test_what_they_are_named_after_is_importable() -> None:
    for _, adapter, _, framework in NAMES.values():
        pytest.importorskip(framework, reason=f"needs {framework}")
        assert importlib.import_module(adapter).__all__
