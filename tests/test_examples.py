from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "offline_augmentation",
        "offline_check_judge",
        "offline_component_study",
        "offline_first_traces",
        pytest.param(
            "offline_llama_index",
            marks=pytest.mark.skipif(not find_spec("llama_index"), reason="needs rag-cover[llama-index]"),
        ),
        "offline_own_judge",
        "offline_set_queries",
        pytest.param("offline_routing", marks=pytest.mark.skipif(not find_spec("scipy"), reason="needs rag-cover[skills]")),
    ],
)
def test_offline_examples_run_and_print(name: str, source_tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(source_tree / "examples" / f"{name}.py")], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_every_example_says_in_its_first_line_what_it_needs(source_tree: Path) -> None:
    for path in (source_tree / "examples").glob("*.py"):
        assert "Needs " in path.read_text().splitlines()[0]
