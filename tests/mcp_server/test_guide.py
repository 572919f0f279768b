"""The guide for coding agents lists each tool with the arguments that it takes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from rag_cover.cli.mcp_server.tools import Toolbox

_ROW = re.compile(r"^\| `(\w+)` \| ([^|]*) \|", re.MULTILINE)


def test_the_guide_lists_the_arguments_of_each_tool(source_tree: Path) -> None:
    guide = (source_tree / "docs/guides/agents.md").read_text(encoding="utf-8")
    tools = {name: tool for name, tool in inspect.getmembers(Toolbox, inspect.isfunction) if not name.startswith("_")}

    listed = {name: re.findall(r"`(\w+)`", arguments) for name, arguments in _ROW.findall(guide)}

    assert listed == {name: [*inspect.signature(tool).parameters][1:] for name, tool in tools.items()}
