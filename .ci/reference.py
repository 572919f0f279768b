"""Write the pages of reference that are made of the code: commands, the public interface, the JSON Schema of traces.

    python .ci/reference.py            # writes docs/reference/
    python .ci/reference.py --check    # exits with 1 where a page is not what the code says

The environment needs the extras 'llama-index' and 'langchain'.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from typer.main import get_command

from rag_cover.cli import app
from rag_cover.traces import trace_schema

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
MODULES: Mapping[str, str] = {
    "rag_cover": "The package itself: `from rag_cover import …`.",
    "rag_cover_llama_index": "The LlamaIndex adapter (extra `llama-index`).",
    "rag_cover_langchain": "The LangChain adapter (extra `langchain`).",
    "rag_cover.backends": "What a model of your own implements.",
    "rag_cover.errors": "Every error, all below `RagCoverError`.",
}


def pages() -> Mapping[str, str]:
    """Return the pages by their file names."""
    found = {"commands.md": "\n".join(_commands()).rstrip() + "\n"}
    for name, about in MODULES.items():
        found[f"{name.replace('.', '_')}.md"] = "\n".join(_module(name, about)).rstrip() + "\n"
    schema = json.dumps(trace_schema(), indent=2, ensure_ascii=False)
    return found | {"trace.schema.json": schema + "\n"}


def _commands() -> Iterator[str]:
    yield "# Commands\n\n`rag-cover COMMAND --help` prints the same. Options in brackets have a default.\n"
    for path, command in _walk("rag-cover", get_command(app)):
        yield f"## {path}\n"
        yield f"{_without_markup(inspect.cleandoc(command.help or ''))}\n"
        yield "| option or argument | meaning | default |\n|---|---|---|"
        for each in command.params:
            if each.name != "help" and not getattr(each, "hidden", False):
                yield f"| {_name(each)} | {_cell(getattr(each, 'help', '') or '')} | {_default(each)} |"
        yield ""


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, each in command.commands.items():
        yield from _walk(f"{path} {name}", each)


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    shown = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    return shown if parameter.is_flag or not parameter.metavar else f"{shown} `{parameter.metavar}`"


def _default(parameter: Any) -> str:
    said = getattr(parameter, "show_default", None)
    if isinstance(said, str):
        return _cell(said)
    if parameter.required:
        return "required"
    if said is False or parameter.default in (None, False, ()) or callable(parameter.default):
        return ""
    return f"`{parameter.default}`"


def _module(name: str, about: str) -> Iterator[str]:
    module = import_module(name)
    yield f"# {name}\n\n{about}\n"
    for member in sorted(getattr(module, "__all__", ()), key=str.lower):
        value = getattr(module, member)
        yield f"## {member}\n"
        if inspect.isclass(value) or inspect.isroutine(value):
            yield f"```text\n{member}{_signature(value)}\n```\n"
        yield f"{_docstring(value)}\n"
        for method, function in _methods(value):
            yield f"**`{member}.{method}{_signature(function)}`**\n\n{_docstring(function)}\n"


def _methods(value: object) -> Iterator[tuple[str, Any]]:
    if not inspect.isclass(value) or issubclass(value, Exception):
        return
    for name, function in vars(value).items():
        plain = function.__func__ if isinstance(function, classmethod | staticmethod) else function
        if not name.startswith("_") and inspect.isfunction(plain) and plain.__doc__:
            yield name, plain


def _signature(value: Any) -> str:
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)))
    except (TypeError, ValueError):
        return ""


def _docstring(value: object) -> str:
    text = inspect.getdoc(value) if inspect.isclass(value) or inspect.isroutine(value) else ""
    if not text or text.startswith(("str(object=", "dict()", "int([x])")):
        return ""
    return f"```text\n{text}\n```" if any(mark in text for mark in (">>>", "Args:", "Raises:", "::")) else text


def _without_markup(text: str) -> str:
    return re.sub(r"\[/?bold\]", "`", text).replace("`Examples`", "Examples:").replace("`Example`", "Example:")


def _cell(text: str) -> str:
    return " ".join(_without_markup(text).split()).replace("|", "\\|")


def main() -> int:
    """Write the pages, or compare them."""
    made = pages()
    if "--check" not in sys.argv:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
        return 0
    stale = [name for name, text in made.items() if not (FOLDER / name).is_file() or (FOLDER / name).read_text("utf-8") != text]
    if stale:
        print(f"docs/reference is not what the code says: {', '.join(stale)}; run 'python .ci/reference.py'")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
