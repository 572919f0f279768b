"""The suites as the author of a plugin meets them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_cover.testing import conformance

WRITTEN = """
import pytest

from rag_cover.testing import KeywordLocator
from rag_cover.testing.conformance import LocatorTests, ScorerTests


class TestMyLocator(LocatorTests):
    @pytest.fixture
    def model(self):
        return KeywordLocator()


class TestMyScorer(ScorerTests):
    '''Has no fixture yet.'''
"""


@pytest.mark.slow
def test_a_subclass_is_run_and_the_suites_themselves_are_not(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(WRITTEN, encoding="utf-8")

    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # of all that is installed here
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)

    checks = {name: _checks(getattr(conformance, name)) for name in ("LocatorTests", "ScorerTests")}
    assert f"{checks['LocatorTests']} passed, {checks['ScorerTests']} errors" in done.stdout
    assert "fixture 'model' not found" in done.stdout


@pytest.mark.slow
def test_importing_them_imports_neither_pytest_nor_a_framework() -> None:
    asked = "import rag_cover.testing.conformance, sys; print({'pytest', 'langchain_core', 'llama_index'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


def test_their_names_are_not_collected() -> None:
    assert not [name for name in conformance.__all__ if name.startswith("Test")]


def _checks(suite: type) -> int:
    return sum(name.startswith("test_") for name in dir(suite))
