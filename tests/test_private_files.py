"""What holds the texts of a pipeline is its owner's alone, unless somebody gave it another mode."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_cover import Label, Passage, Question, RetrievalStep, Trace, append_labels, evaluate
from rag_cover.llm.cache import ResponseFile
from rag_cover.recording.sinks import RecordingSinks
from rag_cover.stores.files import replacing

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")

TRACE = Trace(
    question=Question("What does a heat pump cost?"),
    steps=(RetrievalStep(passages=(Passage("A heat pump costs 12,000 euros."),)),),
    answer="It costs 12,000 euros.",
)


@pytest.fixture(autouse=True)
def _permissive() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_stores_and_reports_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    store, page = tmp_path / "results.sqlite", tmp_path / "report.html"

    evaluate([TRACE], store=store).to_html(page)

    assert (mode_of(store), mode_of(page)) == (0o600, 0o600)


def test_recorded_traces_are_their_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"

    sinks = RecordingSinks(path, None, measures=["coverage"], seed=0)
    sinks.add_trace(TRACE)
    sinks.close()

    assert mode_of(path) == 0o600


def test_caches_of_answers_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"

    answers = ResponseFile(path)
    answers.put({"key": b"value"})
    answers.close()

    assert mode_of(path) == 0o600


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    page, lines = tmp_path / "report.html", tmp_path / "results.jsonl"
    for path in (page, lines):
        path.touch()
        path.chmod(0o640)

    evaluate([TRACE]).to_html(page)
    with replacing(lines) as file:
        file.write(b"{}\n")

    assert (mode_of(page), mode_of(lines)) == (0o640, 0o640)


def test_a_new_file_of_lines_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    with replacing(path) as file:
        file.write(b"{}\n")

    assert (mode_of(path), path.read_bytes()) == (0o600, b"{}\n")


def test_a_link_stays_a_link_to_the_new_content(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.jsonl", tmp_path / "latest.jsonl"
    kept.write_bytes(b"old")
    link.symlink_to(kept)

    with replacing(link) as file:
        file.write(b"new")

    assert link.is_symlink()
    assert kept.read_bytes() == b"new"


def test_labels_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.labels.jsonl"

    append_labels(path, [Label(question="What does a heat pump cost?", passage="It costs 12,000 euros.", label=True)])

    assert mode_of(path) == 0o600
