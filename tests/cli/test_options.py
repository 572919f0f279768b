"""What holds of every command and option: short functions, help with type and default, one meaning for each flag."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import rag_cover.cli
from rag_cover.cli.help_texts import tidy_help
from rag_cover.cli.option_groups import ScreenOptions
from rag_cover.cli.options import Judge, Report
from rag_cover.cli.parameters import DefaultText, expand_options
from rag_cover.registry import find_commands

LONGEST_FUNCTION = 60
FUNCTIONS = {
    f"{path.stem}.{node.name}": (node.end_lineno or 0) - node.lineno + 1
    for path in Path(rag_cover.cli.__file__).parent.rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.FunctionDef)
}
DIFFERENT = {
    "--as": "the tools that read the file are the command's own",
    "--baseline": "augment: a file; study: a setting",
    "--embedder": "decompose: what tells sub-questions alike; skills, route: what skills are learnt from",
    "--format": "the input's; evaluate-files: the results'",
    "--generator": "it writes what the command needs: sub-questions, answers, verdicts on pairs",
    "--kind": "complexity: of question; utility, study: of agreement",
    "--labels": "judge check: what the judge is held against, always needed; elsewhere of the evaluated answers",
    "--max-calls": "augment: searches; evaluate: calls of a cascade's model",
    "--out": "what is written is the command's own",
    "--receiver": "augment: reads answers, and tells no belief unless --utility asks",
    "--show": "what is listed, and in which order, is the command's own",
    "--store": "where results are kept; skills fit: where they are read from",
    "--sub-questions": "evaluate: a file; compare: which questions are compared",
}
"""Flags that say something else in different commands, each with why."""


def commands_in(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    members = getattr(command, "commands", None)
    if members is None:
        yield name, command
    for word, member in (members or {}).items():
        yield from commands_in(member, f"{name} {word}".strip())


def options_of(command: Any) -> list[Any]:
    context: Any = typer.Context(command, help_option_names=["-h", "--help"])
    return [parameter for parameter in command.get_params(context) if parameter.param_type_name == "option"]


OURS = dict(commands_in(get_command(rag_cover.cli.app), ""))
PLUGINS = {
    name: tidy_help(get_command(getattr(import_module(target.partition(":")[0]), target.partition(":")[2])))
    for name, target in find_commands().items()
    if target.startswith("rag_cover_")
}
each_command = pytest.mark.parametrize("name", [*OURS, *PLUGINS])


def test_a_function_of_the_command_line_is_short() -> None:
    assert {function: lines for function, lines in FUNCTIONS.items() if lines > LONGEST_FUNCTION} == {}


@each_command
def test_every_option_says_what_it_is_of_which_type_and_its_default(name: str) -> None:
    for option in options_of((OURS | PLUGINS)[name]):
        assert option.help, option.opts
        if option.is_flag:
            assert option.metavar == "", option.opts
        else:
            shown = isinstance(option.show_default, str) or (option.show_default and option.default is not None)
            assert shown or option.required, f"{option.opts} shows no default"


@each_command
def test_the_help_shows_types_and_defaults_but_no_type_for_flags(command: Callable[..., Any], name: str) -> None:
    shown = command(*name.split(), "--help").stdout

    assert "<bool>" not in shown
    assert "BOOLEAN" not in shown
    for option in options_of((OURS | PLUGINS)[name]):
        assert max(option.opts, key=len) in shown


def test_a_flag_means_the_same_in_every_command() -> None:
    meanings = defaultdict(set)
    for command in OURS.values():
        for option in options_of(command):
            meanings[max(option.opts, key=len)].add((option.help, option.metavar, str(option.type_descriptor.annotation)))

    assert {flag for flag, said in meanings.items() if len(said) > 1} == set(DIFFERENT)


def test_a_short_form_stands_for_one_flag() -> None:
    flags = defaultdict(set)
    for command in OURS.values():
        for option in options_of(command):
            for short in option.opts:
                flags[short].add(max(option.opts, key=len))

    assert all(len(long) == 1 for long in flags.values()), flags


@dataclass(frozen=True, slots=True, kw_only=True)
class GreetOptions:
    who: Annotated[str, typer.Argument(help="Who is greeted.")]
    judge: Judge = "embedded"
    screen: ScreenOptions
    report: Annotated[Report, DefaultText("WHO.html")] = None


def test_a_plugin_s_command_can_take_the_options_that_exist() -> None:
    app = typer.Typer()

    @app.command()
    @expand_options
    def greet(options: GreetOptions) -> None:
        """Greet."""
        typer.echo(f"{options.who} {options.judge} {options.screen.quiet}")

    done = CliRunner().invoke(app, ["Ada", "--quiet"])
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).stdout
    assert done.stdout == "Ada embedded True\n"
    assert "[default: (WHO.html)]" in shown
    assert "[default: embedded]" in shown


def test_a_command_takes_one_dataclass_without_repeated_names() -> None:
    @dataclass(frozen=True)
    class Repeated:
        quiet: Annotated[bool, typer.Option()]
        screen: ScreenOptions

    def repeats(options: Repeated) -> None: ...
    def takes_two(a: GreetOptions, b: GreetOptions) -> None: ...

    repeats.__annotations__["options"] = Repeated  # which is local
    with pytest.raises(TypeError, match="two options called quiet"):
        expand_options(repeats)
    with pytest.raises(TypeError, match="one dataclass of options"):
        expand_options(takes_two)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["evalute"], "Error: No such command 'evalute'. Did you mean 'evaluate'"),
        (["evaluate"], "Error: TRACES is missing; it has to be given. See 'rag-cover evaluate --help'."),
        (["evaluate", "t.jsonl", "--wrong"], "Error: No such option: --wrong"),
        (["evaluate", "t.jsonl", "--limit", "0"], "Error: --limit: should be greater than or equal to 1."),
        (["evaluate", "t.jsonl", "--on-bad-line", "stop"], "Error: --on-bad-line: 'stop' is not one of 'raise', 'skip'."),
        (["compare", "t.jsonl"], "Error: FILES: a comparison takes two files; give another one. See"),
        (["train", "geneval", "--steps", "many"], "Error: --steps: should be a valid integer"),
    ],
)
def test_wrong_usage_is_one_line_in_the_style_of_other_errors(command: Callable[..., Any], words: list[str], said: str) -> None:
    done = command(*words)

    assert done.exit_code == 2
    assert done.stderr.startswith(said), done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
