"""What is in the wheel, and what an installed rag_cover tells about itself."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import distribution, entry_points
from pathlib import Path
from zipfile import ZipFile

import pytest

LARGEST_WHEEL = 100_000_000  # what the Python Package Index takes
PACKAGES = {
    "rag_cover": "rag_cover",
    "rag_cover_embedded": "plugins/rag_cover_embedded",
    "rag_cover_transformers": "plugins/rag_cover_transformers",
    "rag_cover_openai": "plugins/rag_cover_openai",
    "rag_cover_ray": "plugins/rag_cover_ray",
    "rag_cover_langchain": "adapters/rag_cover_langchain",
    "rag_cover_llama_index": "adapters/rag_cover_llama_index",
}


@pytest.fixture(scope="module")
def wheel(source_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="needs hatchling (extra dev)")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(build, cwd=source_tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def packed(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_every_package(source_tree: Path, packed: set[str]) -> None:
    files = {
        f"{package}/{path.relative_to(source_tree / folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in (source_tree / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and "texts" not in path.parts
    }

    assert files <= packed


@pytest.mark.slow
def test_the_wheel_holds_no_training_texts_and_their_notices(packed: set[str]) -> None:
    assert not [name for name in packed if "/training/texts/" in name]
    assert any(name.endswith("/NOTICE") for name in packed)


def test_the_wheel_holds_nothing_else(packed: set[str]) -> None:
    tops = {name.partition("/")[0] for name in packed}

    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


@pytest.mark.parametrize(
    "name",
    [
        "rag_cover/demo/corpus.jsonl",
        "rag_cover/demo/labels.jsonl",
        "rag_cover/demo/narrow.jsonl",
        "rag_cover/demo/forgetful.jsonl",
        "rag_cover_embedded/weights/judge.onnx",
        "rag_cover_embedded/weights/entailment.onnx",
        "rag_cover_embedded/weights/replies.onnx",
    ],
)
def test_the_wheel_holds_what_is_read_at_run_time(packed: set[str], name: str) -> None:
    assert name in packed


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_that_it_is_typed(packed: set[str], package: str) -> None:
    assert f"{package}/py.typed" in packed


def test_the_wheel_holds_the_templates_of_the_report(packed: set[str]) -> None:
    assert any(name.startswith("rag_cover/reports/templates/") for name in packed)


def test_the_wheel_holds_the_weights_of_the_embedded_judge(packed: set[str]) -> None:
    assert any(name.startswith("rag_cover_embedded/") and name.endswith(".onnx") for name in packed)


def test_the_wheel_holds_the_licence(packed: set[str]) -> None:
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in packed)


def test_the_wheel_is_small_enough_for_the_index(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST_WHEEL


def test_the_embedded_plugin_is_found_through_its_entry_point() -> None:
    (embedded,) = entry_points(group="rag_cover", name="embedded")

    assert embedded.load().__name__ == "rag_cover_embedded"


def test_the_openai_plugin_is_found_through_its_entry_point_without_its_extra() -> None:
    (openai,) = entry_points(group="rag_cover", name="openai")

    assert openai.load().__name__ == "rag_cover_openai"


def test_the_command_is_installed() -> None:
    (command,) = entry_points(group="console_scripts", name="rag-cover")

    assert callable(command.load())


def test_the_version_is_the_one_in_pyproject(source_tree: Path) -> None:
    project = tomllib.loads((source_tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert distribution("rag-cover").version == project["version"]


def test_every_pin_is_exact_and_allowed_by_the_ranges(source_tree: Path) -> None:
    requirements = pytest.importorskip("packaging.requirements")
    pins = {
        requirement.name.lower(): requirement
        for line in (source_tree / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
        for requirement in [requirements.Requirement(line)]
    }
    project = tomllib.loads((source_tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [requirements.Requirement(text) for group in [project["dependencies"], *extras.values()] for text in group]

    for requirement in asked:
        if requirement.name != "rag-cover":
            (pin,) = pins[requirement.name.lower()].specifier
            assert pin.operator == "=="
            assert requirement.specifier.contains(pin.version), requirement
