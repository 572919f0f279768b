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

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


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


def test_every_block_of_the_page_on_claims_works(
    source_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    monkeypatch.chdir(tmp_path)
    Path("traces.jsonl").write_text('{"question": "Why?", "answer": "Because of it [1].", "prompt": ["It is so."]}\n', "utf-8")
    names: dict[str, Any] = {}

    for kind, _, body in BLOCK.findall((source_tree / "docs/claims.md").read_text(encoding="utf-8")):
        match kind:
            case "sh":
                _run(body.strip())
            case "python":
                exec(compile(body, "claims.md", "exec"), names)  # noqa: S102  # our own page

    assert "The Nile ends in the Mediterranean Sea. [2] should be [1]" in capsys.readouterr().out


GUIDES = (
    "first_report",
    "llama_index",
    "langchain",
    "traces",
    "corpus",
    "sub_questions",
    "utility",
    "complexity",
    "skills",
    "augmentation",
    "set_queries",
    "pairwise",
    "gate",
    "pytest",
    "trust",
    "label",
    "dashboard",
    "measures",
    "python",
    "models",
    "scale",
    "redaction",
    "kept_files",
    "peers",
    "notebooks",
    "test_sets",
    "agents",
    "config",  # last, since its file counts in what follows
)
"""In reading order: a guide may use what an earlier one made."""


@pytest.mark.slow
def test_every_block_of_the_guides_and_of_the_readme_works(
    source_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("Frage,Antwort\nWhy?,Because.\n")
    names: dict[str, Any] = {}
    pages = [*(source_tree / f"docs/guides/{guide}.md" for guide in GUIDES), source_tree / "README.md"]

    for page in pages:
        for kind, name, body in BLOCK.findall(page.read_text(encoding="utf-8")):
            match kind:
                case "jsonl" | "toml" if name:
                    Path(name).write_text(body)
                case "sh":
                    for line in body.splitlines():
                        if line.startswith("rag-cover "):
                            _run(line)
                case "python" if not name or find_spec(name):  # a block may name the package that it needs
                    exec(compile(body, page.name, "exec"), names)  # noqa: S102  # our own pages
    assert Path("report.html").exists()
    assert Path("answers-coverage.html").exists()


def test_every_guide_is_in_the_reading_order(source_tree: Path) -> None:
    assert {page.stem for page in (source_tree / "docs/guides").glob("*.md")} == {*GUIDES}


def test_the_readme_is_one_screen_of_each_thing(source_tree: Path) -> None:
    assert len((source_tree / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_every_link_between_pages_leads_somewhere(source_tree: Path) -> None:
    pages = [source_tree / "README.md", source_tree / "CONTRIBUTING.md", *(source_tree / "docs").rglob("*.md")]

    broken = [
        f"{page.relative_to(source_tree)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not target.startswith(("http://", "https://")) and not (page.parent / target).exists()
    ]

    assert broken == []
