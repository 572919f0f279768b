"""``rag-cover init``: the files that a project needs for its first evaluation, written for the framework that it uses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_cover.cli.config_file import CONFIG_NAME, find_config
from rag_cover.cli.console import say, warn
from rag_cover.cli.options import INPUT, OUTPUT, Quiet
from rag_cover.cli.parameters import expand_options
from rag_cover.cli.scaffold.project import FRAMEWORKS, FrameworkUse, Project, inspect_project
from rag_cover.cli.scaffold.sources import EngineObject
from rag_cover.cli.scaffold.templates import (
    SCRIPT,
    TRACES,
    answers_script,
    config_text,
    pipeline_script,
    workflow_text,
)
from rag_cover.errors import InputError, StoreError

__all__ = ["InitOptions", "write_files"]

_WORKFLOW = Path(".github/workflows/rag-cover.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """The options of ``rag-cover init``."""

    folder: Annotated[Path, typer.Argument(help="The folder of the project.", metavar="FOLDER")] = Path()
    framework: Annotated[
        Literal["auto", "llama-index", "langchain", "jsonl"],
        typer.Option(
            help="The framework of the script. auto: the framework that the project declares, imports or has installed.",
            rich_help_panel=INPUT,
        ),
    ] = "auto"
    github: Annotated[
        bool,
        typer.Option(
            "--github",
            help="Also write a GitHub workflow that evaluates every pull request.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the files instead of writing them.", rich_help_panel=OUTPUT, show_default=False),
    ] = False
    quiet: Quiet = False


@dataclass(frozen=True, slots=True)
class _Planned:
    path: Path
    text: str


@expand_options
def write_files(options: InitOptions) -> None:
    """Write what a project needs for its first evaluation: a script for the framework that it uses, and rag-cover.toml.

    The script sends your questions to your engine or chain, or reads a file of answers. Edit the two lines that are marked
    <<<. Existing files stay unchanged.

    [bold]Examples[/bold]

      rag-cover init --dry-run

      rag-cover init --github

      rag-cover init services/search --framework langchain
    """
    folder = options.folder
    _refuse_no_folder(folder)
    project = inspect_project(folder)
    name = _choose_framework(project, options.framework)
    planned = _plan(project, name, options)
    if options.dry_run:
        _show(planned)
        return
    _explain_choice(project, name, quiet=options.quiet)
    written = [_write(each, quiet=options.quiet) for each in planned]
    if any(written):
        _explain_next(project, name, folder, quiet=options.quiet)


def _refuse_no_folder(folder: Path) -> None:
    if not folder.exists():
        problem = "there is no such folder; make it, or name another"
        raise InputError(problem, file=folder)
    if not folder.is_dir():
        problem = "this is a file; name the folder of the project"
        raise InputError(problem, file=folder)


def _choose_framework(project: Project, asked: str) -> str:
    name = project.choose() if asked == "auto" else asked
    if name is None:
        seen = "; ".join(f"{use.framework.title}: {use.evidence}" for use in project.uses.values())
        message = f"the project uses both frameworks ({seen}); say which one answers questions, such as --framework langchain"
        raise typer.BadParameter(message, param_hint="--framework")
    return name


def _plan(project: Project, name: str, options: InitOptions) -> list[_Planned]:
    folder = project.folder
    script = pipeline_script(name, _only(project.uses[name])) if name in FRAMEWORKS else answers_script(project.answers)
    planned = [_Planned(folder / SCRIPT, script)]
    config = find_config(folder)
    if config is None or config.path == folder / CONFIG_NAME:
        planned.append(_Planned(folder / CONFIG_NAME, config_text()))
    elif not options.quiet:
        warn(f"{os.path.relpath(config.path)} has the options already, so that no {CONFIG_NAME} is written.")
    if options.github:
        root = _repository_of(folder)
        inside = "" if root == folder else folder.resolve().relative_to(root.resolve()).as_posix()
        planned.append(_Planned(root / _WORKFLOW, workflow_text(project, name, inside)))
    return planned


def _only(use: FrameworkUse) -> EngineObject | None:
    return use.engines[0] if len(use.engines) == 1 else None


def _repository_of(folder: Path) -> Path:
    """Return the root of the repository, the only place where GitHub reads workflows; the folder where there is none."""
    if (folder / ".git").exists():
        return folder
    root = next((each for each in folder.resolve().parents if (each / ".git").exists()), None)
    return folder if root is None else Path(os.path.relpath(root))


def _show(planned: Sequence[_Planned]) -> None:
    for each in planned:
        there = " (is there already, and would stay as it is)" if _is_there(each.path) else ""
        say(f"# {each.path}{there}\n\n{each.text}")


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _write(planned: _Planned, *, quiet: bool) -> bool:
    """Write a file, unless one is there; return whether it was written.

    Raises:
        StoreError: it cannot be written.
    """
    path = planned.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(planned.text)
    except FileExistsError as there:
        if not _is_there(path):  # a folder on the way is a file
            message = f"{path} cannot be written: {there.filename} is a file; move it away"
            raise StoreError(message) from there
        if not quiet:
            warn(f"{path} is there already and stays as it is; move it away and run this again to have it written.")
        return False
    except OSError as unwritable:
        message = f"{path} cannot be written ({unwritable.strerror}); check the folder"
        raise StoreError(message) from unwritable
    say(f"Wrote {path}", quiet=quiet)
    return True


def _explain_choice(project: Project, name: str, *, quiet: bool) -> None:
    if name not in FRAMEWORKS:
        about = f"answers in {project.answers}" if project.answers else "no framework was found"
        say(f"A file of answers: {about}.", quiet=quiet)
        return
    use = project.uses[name]
    framework = use.framework
    say(f"{framework.title}: {use.evidence or 'as asked'}.", quiet=quiet)
    if framework.installed is None:
        warn(f"{framework.distribution} is not installed here: pip install 'rag-cover[{framework.extra}]'")
    elif framework.is_too_old:
        warn(f"{framework.distribution} {framework.installed} is too old; rag_cover needs {framework.oldest} or newer.")
    if engine := _only(use):
        say(f"Answers questions, by its name: {engine.expression} of {engine.module}.", quiet=quiet)
    elif use.engines:
        names = ", ".join(f"{each.module}:{each.expression}" for each in use.engines)
        say(f"Several objects may answer questions, so that none is taken: {names}.", quiet=quiet)


def _explain_next(project: Project, name: str, folder: Path, *, quiet: bool) -> None:
    where = "" if folder == Path() else f"cd {folder} && "
    evaluated = TRACES if name in FRAMEWORKS else project.answers or "answers.jsonl"
    say(f"Next: look at the lines marked <<< of {folder / SCRIPT}, then {where}python {SCRIPT}", quiet=quiet)
    say(f"Then, with the options of {CONFIG_NAME}: {where}rag-cover evaluate {evaluated}", quiet=quiet)
