"""What the page asks for and is sent, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_cover.importers import read_labels
from rag_cover.stores import read_corrections, read_label_file
from tests.labelling.conftest import OpenPage, Page


def test_each_label_leads_to_the_next_verdict_and_undo_back(page: Page) -> None:
    first = page.get("/api/next").json

    second = page.post("/api/label", {"key": first["item"]["key"], "grade": "partly"}).json
    back = page.post("/api/undo", {}).json

    assert first["item"]["key"] != second["item"]["key"]
    assert (first["progress"]["can_undo"], second["progress"]["can_undo"]) == (False, True)
    assert back == first
    assert read_label_file(page.labels)[0].partly


def test_the_page_hands_out_labels_and_corrections(page: Page, tmp_path: Path) -> None:
    for grade in ("yes", "no"):
        page.post("/api/label", {"key": page.get("/api/next").json["item"]["key"], "grade": grade})
    item = page.get("/api/next").json["item"]
    page.post("/api/correct", {"key": item["key"], "text": "Better?", "role": "core"})

    files = {
        name: page.get(f"/export/{name}") for name in ("labels.csv", "labels.jsonl", "corrections.jsonl", "corrected.jsonl")
    }

    for name, reply in files.items():
        (tmp_path / name).write_bytes(reply.body)
        assert reply.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert read_labels(tmp_path / "labels.csv") == read_labels(tmp_path / "labels.jsonl") == read_labels(page.labels)
    assert read_corrections(tmp_path / "corrections.jsonl") == read_corrections(page.labels)
    assert "Better?" in (tmp_path / "corrected.jsonl").read_text("utf-8")


def test_a_correction_that_is_none_is_refused(page: Page) -> None:
    key = page.get("/api/next").json["item"]["key"]

    blank = page.post("/api/correct", {"key": key, "text": " ", "role": ""})
    no_role = page.post("/api/correct", {"key": key, "text": "Why?", "role": "main"})

    assert (blank.status, no_role.status) == (400, 400)
    assert "'main' is no role; roles are core, background, follow-up" in no_role.json["error"]
    assert not page.labels.exists()


def test_findings_are_told_from_the_first_label_on_and_after_all_were_taken_back(page: Page) -> None:
    before = page.get("/api/findings").json["sentences"]
    page.post("/api/label", {"key": page.get("/api/next").json["item"]["key"], "grade": "yes"})
    page.post("/api/undo", {})

    assert page.get("/api/findings").json["sentences"] == before


@pytest.mark.slow
def test_annotators_with_files_of_their_own_are_compared(open_page: OpenPage, tmp_path: Path) -> None:
    bobs = tmp_path / "bob.jsonl"
    bob = open_page(bobs, "--annotator", "bob")
    bob.sign_in()
    key = bob.get("/api/next").json["item"]["key"]
    bob.post("/api/label", {"key": key, "grade": "yes"})
    ada = open_page(tmp_path / "ada.jsonl", "--beside", str(bobs))
    ada.sign_in()
    ada.post("/api/label", {"key": key, "grade": "no"})

    found = ada.get("/api/agreement").json
    settled = ada.post("/api/adjudicate", {"key": key, "grade": "no"}).json

    assert [each["annotators"] for each in found["agreements"]] == ["ada and bob"]
    assert [each["settled"] for each in found["disagreements"] + settled["disagreements"]] == ["", "no"]
    assert json.loads(bobs.read_text("utf-8"))["label"] is True


def test_a_disk_that_is_full_or_a_file_that_is_gone_is_told(open_page: OpenPage, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    page = open_page(folder / "run.labels.jsonl")
    page.sign_in()
    item = page.get("/api/next").json["item"]
    folder.rmdir()

    reply = page.post("/api/label", {"key": item["key"], "grade": "yes"})

    assert reply.status == 500
    assert "cannot be written" in reply.json["error"]
    assert page.get("/api/next").json["item"] == item
