"""A page that is killed loses no label that it acknowledged."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_cover.stores import read_label_file
from tests.labelling.conftest import OpenPage

GRADES = ("yes", "no", "partly", "skip")


@pytest.mark.parametrize("kills", [pytest.param(8, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.nightly)])
def test_after_many_kills_every_acknowledged_label_is_there(open_page: OpenPage, tmp_path: Path, kills: int) -> None:
    labels = tmp_path / "run.labels.jsonl"
    acknowledged: dict[str, str] = {}
    given = 0

    for kill in range(kills):
        page = open_page(labels)
        page.sign_in()
        reply = page.get("/api/next").json
        for _ in range(1 + kill % 3):
            if reply["item"] is None:
                break
            grade = GRADES[given % len(GRADES)]
            answer = page.post("/api/label", {"key": reply["item"]["key"], "grade": grade})
            assert answer.status == 200
            acknowledged[reply["item"]["key"]] = grade
            given += 1
            reply = answer.json
        page.kill()

    page = open_page(labels)
    page.sign_in()
    progress = page.get("/api/next").json["progress"]
    kept = read_label_file(labels)
    skipped = sum(grade == "skip" for grade in acknowledged.values())
    assert given == len(acknowledged) > kills
    assert progress["labels"] == given - skipped
    assert len({(label.sub_question, label.answer, label.passage) for label in kept}) == given
