"""The page on nuggets works as it stands: files are written, commands run, also those of a language model, code executes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_cover.cli import app
from rag_cover.stores import read_assignments, read_nuggets

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)


def one_nugget(body: dict[str, Any]) -> str:
    """Write one nugget, call it vital, and find it supported."""
    asked = body["messages"][-1]["content"]
    reply: dict[str, Any] = {"nuggets": [{"text": "Air scatters short waves most", "passages": [1]}]}
    if "how important" in asked:
        reply = {"importance": [{"number": 1, "importance": "vital"}]}
    if "Label each" in asked:
        reply = {"assignments": [{"number": 1, "assignment": "support", "fragment": None}]}
    return json.dumps(reply)


@pytest.mark.slow
def test_every_block_of_the_page_on_nuggets_works(
    server: Any, source_tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
    monkeypatch.chdir(tmp_path)
    server.reply = one_nugget
    names: dict[str, Any] = {}

    blocks = BLOCK.findall((source_tree / "docs/nuggets.md").read_text(encoding="utf-8"))
    for kind, name, body in blocks:
        match kind:
            case "jsonl":
                Path(name).write_text(body, encoding="utf-8")
            case "sh":
                for line in body.splitlines():
                    result = CliRunner().invoke(app, shlex.split(line)[1:])
                    assert result.exit_code == 0, f"{line}\n{result.output}"
            case "python":
                exec(compile(body, "nuggets.md", "exec"), names)  # noqa: S102  # our own page

    assert [kind for kind, _, _ in blocks].count("sh") == 3
    labels = [[str(nugget.assignment) for nugget in each.nuggets] for each in read_assignments("assigned.jsonl")]
    assert labels == [["support", "not_support"], ["not_support", "support"]]
    assert next(read_nuggets("made.jsonl")).nuggets[0].text == "Air scatters short waves most"
