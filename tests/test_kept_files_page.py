"""The page on the files that stay names them as the code does."""

from __future__ import annotations

from pathlib import Path

from rag_cover.cli.config_rules import WRITTEN_OPTIONS
from rag_cover.cli.run import report_for, store_for
from rag_cover.llm.cache import cache_for
from rag_cover.private_files import PRIVATE
from rag_cover.stores import labels_beside
from rag_cover.stores.locks import lock_beside
from rag_cover.stores.store_parts import parts_folder


def test_the_page_names_every_file_as_the_code_does(source_tree: Path) -> None:
    page = (source_tree / "docs/guides/kept_files.md").read_text(encoding="utf-8")
    store = Path("STORE.sqlite")
    replies = cache_for(True, store)  # noqa: FBT003  # as `evaluate` is given it

    names = [
        store_for(Path("TRACES.jsonl")).name,
        store_for(Path("TRACES.jsonl"), "utility").name,
        report_for(Path("TRACES.jsonl")).name,
        "" if replies is None else replies.path.name,
        lock_beside(store).name,
        parts_folder(store).name,
        labels_beside(store).name,
        f"{PRIVATE:04o}",
    ]

    assert [name for name in names if not name or name not in page] == []


def test_the_page_names_every_option_that_names_a_file_to_write(source_tree: Path) -> None:
    page = (source_tree / "docs/guides/kept_files.md").read_text(encoding="utf-8")
    options = (f"--{name.replace('_', '-')}" for name in WRITTEN_OPTIONS - {"baseline", "store"})

    assert [option for option in options if option not in page] == []
