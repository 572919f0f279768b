"""What importing costs: nothing heavy, nothing slow, nothing that calls out."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

HEAVY = (
    "bm25s",
    "langchain_core",
    "llama_index",
    "onnxruntime",
    "openai",
    "pandas",
    "pyarrow",
    "ray",
    "scipy",
    "tokenizers",
    "torch",
    "transformers",
)
NEEDED_BY_THE_CLI_ONLY = ("jinja2", "rich", "typer")
MOST_SECONDS = 0.3


def _run(code: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _loaded(code: str, packages: tuple[str, ...]) -> list[str]:
    return _run(f"import sys\n{code}\nprint(*[name for name in {packages!r} if name in sys.modules])").split()


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert _loaded("import rag_cover", HEAVY + NEEDED_BY_THE_CLI_ONLY) == []


def test_listing_the_plugins_loads_nothing_heavy() -> None:
    listing = "from rag_cover.registry import installed_backends, installed_commands, installed_engines\n"
    calls = "assert 'embedded' in installed_backends(); installed_engines(); installed_commands()"

    assert _loaded(listing + calls, HEAVY) == []


def test_the_help_of_the_command_loads_nothing_heavy() -> None:
    shown = "from typer.testing import CliRunner\nfrom rag_cover.cli import app\n"

    assert _loaded(shown + "assert CliRunner().invoke(app, ['--help']).exit_code == 0", HEAVY) == []


def test_importing_the_package_is_quick() -> None:
    # processor time, the best of five: a busy machine must not fail it, and the first run may compile;
    # on a slow machine the budget grows with what numpy and pydantic take alone
    measured = """
import time
start = time.process_time()
import numpy
from pydantic import BaseModel
base = time.process_time()
import rag_cover
print(base - start, time.process_time() - start)
"""
    runs = [tuple(map(float, _run(measured).split())) for _ in range(5)]

    base, total = (min(times) for times in zip(*runs, strict=True))

    assert total < max(MOST_SECONDS, 2.2 * base)


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
import rag_cover
from rag_cover.registry import installed_backends
installed_backends()
assert threading.active_count() == 1, threading.enumerate()
print(*seen)
"""
    assert _run(watched) == ""


def test_the_heavy_packages_of_the_base_are_installed_where_this_runs() -> None:
    """Guard the tests above: a package that is absent is never loaded."""
    assert all(find_spec(name) for name in ("onnxruntime", "tokenizers", "bm25s"))
