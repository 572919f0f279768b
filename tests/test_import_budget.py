"""What importing costs: nothing heavy, nothing that calls out."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

import rag_cover

HEAVY = (
    "bm25s",
    "langchain_core",
    "llama_index",
    "onnxruntime",
    "openai",
    "pandas",
    "py3langid",
    "pyarrow",
    "ray",
    "scipy",
    "tokenizers",
    "torch",
    "transformers",
)
NEEDED_BY_THE_CLI_ONLY = ("jinja2", "rich", "typer")


def _run(code: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _loaded(code: str, packages: tuple[str, ...]) -> list[str]:
    return _run(f"import sys\n{code}\nprint(*[name for name in {packages!r} if name in sys.modules])").split()


@pytest.mark.slow
def test_importing_the_package_loads_nothing_heavy() -> None:
    assert _loaded("from rag_cover import *", HEAVY + NEEDED_BY_THE_CLI_ONLY) == []


def test_listing_the_plugins_loads_nothing_heavy() -> None:
    listing = "from rag_cover.registry import find_backends, find_commands, find_engines\n"
    calls = "assert 'embedded' in find_backends(); find_engines(); find_commands()"

    assert _loaded(listing + calls, HEAVY) == []


def test_the_help_of_the_command_loads_nothing_heavy() -> None:
    shown = "from typer.testing import CliRunner\nfrom rag_cover.cli import app\n"

    assert _loaded(shown + "assert CliRunner().invoke(app, ['--help']).exit_code == 0", HEAVY) == []


def test_the_list_of_commands_loads_no_command_and_no_arithmetic() -> None:
    shown = "from typer.testing import CliRunner\nfrom rag_cover.cli import app\n"
    called = "assert 'train' in CliRunner().invoke(app, ['--help']).stdout\n"
    commands = "print(*[name for name in sys.modules if name.startswith('rag_cover.cli.commands.')])"

    assert _loaded(shown + called, ("numpy", "pydantic", "tenacity")) == []
    assert _run(f"import sys\n{shown}{called}{commands}") == ""


def test_the_version_loads_no_terminal_library() -> None:
    asked = "import sys\nsys.argv[1:] = ['--version']\nfrom rag_cover.cli import main\nmain()"

    assert _loaded(asked, NEEDED_BY_THE_CLI_ONLY)[:1] == ["rag-cover"]
    assert _loaded(asked, NEEDED_BY_THE_CLI_ONLY)[2:] == []


def test_importing_the_package_loads_none_of_its_modules() -> None:
    """How long it takes is measured in ``benchmarks/scale/importing.py``."""
    listing = (
        "import sys, rag_cover\nprint(*[name for name in sys.modules if name.startswith(('rag_cover', 'numpy', 'pydantic'))])"
    )

    assert _run(listing) == "rag_cover"


def test_a_name_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'rag_cover' has no attribute 'evaluat'"):
        rag_cover.evaluat  # type: ignore[attr-defined]  # noqa: B018


def test_importing_opens_no_file_for_writing_no_socket_and_no_thread() -> None:
    watched = """
import sys, threading
seen = []
def watch(event, arguments):
    if event.startswith("socket.") or event in ("os.mkdir", "subprocess.Popen"):
        seen.append((event, arguments))
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append((event, arguments[0]))
sys.dont_write_bytecode = True
sys.addaudithook(watch)
from rag_cover import *
from rag_cover.registry import find_backends
find_backends()
assert threading.active_count() == 1, threading.enumerate()
print(*seen)
"""
    assert _run(watched) == ""


def test_the_heavy_packages_of_the_base_are_installed_where_this_runs() -> None:
    """Guard the tests above: a package that is absent is never loaded."""
    assert all(find_spec(name) for name in ("onnxruntime", "tokenizers", "bm25s"))
