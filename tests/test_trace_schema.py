"""Schema 2 of traces: what it adds, what schema 1 still says, and what no result depends on."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_jsonable_python

from rag_cover.errors import InputError
from rag_cover.evaluation.blocks import content_key
from rag_cover.importers import read_labels
from rag_cover.llm_calls import LLMCall
from rag_cover.nuggets import Fragment, Importance, Nugget, NuggetSource
from rag_cover.questions import Passage, Question, SubQuestion, Value
from rag_cover.stores import Correction, Label, read_label_file, read_traces, write_traces
from rag_cover.stores.validation import trace_from
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace, content_of, name_of

SCHEMA_1 = Path(__file__).parent / "stores/golden/traces_schema_1.jsonl"
NAMES = ("54ac6375c8b85ce4", "0c9a5ac10e4ef7a4", "d10bd61f310297b2")
"""The names that the traces of that file had when schema 1 was written."""

A, B, C = (Passage(name, id=name) for name in "abc")


def test_a_file_of_schema_1_is_read_as_the_same_traces_with_the_same_names() -> None:
    lines = [json.loads(line) for line in SCHEMA_1.read_text("utf-8").splitlines()]
    written = [{name: value for name, value in line.items() if name != "schema"} for line in lines]

    traces = list(read_traces(SCHEMA_1))

    assert {line["schema"] for line in lines} == {1}
    assert [trace.to_dict() for trace in traces] == written
    assert [content_of(trace) for trace in traces] == written  # so that results measured before are found again
    assert tuple(name_of(trace) for trace in traces) == NAMES
    assert all(
        (trace.nuggets, trace.calls, trace.tags, trace.thread_id, trace.user_id) == (None, None, (), None, None)
        for trace in traces
    )


def test_traces_of_schema_1_are_written_with_schema_2(tmp_path: Path) -> None:
    before = list(read_traces(SCHEMA_1))

    write_traces(tmp_path / "traces.jsonl", before)

    lines = (tmp_path / "traces.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["schema"] for line in lines} == {2}
    assert list(read_traces(tmp_path / "traces.jsonl")) == before


def test_a_newer_schema_is_refused_with_its_line_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "traces.jsonl").write_text('{"question": "Why?"}\n{"schema": 3, "question": "Why?"}\n')

    with pytest.raises(
        InputError, match=r"traces.jsonl, line 2, at \$: this trace has schema 3, .* pip install --upgrade rag-cover"
    ):
        list(read_traces(tmp_path / "traces.jsonl"))


def test_a_fusion_replaces_the_lists_that_it_joins() -> None:
    steps = (
        RetrievalStep(id="dense", passages=(A, B)),
        RetrievalStep(id="sparse", passages=(B, C)),
        RetrievalStep(id="tool", kind="tool", passages=(A,)),
        RetrievalStep(id="fused", kind="fuse", input_ids=("dense", "sparse"), passages=(B, C)),
    )
    trace = Trace(question="Why?", steps=steps)

    assert trace.contexts()[-1] == (A, B, C)
    assert trace.chunks == (A, B, C)
    assert Trace(question="Why?", steps=(*steps[:3], RetrievalStep(kind="fuse", passages=(B,)))).effective_prompt == (
        (B,),
        True,
    )


def test_a_plain_string_is_a_nugget_and_a_fragment() -> None:
    trace = trace_from(
        {
            "question": "Why?",
            "nuggets": [
                "Air scatters light.",
                {
                    "text": "It is blue.",
                    "importance": "vital",
                    "sources": [
                        {"kind": "passage", "id": "p1", "fragments": ["blue", {"text": "sky", "start": 4}]},
                        {"kind": "answer"},
                    ],
                },
            ],
        }
    )

    own = NuggetSource(kind="answer")
    passage = NuggetSource(kind="passage", id="p1", fragments=(Fragment("blue"), Fragment("sky", start=4)))
    assert trace.nuggets == (
        Nugget("Air scatters light."),
        Nugget("It is blue.", importance=Importance.VITAL, sources=(passage, own)),
    )
    assert trace.nuggets[1].importance_source == "given"
    assert trace.nuggets[0].importance_source is None


@pytest.mark.parametrize(
    ("field", "value", "where", "why"),
    [
        ("calls", [{"prompt_tokens": -1}], "calls[0].prompt_tokens", "expected 0 or more, got the number -1"),
        ("calls", [{"prompt_tokens": 1.5}], "calls[0].prompt_tokens", "expected a whole number"),
        ("calls", [{"latency_s": "fast"}], "calls[0].latency_s", "expected a number"),
        ("calls", [{}, {"finish_reason": "end"}], "calls[1].finish_reason", "expected 'stop', 'length', 'filter',"),
        ("calls", [{"purpose": "fun"}], "calls[0].purpose", "expected 'answer', 'decompose'"),
        ("calls", [{"tokens": 3}], "calls[0]", "unknown field 'tokens' of LLMCall"),
        ("calls", {}, "calls", "expected a list, got an object"),
        ("nuggets", [" "], "nuggets[0]", "this is blank"),
        ("nuggets", [4], "nuggets[0]", "expected a string or an object, got the number 4"),
        ("nuggets", [{"text": "x", "importance": "core"}], "nuggets[0].importance", "expected 'vital' or 'okay'"),
        ("nuggets", [{"text": "x", "importance_source": "me"}], "nuggets[0].importance_source", "is no source of a role"),
        ("nuggets", [{"text": "x", "sources": [{"kind": "passage"}]}], "nuggets[0].sources[0]", "needs the id of the passage"),
        ("nuggets", [{"text": "x", "sources": [{"id": "p"}]}], "nuggets[0].sources[0].kind", "this field is missing"),
        ("nuggets", [{"text": "x", "sources": [{"kind": "answer", "fragments": [{"text": "x", "start": -1}]}]}],
         "nuggets[0].sources[0].fragments[0].start", "expected 0 or more"),
        ("tags", ["a", " "], "tags[1]", "this is blank"),
        ("tags", [1], "tags[0]", "expected a string"),
        ("thread_id", "", "thread_id", "this is blank"),
        ("user_id", 7, "user_id", "expected a string, got the number 7"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_path(field: str, value: object, where: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        trace_from({"question": "Why?", field: value})

    assert (caught.value.field or "").removeprefix("$.").startswith(where)
    assert why in caught.value.problem


def test_tags_are_kept_once_and_one_may_be_a_plain_string() -> None:
    assert Trace(question="Why?", tags=("b", "a", "b")).tags == ("b", "a")
    assert trace_from({"question": "Why?", "tags": "beta"}).tags == ("beta",)


def test_calls_that_were_not_recorded_are_not_calls_that_were_not_made() -> None:
    unknown, none = Trace(question="Why?"), Trace(question="Why?", calls=())

    assert (unknown.calls, none.calls) == (None, ())
    assert unknown != none
    assert Trace.model_validate_json(none.to_json()) == none


@given(
    st.lists(st.sampled_from("abc"), max_size=3).map(tuple),
    st.none() | st.just("c7"),
    st.none() | st.just("u1"),
    st.none() | st.floats(0, 9),
)
def test_results_do_not_depend_on_who_asked_where_under_which_tags_or_how_long_calls_took(
    tags: tuple[str, ...], thread_id: str | None, user_id: str | None, latency_s: float | None
) -> None:
    plain = Trace(question="Why?", answer="Because.", calls=(LLMCall(model="m"),))
    key_of = content_key([], {})

    marked = Trace(
        question="Why?",
        answer="Because.",
        calls=(LLMCall(model="m", latency_s=latency_s, started_at=datetime(2026, 1, 31, tzinfo=UTC)),),
        tags=tags,
        thread_id=thread_id,
        user_id=user_id,
    )

    assert (name_of(marked), key_of(marked)) == (name_of(plain), key_of(plain))


@pytest.mark.parametrize(
    "other",
    [
        {"calls": [{"model": "n"}]},
        {"calls": []},
        {"nuggets": ["x"]},
        {"sub_questions": [SubQuestion("Why?", references="x")]},
        {"metadata": {"tags": ["a"]}},
    ],
)
def test_results_depend_on_all_else(other: dict[str, object]) -> None:
    plain = trace_from({"question": "Why?", "calls": [{"model": "m"}], "sub_questions": ["Why?"]})
    key_of = content_key([], {})

    changed = trace_from({"question": "Why?", "calls": [{"model": "m"}], "sub_questions": ["Why?"], **other})

    assert name_of(changed) != name_of(plain)
    assert key_of(changed) != key_of(plain)


PAGE = "docs/trace_schema.md"
VALUES = (
    Trace,
    Question,
    SubQuestion,
    Nugget,
    NuggetSource,
    Fragment,
    RetrievalStep,
    Passage,
    LLMCall,
    SampleSet,
    Sample,
    Label,
    Correction,
)


def _described(page: str, value: type[Value]) -> dict[str, str]:
    """Return the defaults that the page gives for the fields of a value, by their names."""
    section = re.split(rf"^###? {value.__name__}$", page, flags=re.MULTILINE)[1].partition("\n#")[0]
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `?([^|`]+)`? \| [^|]+ \|$", section, flags=re.MULTILINE)
    return dict(rows)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_the_page_describes_every_field_with_its_default(source_tree: Path, value: type[Value]) -> None:
    defaults = {
        name: "required"
        if field.is_required()
        else json.dumps(to_jsonable_python(field.get_default(call_default_factory=True)))
        for name, field in value.model_fields.items()
    }

    described = _described((source_tree / PAGE).read_text("utf-8"), value)

    assert described == {name: "retrieve" if default == '"retrieve"' else default for name, default in defaults.items()}


def test_the_example_of_the_page_uses_every_field_and_is_read(source_tree: Path) -> None:
    example = json.loads(re.findall(r"```json\n(.*?)```", (source_tree / PAGE).read_text("utf-8"), re.DOTALL)[0])

    trace = trace_from(example)

    assert Trace.model_validate_json(trace.to_json()) == trace
    assert trace.contexts()[-1] == trace.steps[-1].passages
    assert {*example} == {"schema", *Trace.model_fields} - {"user_id"}  # which is off by default
    assert example["calls"][0].keys() == LLMCall.model_fields.keys() - {"input", "output", "error", "metadata"}


def test_the_labels_of_the_page_are_read(source_tree: Path, tmp_path: Path) -> None:
    lines = re.findall(r'```jsonl title="labels"\n(.*?)```', (source_tree / PAGE).read_text("utf-8"), re.DOTALL)[0]
    (tmp_path / "run.labels.jsonl").write_text(lines, "utf-8")

    answer, passage = read_label_file(tmp_path / "run.labels.jsonl")

    assert (answer.label, answer.annotator, passage.label, passage.passage_id) == (True, "ada", False, "p2")
    assert [row.label for row in read_labels(tmp_path / "run.labels.jsonl")] == [True, False]
