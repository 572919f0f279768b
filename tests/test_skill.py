"""The skill for coding agents: its front matter, its length, and its blocks, which work as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_cover.cli import app

SKILL = "skills/rag-cover/SKILL.md"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


def test_the_front_matter_names_and_describes_the_skill(source_tree: Path) -> None:
    text = (source_tree / SKILL).read_text(encoding="utf-8")

    _, front, body = text.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())

    assert fields["name"] == (source_tree / SKILL).parent.name
    assert 50 < len(fields["description"]) < 1024
    assert len(text.splitlines()) <= 120
    assert body.lstrip().startswith("# ")


def test_its_blocks_work(source_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}

    for kind, name, body in BLOCK.findall((source_tree / SKILL).read_text(encoding="utf-8")):
        if kind == "jsonl":
            Path(name).write_text(body)
        elif kind == "sh":
            result = CliRunner().invoke(app, shlex.split(body)[1:])
            assert result.exit_code == 0, result.output
        elif kind == "python" and "_pipeline" not in body:  # those of the frameworks run in their guides
            exec(compile(body, SKILL, "exec"), names)  # noqa: S102  # our own page
