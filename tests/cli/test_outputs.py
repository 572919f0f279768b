from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.cli.outputs import refuse_existing
from rag_cover.errors import OutputExistsError

JUDGE = ("--judge", "words")


def test_a_second_evaluation_keeps_the_first_and_says_how_to_go_on(command: Callable[..., Any], traces: Path) -> None:
    command("evaluate", traces, *JUDGE)
    before = Path("traces-coverage.sqlite").read_bytes()

    refused = command("evaluate", traces, *JUDGE)

    assert refused.exit_code == 3
    assert "traces-coverage.sqlite holds an evaluation" in refused.stderr
    assert "--resume" in refused.stderr
    assert "--force" in refused.stderr
    assert Path("traces-coverage.sqlite").read_bytes() == before
    assert command("evaluate", traces, *JUDGE, "--resume").exit_code == 0
    assert command("evaluate", traces, *JUDGE, "--force").exit_code == 0
    assert command("evaluate", traces, *JUDGE, "--force", "--resume").exit_code == 2


def test_two_files_of_one_name_do_not_share_a_store(command: Callable[..., Any], traces: Path) -> None:
    Path("traces.csv").write_text("question,answer\nWhy is the sky blue?,Air scatters blue light.\n")
    command("evaluate", "traces.csv", *JUDGE)
    before = Path("traces-coverage.sqlite").read_bytes()

    refused = command("evaluate", traces, *JUDGE, "--resume")
    compared = command("compare", traces, traces, *JUDGE)
    apart = command("evaluate", traces, *JUDGE, "--store", "traces-jsonl.sqlite", "--report", "traces-jsonl.html")

    assert (refused.exit_code, compared.exit_code, apart.exit_code) == (3, 3, 0)
    assert "traces-coverage.sqlite holds results of traces.csv, written by 'rag-cover evaluate'" in refused.stderr
    assert "--store traces-jsonl.sqlite --report traces-jsonl.html" in refused.stderr
    assert "--report traces-jsonl.html', and give that store to 'rag-cover compare'" in compared.stderr
    assert Path("traces-coverage.sqlite").read_bytes() == before
    assert command("evaluate", traces, *JUDGE, "--force").exit_code == 0


def test_a_file_of_bad_lines_alone_is_refused_for_the_first_of_them(command: Callable[..., Any], folder: Path) -> None:
    (folder / "bad.jsonl").write_text("nonsense\nmore\n")

    refused = command("evaluate", "bad.jsonl", *JUDGE, "--on-bad-line", "skip")

    assert refused.exit_code == 3
    assert "bad.jsonl, line 1" in refused.stderr
    assert not Path("bad-coverage.sqlite").exists()


def test_an_evaluation_goes_on_with_what_a_comparison_left(command: Callable[..., Any], traces: Path) -> None:
    Path("other.jsonl").write_text(traces.read_text())
    command("compare", traces, "other.jsonl", *JUDGE)

    evaluated = command("evaluate", traces, *JUDGE)
    again = command("evaluate", traces, *JUDGE)
    compared = command("compare", traces, "other.jsonl", *JUDGE)
    after = command("evaluate", traces, *JUDGE)

    assert (evaluated.exit_code, compared.exit_code) == (0, 0)
    assert [refused.exit_code for refused in (again, after)] == [3, 3]
    assert "holds an evaluation of traces.jsonl, written by 'rag-cover evaluate'" in again.stderr
    assert after.stderr == again.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "traces.jsonl", *JUDGE, "--no-store", "--report", "mine"),
        ("convert", "traces.jsonl", "mine"),
        ("decompose", "traces.jsonl", "--out", "mine"),
        ("report", "run.sqlite", "--out", "mine"),
        ("compare", "run.sqlite", "run.sqlite", "--report", "mine"),
        ("nuggets", "extract", "traces.jsonl", "--out", "mine"),
        ("nuggets", "export", "run.sqlite", "--out", "mine"),
        ("set-query", "birds or cats", "--corpus", "traces.jsonl", "--out", "mine"),
        ("augment", "traces.jsonl", "--corpus", "traces.jsonl", "--baseline", "mine", *JUDGE),
        ("study", "run.sqlite", "--by", "k", "--report", "mine"),
        ("complexity", "traces.jsonl", *JUDGE, "--out", "mine"),
    ],
    ids=lambda words: words[0],
)
def test_nothing_is_written_over_without_a_word(command: Callable[..., Any], traces: Path, words: tuple[str, ...]) -> None:
    command("evaluate", traces, *JUDGE, "--store", "run.sqlite", "--no-report")
    Path("mine").write_text("mine")

    refused = command(*words)

    assert refused.exit_code == 3
    assert "mine exists already; name another file to write, or replace it with --force" in refused.stderr
    assert Path("mine").read_text() == "mine"


def test_a_file_is_not_converted_into_itself_by_another_name(command: Callable[..., Any], traces: Path) -> None:
    Path("link.jsonl").symlink_to(traces)
    before = traces.read_bytes()

    refused = command("convert", traces, "link.jsonl")

    assert refused.exit_code == 3
    assert "link.jsonl is also read or written by this command; name another file to write" in refused.stderr
    assert traces.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "traces.jsonl", *JUDGE, "--no-store", "--report", "traces.jsonl"),
        ("evaluate", "traces.jsonl", *JUDGE, "--store", "run.sqlite", "--report", "run.sqlite"),
        ("evaluate", "traces.jsonl", *JUDGE, "--store", "new.sqlite", "--report", "new.sqlite"),
        ("compare", "run.sqlite", "run.sqlite", "--report", "run.sqlite"),
        ("report", "run.sqlite", "--out", "run.sqlite"),
        ("convert", "traces.jsonl", "traces.jsonl"),
    ],
    ids=lambda words: " ".join(words[-2:]),
)
def test_force_writes_over_nothing_that_the_command_reads_or_writes_besides(
    command: Callable[..., Any], traces: Path, words: tuple[str, ...]
) -> None:
    command("evaluate", traces, *JUDGE, "--store", "run.sqlite", "--no-report")
    before = (traces.read_bytes(), Path("run.sqlite").read_bytes())

    refused = command(*words, "--force")

    assert refused.exit_code == 3
    assert "is also read or written by this command" in refused.stderr
    assert (traces.read_bytes(), Path("run.sqlite").read_bytes()) == before


def test_devices_and_new_files_are_written_to(tmp_path: Path) -> None:
    refuse_existing(Path("/dev/null"), None, tmp_path / "new", force=False)
    with pytest.raises(OutputExistsError, match="exists already"):
        refuse_existing(Path(__file__), force=False)
    refuse_existing(Path(__file__), force=True)
