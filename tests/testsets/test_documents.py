"""Documents cut into passages: where they are cut, what is left out, what cannot be read."""

from pathlib import Path

import pytest

from rag_cover.errors import InputError
from rag_cover.testsets import load_documents

MARKDOWN = """---
title: Borg
---
# Borg

Borg makes backups.

## Install

Run `pip install borg`
as root.

```sh
pip install borg
```

- One item.
- Another item.
"""
HTML = """<html><head><title>x</title><script>evil()</script></head><body><nav><li>Home</li></nav>
<h1>Pumps¶</h1><p>A pump moves <code>heat</code>.</p>
<h2>Cost</h2><ul><li><p>It costs 12,000 euros.</p></li></ul></body></html>"""


def test_markdown_is_cut_at_its_headings_and_code_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "borg.md").write_text(MARKDOWN)

    passages = load_documents(tmp_path)

    assert [(each.id, each.title, each.text) for each in passages] == [
        ("guide/borg.md#1", "Borg", "Borg makes backups."),
        ("guide/borg.md#2", "Borg › Install", "Run pip install borg as root.\nOne item.\nAnother item."),  # noqa: RUF001
    ]


def test_headings_that_skip_a_level_stand_beside_those_of_their_own(tmp_path: Path) -> None:
    text = "## A\n\none\n\n## B\n\ntwo\n\n#### C\n\nthree\n\n### D\n\nfour\n\n# E\n\nfive\n"
    (tmp_path / "skips.md").write_text(text)

    titles = [each.title for each in load_documents(tmp_path)]

    assert titles == ["A", "B", "B › C", "B › D", "E"]  # noqa: RUF001


def test_html_is_read_without_scripts_and_navigation(tmp_path: Path) -> None:
    pytest.importorskip("bs4", reason="needs the extra 'documents'")
    (tmp_path / "pumps.html").write_text(HTML)

    passages = load_documents(tmp_path)

    assert [(each.title, each.text) for each in passages] == [
        ("Pumps", "A pump moves heat."),
        ("Pumps › Cost", "It costs 12,000 euros."),  # noqa: RUF001
    ]


def test_questions_tables_and_titles_of_html_are_read(tmp_path: Path) -> None:
    pytest.importorskip("bs4", reason="needs the extra 'documents'")
    (tmp_path / "faq.html").write_text(
        "<html><head><title>Pool FAQ</title></head><body><!-- hidden --><div>Welcome <b>here</b>.<p>Read on.</p></div>"
        "<dl><dt>May I dive?</dt><dd>Only in the deep basin.</dd></dl>"
        "<details><summary>Are dogs allowed?</summary>No, only assistance dogs.</details>"
        "<table><tr><th>Guest</th><th>Price</th></tr><tr><td>Adult</td><td>4.50 euros</td></tr></table>"
        "<h6>What to bring</h6><ul><li>A <a href='t'>towel</a>.</li></ul></body></html>"
    )

    passages = load_documents(tmp_path)

    assert [(each.title, each.text.split("\n")) for each in passages] == [
        (
            "Pool FAQ",
            [
                *("Welcome here.", "Read on.", "May I dive?", "Only in the deep basin."),
                *("Are dogs allowed?", "No, only assistance dogs.", "Guest: Adult; Price: 4.50 euros"),
            ],
        ),
        ("Pool FAQ › What to bring", ["A towel."]),  # noqa: RUF001
    ]


def test_the_title_of_front_matter_stands_above_all(tmp_path: Path) -> None:
    (tmp_path / "hours.md").write_text('---\ntitle: "Opening hours"\ndraft: no\n---\n## Summer\n\nWe open at 9.\n')

    assert [each.title for each in load_documents(tmp_path)] == ["Opening hours › Summer"]  # noqa: RUF001


def test_long_paragraphs_are_cut_between_sentences_and_lose_nothing(tmp_path: Path) -> None:
    text = " ".join(f"Sentence number {number} says that pumps move heat." for number in range(60))
    (tmp_path / "long_text.txt").write_text(text)

    passages = load_documents(tmp_path)

    assert " ".join(each.text for each in passages) == text
    assert all(len(each.text.split()) <= 120 for each in passages)
    assert {each.title for each in passages} == {"long text"}


def test_files_of_passages_keep_their_ids_beside_the_files_name(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"text": "Rain falls.", "id": "r1"}\n')

    assert [each.id for each in load_documents(tmp_path)] == ["corpus.jsonl#r1"]
    assert [each.id for each in load_documents(tmp_path / "corpus.jsonl")] == ["r1"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file or folder"):
        load_documents(tmp_path / "absent")
    with pytest.raises(InputError, match="there is no passage in it"):
        load_documents(tmp_path)
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"binary\.md: this is no UTF-8 text \(byte 0\)"):
        load_documents(tmp_path)


def test_hidden_files_and_other_kinds_are_passed_over(tmp_path: Path) -> None:
    for name in (".git/notes.md", "image.png", "kept.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Rain falls.")

    assert [each.id for each in load_documents(tmp_path)] == ["kept.txt#1"]


def test_a_document_that_cannot_be_read_is_left_out_and_told_as_long_as_another_can_be(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(b"caf\xe9")
    unread: list[InputError] = []

    with pytest.raises(InputError, match=r"old\.txt: this is no UTF-8 text"):
        load_documents(tmp_path, skipped=unread.append)
    (tmp_path / "kept.txt").write_text("Rain falls.")
    passages = load_documents(tmp_path, skipped=unread.append)

    assert [each.id for each in passages] == ["kept.txt#1"]
    assert [str(error.file) for error in unread] == [str(tmp_path / "old.txt")]
    with pytest.raises(InputError, match=r"old\.txt"):
        load_documents(tmp_path)
