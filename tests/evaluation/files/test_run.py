from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover import Evaluation, compare, evaluate, evaluate_files
from rag_cover.errors import InputError, RagCoverError
from rag_cover.hooks import hook
from rag_cover.importers import import_traces
from rag_cover.measures import TraceResult
from rag_cover.plugin_manager import plugins
from rag_cover.stores import read_traces
from tests.evaluation.files.files import MODELS, contents, line, write

pytest.importorskip("pyarrow", reason="needs pyarrow (extra parquet)")


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("written_as", ["parquet", "jsonl"])
def test_results_are_those_of_evaluate(
    traces: Path, tmp_path: Path, workers: int, written_as: Literal["parquet", "jsonl"]
) -> None:
    whole = evaluate(traces, models=MODELS)

    many = evaluate_files(traces, tmp_path / "out", models=MODELS, workers=workers, format=written_as, part_bytes=4_000)

    assert len(contents(tmp_path / "out")) > 5
    assert list(many.results) == list(whole.results)
    assert (many.judge, many.measures, many.seed) == (whole.judge, whole.measures, whole.seed)
    assert many.summary() == whole.summary()


def test_several_files_come_one_after_the_other_each_with_its_own_ids(traces: Path, tmp_path: Path) -> None:
    packed = write(tmp_path / "more.jsonl.gz", [line(number, id=f"t{number}") for number in range(90)])

    both = evaluate_files([packed, traces], tmp_path / "out", models=MODELS, part_bytes=3_000)

    apart = [*evaluate(packed, models=MODELS).results, *evaluate(traces, models=MODELS).results]
    assert list(both.results) == apart
    assert not list((tmp_path / "out").glob("unpacked-*"))


def test_a_table_is_read_as_the_importers_read_it(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"question": f"Why {index}?", "answer": "light " * index, "contexts": ["light", "air"]} for index in range(90)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet", row_group_size=40)

    many = evaluate_files(tmp_path / "t.parquet", tmp_path / "out", models=MODELS, workers=2, part_bytes=3_000)

    assert list(many.results) == list(evaluate(import_traces(tmp_path / "t.parquet"), models=MODELS).results)


def test_a_wrong_row_is_told_by_its_number(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"question": "Why?" if index != 70 else " ", "answer": "light"} for index in range(90)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")

    with pytest.raises(InputError, match=r"t\.parquet, at row 71, \$\.question: the question is blank"):
        evaluate_files(tmp_path / "t.parquet", tmp_path / "out", models=MODELS, part_bytes=500)


def test_a_folder_is_opened_like_a_store(traces: Path, tmp_path: Path) -> None:
    made = evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000)

    opened = Evaluation.open(tmp_path / "out")

    assert opened.summary() == made.summary()
    assert opened.results[-1] == list(made.results)[-1]
    assert opened.results[3:50:9] == list(made.results)[3:50:9]
    assert compare(opened, made).questions == 7
    opened.to_html(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")


_LINES = st.one_of(
    st.builds(lambda number: json.dumps(line(number)), st.integers(0, 2)),
    st.builds(lambda number: json.dumps(line(number, id=f"own-{number}")), st.integers(0, 3)),
    st.sampled_from(["", "  ", "{", "[1]", '{"question": 4}', '{"answer": "x"}', '"text"', '{"question": "\\ud800"}']),
)


@settings(max_examples=25)
@given(
    lines=st.lists(_LINES, max_size=14),
    part_bytes=st.integers(1, 700),
    ending=st.sampled_from(["\n", "\r\n"]),
    cut_short=st.booleans(),
    marked=st.booleans(),
    packed=st.booleans(),
)
def test_any_split_gives_the_traces_ids_and_errors_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, *, lines: list[str], part_bytes: int, ending: str, cut_short: bool, marked: bool,
    packed: bool,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("split")
    text = "".join(line + ending for line in lines)
    content = (b"\xef\xbb\xbf" if marked else b"") + (text[: -len(ending)] if cut_short and text else text).encode()
    path = folder / "traces.jsonl"
    path.write_bytes(gzip.compress(content) if packed else content)

    def whole(errors: list[InputError] | None) -> list[TraceResult]:
        read = [*(read_traces(path) if errors is None else read_traces(path, on_error="skip", skipped=errors.append))]
        return [*evaluate(read, measures=["coverage"], models=MODELS).results] if read else []  # where all lines are skipped

    def split(errors: list[InputError] | None) -> list[TraceResult]:
        made = evaluate_files(
            path, folder / ("all" if errors is None else "some"), measures=["coverage"], models=MODELS, workers=2,
            format="jsonl", part_bytes=part_bytes, skipped=None if errors is None else errors.append,
        )  # fmt: skip
        return list(made.results)

    for skips in (False, True):
        outcomes = []
        for reading in (whole, split):
            errors: list[InputError] = []
            try:
                found: list[TraceResult] | str = reading(errors if skips else None)
            except RagCoverError as error:
                found = f"{type(error).__name__}: {error}"
            outcomes.append((found, [str(error) for error in errors]))
        assert outcomes[0] == outcomes[1]


class _Watching:
    """A plugin that counts results."""

    def __init__(self) -> None:
        self.seen: list[TraceResult] = []

    @hook
    def on_result(self, result: TraceResult) -> None:
        self.seen.append(result)


def test_plugins_that_watch_are_told_of_every_result_in_order(traces: Path, tmp_path: Path) -> None:
    watching = _Watching()
    plugins().register(watching, "watching")
    try:
        made = evaluate_files(traces, tmp_path / "out", models=MODELS, workers=3, part_bytes=4_000)
        evaluate_files(traces, tmp_path / "out", models=MODELS, part_bytes=4_000, resume=True)
    finally:
        plugins().unregister(watching)

    assert watching.seen == list(made.results)
