from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover import Evaluation, Models, Progress, evaluate, evaluate_files
from rag_cover.backends import Backend
from rag_cover.errors import InputError, RagCoverError, StoreError
from rag_cover.hooks import hook
from rag_cover.importers import import_traces
from rag_cover.plugin_manager import plugins
from rag_cover.redaction import Redaction
from rag_cover.stores import read_traces
from rag_cover.stores.parts import read_part
from rag_cover.traces import name_of
from tests.evaluation.files.files import MODELS, contents, line, write

pytest.importorskip("pyarrow", reason="needs pyarrow (extra parquet)")

BY = Redaction(b"a key of thirty-two bytes or so.")
OTHER = Redaction(b"another key of thirty bytes and more")
PERSON = "Erika Mustermann"


def secret(number: int, **fields: Any) -> dict[str, Any]:
    """Write about a person in every place that a trace has for texts."""
    about = f"{PERSON} {number % 5}"
    passages = [{"text": f"Item {number} is blue, writes {about}", "title": about, "id": f"{about}.pdf"}]
    return line(
        number,
        question={"text": f"Why is item {number % 7} of {about} blue?", "references": [about]},
        steps=[{"id": f"asked by {about}", "query": about, "passages": passages}],
        metadata={"customer": about, about: {"author": [about]}},
        **fields,
    )


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """Write 60 traces of a person: a third bring an id, and one line stands there three times."""
    lines = [secret(number, id=f"{PERSON} {number}") if number % 3 == 0 else secret(number) for number in range(60)]
    lines[25] = lines[55] = lines[1]
    return write(tmp_path / "traces.jsonl", lines)


@pytest.mark.parametrize("written_as", ["parquet", "jsonl"])
@pytest.mark.parametrize("by", [True, BY])
def test_redacted_results_are_those_of_evaluate(
    secrets: Path, tmp_path: Path, *, by: bool | Redaction, written_as: Literal["parquet", "jsonl"]
) -> None:
    whole = evaluate(secrets, models=MODELS, redact=by)

    many = evaluate_files(secrets, tmp_path / "out", models=MODELS, redact=by, workers=2, format=written_as, part_bytes=3_000)

    assert len(contents(tmp_path / "out")) > 5
    assert list(many.results) == list(whole.results)
    assert many.summary() == whole.summary()
    assert len({result.trace.id for result in many.results}) == 60


_LINES = st.one_of(
    st.builds(lambda number: json.dumps(secret(number)), st.integers(0, 2)),
    st.builds(lambda number: json.dumps(secret(number, id=f"own-{number}")), st.integers(0, 3)),
    st.sampled_from([json.dumps(secret(1, id="0123456789abcdef-2")), "", "{", '{"question": 4}']),
)


@settings(max_examples=15)
@given(lines=st.lists(_LINES, max_size=12), part_bytes=st.integers(1, 2_000))
def test_any_split_gives_the_redacted_ids_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], part_bytes: int
) -> None:
    path = write(tmp_path_factory.mktemp("split") / "traces.jsonl", list[dict[str, Any] | str](lines))
    whole, split = list[InputError](), list[InputError]()
    expected, found = list[Any](), list[Any]()

    with suppress(InputError):  # of no traces at all
        traces = read_traces(path, on_error="skip", skipped=whole.append)
        expected = list(evaluate(traces, measures=["coverage"], models=MODELS, redact=BY).results)
    with suppress(InputError):
        made = evaluate_files(
            path, path.parent / "out", measures=["coverage"], models=MODELS, redact=BY, format="jsonl",
            part_bytes=part_bytes, skipped=split.append,
        )  # fmt: skip
        found = list(made.results)

    assert found == expected
    assert [error.line for error in split] == [error.line for error in whole]


