"""The page for those who change the package names files and functions: all of them are there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout; these tests run against an installed wheel", allow_module_level=True)
NAMES = sorted(set(re.findall(r"`(rag_cover(?:_langchain|_llama_index)?(?:\.\w+)+)`", PAGE.read_text(encoding="utf-8"))))
FILES = sorted(set(re.findall(r"`([\w/]+\.(?:py|toml))`", PAGE.read_text(encoding="utf-8"))))
LINKS = sorted(set(re.findall(r"\]\(([\w./]+\.md)\)", PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", NAMES)
def test_every_name_on_the_page_is_there(name: str) -> None:
    package = name.partition(".")[0]
    if package == "rag_cover_langchain":
        pytest.importorskip("langchain_core")
    if package == "rag_cover_llama_index":
        pytest.importorskip("llama_index.core")

    assert _resolve(name) is not None


@pytest.mark.parametrize("file", [*FILES, *(f"docs/{link}" for link in LINKS)])
def test_every_file_on_the_page_is_there(file: str) -> None:
    assert (PAGE.parents[1] / file).exists()


def test_the_page_has_its_four_walks() -> None:
    assert len(re.findall(r"^## Walk \d", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == 4
    assert len(NAMES) > 30


def _resolve(name: str) -> Any:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: ModuleType | Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)
