"""Inputs whose reading takes time that grows with the square of their length are read in another way, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_cover.cli.config_file import read_config
from rag_cover.errors import ConfigError
from rag_cover.testsets.documents import sections_of


def test_a_very_long_paragraph_of_markdown_is_read_without_its_marks() -> None:
    pytest.importorskip("markdown_it")
    text = "# Weirs\n\nA *low* dam \\* &amp;.\n\n" + "[" * 100_000

    (section,) = sections_of(text, ".md", Path("weirs.md"))

    assert section.paragraphs == ["A low dam * &.", "[" * 100_000]


def test_a_configuration_file_of_a_megabyte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rag-cover.toml"
    path.write_text("1. " * 350_000)

    with pytest.raises(ConfigError, match="more than 256 KB"):
        read_config(path)
