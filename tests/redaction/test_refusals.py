from __future__ import annotations

from pathlib import Path

import pytest

from rag_cover.errors import InputError, StoreError
from rag_cover.redaction import Redaction, redact_problem, refuse_other_redaction

ONE, OTHER = Redaction(b"the one key, which is long enough"), Redaction(b"the other key, which is long enough")


@pytest.mark.parametrize(
    ("field", "kept"),
    [
        ("$.steps[0].passages[2].text", "$.steps[0].passages[2].text"),
        ("$.steps[0].Erika", "$.steps[0]"),
        ("$.metadata.Erika", "$"),
        ("$['Erika Mustermann']", "$"),
        ("row 71, $.question", "row 71, $.question"),
        ("row 71, Erika", "row 71"),
        ("row 71 of Erika", None),
        ("Erika", None),
        (None, None),
    ],
)
def test_a_redacted_problem_says_where_it_is_by_our_own_names_alone(field: str | None, kept: str | None) -> None:
    told = redact_problem(InputError("got the string 'Erika'", file="traces.jsonl", line=3, field=field))

    assert (told.file, told.line, told.field) == ("traces.jsonl", 3, kept)
    assert "Erika" not in str(told)


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (None, ONE, "holds results with their texts, and this run is to be redacted"),
        (ONE, None, "holds redacted results, and this run is not redacted"),
        (ONE, OTHER, "redacted by another key"),
        (Redaction(), ONE, "redacted by another key"),
    ],
)
def test_a_store_is_not_gone_on_with_in_another_way(before: Redaction | None, now: Redaction | None, told: str) -> None:
    about = {"judge": "any"} | ({"redaction": before.fingerprint} if before else {})

    with pytest.raises(StoreError, match=told):
        refuse_other_redaction(about, now, Path("run.sqlite"))


@pytest.mark.parametrize("way", [None, Redaction(), ONE])
def test_a_store_is_gone_on_with_in_the_same_way(way: Redaction | None) -> None:
    about = {"judge": "any"} | ({"redaction": way.fingerprint} if way else {})

    refuse_other_redaction(about, way, Path("run.sqlite"))
    refuse_other_redaction(None, way, Path("new.sqlite"))
