"""The README's blocks work as they stand: files are written, commands run, code executes, in reading order."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_cover.cli import app

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _run(command: str) -> None:
    result = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
    assert result.exit_code == 0, f"{command}\n{result.output}"


def test_every_block_of_the_page_on_measures_works(source_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}

    for kind, name, body in BLOCK.findall((source_tree / "docs/own_measure.md").read_text()):
        if kind == "python" and (not name or find_spec(name)):
            exec(compile(body, "own_measure.md", "exec"), names)  # noqa: S102  # our own page

    assert "answer length" in Path("own.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_block_of_the_readme_works(source_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("Frage,Antwort\nWhy?,Because.\n")
    names: dict[str, Any] = {}

    blocks = BLOCK.findall((source_tree / "README.md").read_text())

    for kind, name, body in blocks:
        match kind:
            case "jsonl":
                Path(name).write_text(body)
            case "sh":
                for line in body.splitlines():
                    if line.startswith("rag-cover "):
                        _run(line)
            case "python" if not name or find_spec(name):  # a block may name the package that it needs
                exec(compile(body, "README.md", "exec"), names)  # noqa: S102  # our own README
    assert {kind for kind, _, _ in blocks} >= {"jsonl", "sh", "python"}
    assert Path("report.html").exists()
