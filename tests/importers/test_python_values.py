"""What a program has at hand becomes traces, or a sentence that says what would."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, Trace, evaluate
from rag_cover.errors import InputError
from rag_cover.importers import read_any, trace_count
from rag_cover.stores import write_traces
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer

ROW = {"question": "Why is the sky blue?", "answer": "Air scatters light.", "contexts": ["Air scatters blue light."]}
TRACE = Trace(
    question=Question("Why is the sky blue?"),
    answer="Air scatters light.",
    steps=(RetrievalStep(passages=(Passage("Air scatters blue light."),)),),
)


def _seen(source: Any) -> tuple[str, str | None, list[str]]:
    (trace,) = read_any(source)
    return trace.question.text, trace.answer, [passage.text for step in trace.steps or () for passage in step.passages]


EXPECTED = ("Why is the sky blue?", "Air scatters light.", ["Air scatters blue light."])


@dataclass
class Case:
    """A case as DeepEval's dataclasses were."""

    input: str
    actual_output: str
    retrieval_context: list[str]
    metadata: dict[str, str] = field(default_factory=dict)


class Cases:
    """DeepEval's dataset: what it holds stands under ``test_cases``."""

    def __init__(self, *cases: Case) -> None:
        self.test_cases = list(cases)


@dataclass
class Stream:
    """A dataclass that yields traces, such as a file that is being read."""

    traces: list[Trace]

    def __iter__(self) -> Iterator[Trace]:
        return iter(self.traces)


class Split:
    """A split of a Hugging Face dataset: rows by iteration, no data frame."""

    column_names = ("question", "answer", "contexts")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter([dict(ROW)])

    def __len__(self) -> int:
        return 1


def test_a_path_is_read_whatever_its_format(tmp_path: Path) -> None:
    write_traces(tmp_path / "traces.jsonl", [TRACE])
    (tmp_path / "table.csv").write_text(
        "question,answer,context\nWhy is the sky blue?,Air scatters light.,Air scatters blue light.\n"
    )

    for name in ("traces.jsonl", "table.csv"):
        assert _seen(tmp_path / name) == _seen(str(tmp_path / name)) == EXPECTED


@pytest.mark.parametrize(
    "source",
    [
        TRACE,
        [TRACE],
        iter([TRACE]),
        Stream([TRACE]),
        [TRACE.model_dump(mode="json", by_alias=True)],
        dict(ROW),
        [dict(ROW)],
        (dict(ROW) for _ in range(1)),
        Split(),
        Cases(Case(*ROW.values())),  # type: ignore[arg-type]
        [Case(*ROW.values())],  # type: ignore[arg-type]
    ],
    ids=["trace", "traces", "iterator", "stream", "dumped", "dict", "dicts", "generator", "split", "dataset", "cases"],
)
def test_values_are_read_as_files_of_them_are(source: Any) -> None:
    assert _seen(source) == EXPECTED


def test_a_data_frame_is_read_row_by_row_and_its_gaps_are_gaps() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([ROW, {"question": "Why is grass green?"}])

    sky, grass = read_any(frame)

    assert (sky.answer, grass.answer) == (EXPECTED[1], None)
    assert not grass.steps
    assert trace_count(frame) == 2


def test_a_polars_frame_is_read_row_by_row() -> None:
    pl = pytest.importorskip("polars")

    assert _seen(pl.DataFrame([ROW])) == EXPECTED


def test_llama_index_responses_come_with_their_questions() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.response.schema import Response
    from llama_index.core.schema import NodeWithScore, TextNode

    response = Response("Air scatters light.", source_nodes=[NodeWithScore(node=TextNode(text="Air scatters blue light."))])

    assert _seen([(ROW["question"], response)]) == EXPECTED
    with pytest.raises(InputError, match=r"\[0\]: a response does not say what was asked; give pairs"):
        list(read_any([response]))


def test_langsmith_runs_are_put_together() -> None:
    schemas = pytest.importorskip("langsmith.schemas")
    root, inner = uuid.uuid4(), uuid.uuid4()
    common = {"trace_id": root, "start_time": datetime(2026, 1, 1, tzinfo=UTC), "end_time": datetime(2026, 1, 1, tzinfo=UTC)}
    runs = [
        schemas.Run(
            id=root,
            name="rag",
            run_type="chain",
            inputs={"input": ROW["question"]},
            outputs={"output": ROW["answer"]},
            **common,
        ),
        schemas.Run(
            id=inner,
            name="search",
            run_type="retriever",
            parent_run_id=root,
            inputs={"query": ROW["question"]},
            outputs={"documents": [{"page_content": text, "metadata": {}} for text in ROW["contexts"]]},
            **common,
        ),
    ]

    assert _seen(runs) == EXPECTED


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (7, "traces are not read from a value of type 'int'; give the path of a file, traces, dicts"),
        (b"bytes", "traces are not read from a value of type 'bytes'"),
        ([TRACE, "Why?"], "[1]: a value of type 'str' is no trace"),
        ([dict(ROW), 3], "[1]: a value of type 'int' is no trace"),
        ({"train": Split(), "test": Split()}, "a dataset of several splits (train, test); give one of them"),
        ([{"wrong": "x"}], "[0]: this is none of the formats known by sight"),
        ([{**ROW, "contexts": 7}], "[0], $.contexts[0]: expected a text"),
        ("no-such-file.jsonl", "no-such-file.jsonl: there is no such file"),
    ],
    ids=["int", "bytes", "str", "int among dicts", "splits", "unknown", "field", "no file"],
)
def test_what_is_no_trace_is_named_with_its_place(source: Any, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        list(read_any(source))


def test_evaluate_takes_them_and_counts_them() -> None:
    seen: list[int | None] = []
    models = Models(judge=KeywordScorer(), locator=KeywordLocator(), entailer=KeywordEntailer())

    evaluation = evaluate([dict(ROW), dict(ROW)], models=models, progress=lambda progress: seen.append(progress.total))

    assert len(list(evaluation.results)) == 2
    assert set(seen) == {2}
