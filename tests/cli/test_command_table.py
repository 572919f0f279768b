"""The list of commands says of each what the command says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from typer.main import get_command

from rag_cover.cli import app
from rag_cover.cli.command_table import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_shows_the_first_paragraph_of_the_command_s_help(name: str) -> None:
    loaded: Any = get_command(app)

    assert COMMANDS[name].summary == loaded.commands[name].help.partition("\n\n")[0]


def test_the_list_names_every_command_in_its_panel(command: Callable[..., Any]) -> None:
    shown = command("--help").stdout

    for listed in COMMANDS.values():
        assert f"│ {listed.name} " in shown
        assert f"─ {listed.panel} ─" in shown


def test_a_command_of_a_group_is_found_by_both_words(command: Callable[..., Any]) -> None:
    assert "rag-cover nuggets extract" in command("nuggets", "extract", "--help").stdout