def test_an_id_like_that_of_a_repeated_trace_is_told_apart_from_it(tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [secret(1), secret(1)]
    named = name_of(next(read_traces(write(tmp_path / "one.jsonl", lines))))
    path = write(tmp_path / "t.jsonl", [secret(2, id=f"{named}-2"), *lines])

    many = evaluate_files(path, tmp_path / "out", models=MODELS, redact=BY, part_bytes=1)

    assert list(many.results) == list(evaluate(path, models=MODELS, redact=BY).results)


@pytest.mark.parametrize("name", ["traces.jsonl", "traces.jsonl.gz"])
@pytest.mark.parametrize("written_as", ["parquet", "jsonl"])
def test_no_text_of_the_input_is_in_any_file(tmp_path: Path, name: str, written_as: Literal["parquet", "jsonl"]) -> None:
    bad = ["{" + PERSON, json.dumps({"question": "Why?", PERSON: 1}), json.dumps({"question": "Why?", "answer": [PERSON]})]
    lines: list[dict[str, Any] | str] = [
        *(secret(number) for number in range(20)),
        *bad,
        secret(30, id=PERSON),
        secret(31, id=PERSON),
    ]
    path, skipped = write(tmp_path / name, lines), list[InputError]()

    evaluate_files(
        path, tmp_path / "out", models=MODELS, redact=BY, format=written_as, part_bytes=5_000, skipped=skipped.append
    )

    told = [path.read_text() for path in (tmp_path / "out").glob("*.skipped.json")]
    assert [error.line for error in skipped] == [21, 22, 23, 25]
    assert told
    assert not [error for error in skipped if PERSON in str(error)]
    assert not leaks(tmp_path / "out")
    assert not list((tmp_path / "out").glob("unpacked-*"))


def test_a_name_in_a_part_is_nothing_that_a_guess_can_be_checked_by(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [secret(1), secret(1), secret(2)])
    names = {name_of(trace) for trace in read_traces(path)}
    for by, out in ((BY, "one"), (OTHER, "other"), (None, "plain")):
        evaluate_files(path, tmp_path / out, models=MODELS, redact=by or False, format="jsonl")

    written = {out: b"".join(contents(tmp_path / out).values()).decode() for out in ("one", "other", "plain")}

    assert all(name in written["plain"] for name in names)
    assert not any(name in written["one"] for name in names)
    assert len({name for out in written for name in contents(tmp_path / out)}) == 3


def test_the_text_of_a_table_is_redacted_and_a_wrong_row_is_told_by_its_number(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"question": f"Why {n}, {PERSON}?", "answer": f"{PERSON} {n}", "contexts": ["light"]} for n in range(40)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    pq.write_table(pa.Table.from_pylist([*rows, {**rows[0], "question": " "}]), tmp_path / "bad.parquet")

    many = evaluate_files(tmp_path / "t.parquet", tmp_path / "out", models=MODELS, redact=BY, part_bytes=3_000)

    assert list(many.results) == list(evaluate(import_traces(tmp_path / "t.parquet"), models=MODELS, redact=BY).results)
    assert not leaks(tmp_path / "out")
    with pytest.raises(InputError, match=r"bad\.parquet, at row 41, \$\.question: something is wrong here"):
        evaluate_files(tmp_path / "bad.parquet", tmp_path / "bad", models=MODELS, redact=BY)


def test_a_table_of_no_known_kind_is_told_without_its_columns(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist([{PERSON: 1}]), tmp_path / "t.parquet")

    with pytest.raises(InputError, match="something is wrong here") as told:
        evaluate_files(tmp_path / "t.parquet", tmp_path / "out", models=MODELS, redact=BY)

    assert PERSON not in str(told.value)


@pytest.mark.parametrize("end", ["a line", "an interrupt"])
def test_what_was_unpacked_is_removed_where_the_run_breaks_off(tmp_path: Path, end: str) -> None:
    lines: list[dict[str, Any] | str] = [secret(number) for number in range(40)]
    path = write(tmp_path / "t.jsonl.gz", [*lines, "{" + PERSON] if end == "a line" else lines)
    seen = list[str]()

    def watch(_: Progress) -> None:
        seen.extend(path.name for path in (tmp_path / "out").glob("unpacked-*"))
        if end == "an interrupt":
            raise KeyboardInterrupt

    with pytest.raises((InputError, KeyboardInterrupt)) as told:
        evaluate_files(path, tmp_path / "out", models=MODELS, redact=BY, part_bytes=2_000, progress=watch)

    assert seen
    assert PERSON not in str(told.value)
    assert not list((tmp_path / "out").glob("unpacked-*"))
    assert not leaks(tmp_path / "out")


WAYS: list[tuple[bool | Redaction, bool | Redaction, str]] = [
    (False, BY, "holds results with their texts, and this run is to be redacted"),
    (BY, False, "holds redacted results, and this run is not redacted"),
    (BY, OTHER, "redacted by another key"),
    (True, BY, "redacted by another key"),
]


@pytest.mark.parametrize(("first", "then", "told"), WAYS)
def test_a_folder_is_not_gone_on_with_in_another_way(
    secrets: Path, tmp_path: Path, *, first: bool | Redaction, then: bool | Redaction, told: str
) -> None:
    evaluate_files(secrets, tmp_path / "out", models=MODELS, redact=first, part_bytes=9_000)
    before = contents(tmp_path / "out")

    with pytest.raises(StoreError, match=rf"{told}.*, delete the folder, or name another folder"):
        evaluate_files(secrets, tmp_path / "out", models=MODELS, redact=then, part_bytes=9_000, resume=True)

    assert contents(tmp_path / "out") == before
    assert Evaluation.open(tmp_path / "out").summary().traces == 60


@pytest.mark.parametrize(("first", "then"), [(first, then) for first, then, _ in WAYS])
def test_a_folder_that_is_begun_anew_keeps_nothing_of_before(
    secrets: Path, tmp_path: Path, *, first: bool | Redaction, then: bool | Redaction
) -> None:
    evaluate_files(secrets, tmp_path / "out", models=MODELS, redact=first, part_bytes=9_000)
    before = set(contents(tmp_path / "out"))

    evaluate_files(secrets, tmp_path / "out", models=MODELS, redact=then, part_bytes=9_000, overwrite=True)

    assert not before & set(contents(tmp_path / "out"))
    assert bool(leaks(tmp_path / "out")) == (not then)


def test_a_redacted_run_is_gone_on_with(secrets: Path, tmp_path: Path) -> None:
    out, seen = tmp_path / "out", list[Progress]()
    evaluate_files(secrets, out, models=MODELS, redact=BY, part_bytes=3_000)
    before = contents(out)
    (out / sorted(before)[2]).unlink()

    again = evaluate_files(secrets, out, models=MODELS, redact=BY, part_bytes=3_000, resume=True, progress=seen.append)

    assert 40 < seen[-1].resumed < 60
    assert contents(out) == before
    assert list(again.results) == list(evaluate(secrets, models=MODELS, redact=BY).results)


def test_redacted_ids_of_repeated_traces_follow_what_is_before_them(tmp_path: Path) -> None:
    lines: list[dict[str, Any] | str] = [secret(1), *(secret(n) for n in range(2, 30)), secret(1), secret(1)]
    path, seen = write(tmp_path / "t.jsonl", lines), list[Progress]()
    evaluate_files(path, tmp_path / "out", models=MODELS, redact=BY, part_bytes=500)
    lines[0] = "{" + " " * (len(json.dumps(lines[0])) - 1)
    write(path, lines)

    again = evaluate_files(
        path, tmp_path / "out", models=MODELS, redact=BY, part_bytes=500, resume=True, skipped=lambda _: None,
        progress=seen.append,
    )  # fmt: skip

    traces = read_traces(path, on_error="skip", skipped=lambda _: None)
    assert seen[-1].resumed == 30
    assert list(again.results) == list(evaluate(traces, models=MODELS, redact=BY).results)


def test_traces_that_are_redacted_in_part_are_redacted_wholly(tmp_path: Path) -> None:
    half = secret(1) | {"question": BY.text(f"Why, {PERSON}?"), "id": PERSON}
    path = write(tmp_path / "t.jsonl", [half, secret(2)])

    many = evaluate_files(path, tmp_path / "out", models=MODELS, redact=BY)

    assert not leaks(tmp_path / "out")
    assert many.results[0].trace.question.text == half["question"]
    assert list(many.results) == list(evaluate(path, models=MODELS, redact=BY).results)


@pytest.mark.parametrize("redact", [False, True])
def test_answers_of_remote_models_are_kept_beside_texts_alone(tmp_path: Path, *, redact: bool) -> None:
    path = write(tmp_path / "t.jsonl", [line(1)])
    plugins().register(_Remote(), "remote-judge")
    try:
        with suppress(RagCoverError):
            evaluate_files(path, tmp_path / "out", models=Models(judge="far:judge"), measures=["coverage"], redact=redact)
    finally:
        plugins().unregister(name="remote-judge")

    assert bool(list(tmp_path.glob("*.answers.sqlite"))) == (not redact)


class _Remote:
    """A judge far away, that keeps its answers where the run says."""

    fingerprint, threshold = "far", 0.5

    @hook
    def backends(self) -> list[Backend]:
        return [Backend("far", "far away", scorer=lambda _: self)]

    def for_run(self, run: Any) -> Any:
        run.keep({"key": PERSON.encode()})
        return MODELS.judge

    def correctness(self, items: Sequence[Any]) -> Any:
        raise NotImplementedError


def leaks(folder: Path) -> list[str]:
    """Name the files that the person is in, as they are and unpacked."""
    return [path.name for path in folder.iterdir() if any(b"Erika" in content for content in _unpacked(path))]


def _unpacked(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    yield content
    if content.startswith(b"\x1f\x8b"):
        yield gzip.decompress(content)
    if path.suffix == ".parquet":
        for row in read_part(path):
            yield repr(row).encode()
