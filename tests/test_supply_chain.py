"""What SECURITY.md promises has tests; a release's tools have hashes; the audit fails closed; a bill of materials is whole."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest


def _script(root: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"ci_{name}", root / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_promise_names_a_test_that_exists(source_tree: Path) -> None:
    lines = (source_tree / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("|").rsplit("|", 1) for line in lines if line.startswith("| ") and "held by" not in line]

    assert len(rows) >= 10
    for promise, held_by in rows:
        named = [each for each in re.findall(r"`([^`]+)`", held_by) if each.startswith("tests")]
        assert named, promise
        for each in named:
            path = source_tree / each
            files = [path] if path.is_file() else list(path.glob("**/test_*.py"))
            assert any("def test_" in file.read_text(encoding="utf-8") for file in files), each


def test_everything_that_a_release_is_made_with_has_hashes(source_tree: Path) -> None:
    text = (source_tree / ".ci/requirements-release.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    wanted = re.findall(
        r"^[a-z][\w-]+$", (source_tree / ".ci/requirements-release.in").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert {entry.partition("==")[0] for entry in entries} >= set(wanted)
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def _pins(text: str) -> dict[str, str]:
    return {
        re.sub(r"[-_.]+", "-", name).lower(): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    }


def test_the_hashed_packages_of_the_tests_are_the_pinned_ones(source_tree: Path) -> None:
    text = (source_tree / ".ci/requirements-dev.txt").read_text(encoding="utf-8")
    pinned = _pins((source_tree / "constraints.txt").read_text(encoding="utf-8"))
    hashed = _pins(text)
    elsewhere = {"appnope", "pywin32", "httpx2-jsfetch"}  # for systems that no pin was made on

    assert {name: version for name, version in hashed.items() if pinned.get(name) != version and name not in elsewhere} == {}
    assert {"pytest", "llama-index-core", "langchain-core", "ray", "numpy"} <= set(hashed)
    assert "torch" not in hashed
    assert [entry for entry in re.split(r"\n(?=\S)", text.strip()) if "--hash=sha256:" not in entry] == []
    assert re.search(r"\w://|--\w*-?index|--find-links", text) is None


def test_every_requirement_of_the_tests_is_hashed(source_tree: Path) -> None:
    project = tomllib.loads((source_tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    folded = re.findall(r"[\w-]+", re.findall(r"\[(.*)\]", extras["all"][0])[0])
    wanted = [
        *project["dependencies"],
        *extras["dev"],
        *extras["all"],
        *extras["ray"],
        *(each for name in folded for each in extras[name]),
    ]

    named = {re.match(r"[\w.-]+", each).group().lower() for each in wanted}  # type: ignore[union-attr]

    assert named - {"rag-cover"} <= set(_pins((source_tree / ".ci/requirements-dev.txt").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("code", "said", "ended", "words"),
    [
        (0, "", 0, "by hash"),
        (
            1,
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n    a==1 ...",
            1,
            "not the one that was pinned",
        ),
        (
            1,
            "ERROR: Hashes are required in --require-hashes mode, but they are missing\n    a==1",
            1,
            "not the one that was pinned",
        ),
        (1, "ERROR: No matching distribution found for a==1", 3, "Not checked: a==1 cannot be installed from this index"),
        (1, "ERROR: Read timed out.", 3, "Not checked: ERROR: Read timed out."),
        (1, "", 3, "Not checked"),
    ],
)
def test_another_file_than_was_pinned_fails_and_an_absent_one_is_told(
    source_tree: Path, capsys: pytest.CaptureFixture[str], code: int, said: str, ended: int, words: str
) -> None:
    assert _script(source_tree, "hashed_pins").judge(code, said) == ended
    assert words in capsys.readouterr().out


def _audited(**package: object) -> str:
    return json.dumps({"dependencies": [{"name": "a", "version": "1", **package}]})


@pytest.mark.parametrize(
    ("output", "said", "code", "words"),
    [
        (_audited(vulns=[]), "", 0, "1 of 1 pinned packages were audited"),
        (_audited(vulns=[{"id": "CVE-1"}]), "Found 1 known vulnerability", 1, "a 1: CVE-1"),
        (_audited(skip_reason="not found"), "", 0, "Not checked"),
        ("", "Could not connect to the service", 0, "Not checked"),
        ("", "KeyError: 'vulns'", 1, "The audit failed"),
        ("<html>", "", 1, "The audit failed"),
    ],
)
def test_an_audit_fails_closed_where_it_has_a_service(
    source_tree: Path, capsys: pytest.CaptureFixture[str], output: str, said: str, code: int, words: str
) -> None:
    assert _script(source_tree, "audit").judge(output, said) == code
    assert words in capsys.readouterr().out


def test_a_bill_of_materials_without_a_base_dependency_is_refused(source_tree: Path) -> None:
    bom = _script(source_tree, "bom")
    listed = [{"name": name.replace("-", "_"), "version": "1"} for name in sorted(bom.required())]
    whole = {"bomFormat": "CycloneDX", "components": listed}

    assert bom.missing_from(json.dumps(whole)) == set()
    assert bom.missing_from(json.dumps({**whole, "components": listed[1:]})) == {bom.normalise(listed[0]["name"])}
    assert bom.missing_from(json.dumps({"components": listed})) == bom.required()
