from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_cover.backends import Failure, Span
from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.errors import InputError
from rag_cover.llm_calls import CallPurpose, FinishReason, LLMCall
from rag_cover.measures import TraceResult
from rag_cover.nuggets import Fragment, Importance, Nugget, NuggetSource
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.stores import Store, read_traces, write_traces
from rag_cover.stores.validation import trace_from
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)  # control characters and NUL among them
NOT_BLANK = TEXT.filter(str.strip)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OFFSETS = st.integers(-720, 720).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.none() | st.datetimes(timezones=st.none() | OFFSETS)
METADATA: st.SearchStrategy[Mapping[str, Any]] = st.dictionaries(TEXT, JSON, max_size=3)


PASSAGES = st.builds(
    Passage,
    TEXT,
    id=st.none() | TEXT,
    title=st.none() | TEXT,
    score=st.none() | FINITE,
    metadata=METADATA,
)
QUESTIONS = st.builds(Question, NOT_BLANK, id=st.none() | TEXT, references=st.lists(TEXT, max_size=2).map(tuple))
SUB_QUESTIONS = st.builds(
    SubQuestion, NOT_BLANK, role=st.none() | st.sampled_from(Role), references=st.lists(NOT_BLANK, max_size=2).map(tuple)
)
STEPS = st.builds(
    RetrievalStep,
    query=TEXT,
    passages=st.lists(PASSAGES, max_size=2).map(tuple),
    kind=st.sampled_from(["retrieve", "tool", "rerank", "filter", "fuse"]),
    started_at=MOMENTS,
    duration_s=st.none() | st.floats(0, 1e6),
    error=st.none() | TEXT,
)
LOGPROBS = st.just(-math.inf) | st.floats(-1e6, 0)
SAMPLES = st.builds(
    Sample,
    TEXT,
    token_logprobs=st.none() | st.lists(LOGPROBS, max_size=3).map(tuple),
    finish_reason=st.sampled_from([None, "stop", "length", "filter"]),
)
SAMPLE_SETS = st.builds(
    SampleSet,
    receiver=TEXT,
    context=st.sampled_from(["none", "after", "alone", "without"]),
    samples=st.lists(SAMPLES, max_size=2).map(tuple),
)
SOURCES = st.builds(
    NuggetSource,
    kind=st.sampled_from(["passage", "answer"]),
    id=TEXT,
    fragments=st.lists(st.builds(Fragment, NOT_BLANK, start=st.none() | st.integers(0, 1 << 40)), max_size=2).map(tuple),
)
NUGGETS = st.builds(
    Nugget,
    NOT_BLANK,
    id=st.none() | TEXT,
    importance=st.none() | st.sampled_from(Importance),
    importance_source=st.sampled_from([None, "given", "rules", "model:openai:gpt-4.1-mini"]),
    question=st.none() | NOT_BLANK,
    sources=st.lists(SOURCES, max_size=2).map(tuple),
    metadata=METADATA,
)
COUNTS = st.none() | st.integers(0, 1 << 40)
CALLS = st.builds(
    LLMCall,
    id=st.none() | TEXT,
    model=st.none() | TEXT,
    purpose=st.none() | st.sampled_from(get_args(CallPurpose)),
    engine=st.none() | TEXT,
    parent_id=st.none() | TEXT,
    passages=st.none() | st.lists(TEXT, max_size=2).map(tuple),
    input=st.none() | TEXT,
    output=st.none() | TEXT,
    prompt_tokens=COUNTS,
    completion_tokens=COUNTS,
    finish_reason=st.none() | st.sampled_from(get_args(FinishReason)),
    started_at=MOMENTS,
    latency_s=st.none() | st.floats(0, 1e6),
    error=st.none() | TEXT,
    metadata=METADATA,
)
TRACES = st.builds(
    Trace,
    question=QUESTIONS,
    steps=st.lists(STEPS, max_size=3).map(tuple),
    prompt=st.none() | st.lists(PASSAGES, max_size=2).map(tuple),
    answer=st.none() | TEXT,
    sub_questions=st.none() | st.lists(SUB_QUESTIONS, max_size=2).map(tuple),
    samples=st.lists(SAMPLE_SETS, max_size=2).map(tuple),
    nuggets=st.none() | st.lists(NUGGETS, max_size=2).map(tuple),
    calls=st.none() | st.lists(CALLS, max_size=2).map(tuple),
    pipeline=st.none() | TEXT,
    tags=st.lists(NOT_BLANK, max_size=2).map(tuple),
    thread_id=st.none() | NOT_BLANK,
    user_id=st.none() | NOT_BLANK,
    metadata=METADATA,
)


@pytest.mark.slow
@given(st.lists(TRACES, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=50)
def test_what_is_written_is_read_back_exactly(tmp_path: Path, traces: list[Trace]) -> None:
    path = tmp_path / "traces.jsonl"
    written = [trace.model_copy(update={"id": f"t{number}"}) for number, trace in enumerate(traces)]

    count = write_traces(path, written)

    assert count == len(traces)
    assert (list(read_traces(path)) if traces else []) == written


@given(TRACES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=40)
def test_any_trace_survives_the_store(tmp_path: Path, trace: Trace) -> None:
    verdict = Verdict(0.1 + 0.2, covered=True, fragment=Span(0, 3))
    covered = SubQuestionCoverage("s", Role.CORE, "given", answer=verdict, chunks=(verdict,), loss=Loss.UNUSED)
    coverage = CoverageResult((covered,), ("text:\nx",), 0.5, None, prompt_assumed=True, decomposed_by="given")
    result = TraceResult(trace, {"coverage": coverage, "groundedness": Failure("timeout", "too slow", 3)})

    with Store(tmp_path / "run.db") as store:
        store.append([(0, "k", result)])

        assert store.result(0) == result


@given(st.lists(st.integers(-(1 << 62), 1 << 62), unique=True, max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
def test_any_ordinals_come_back_sorted(tmp_path: Path, ordinals: list[int]) -> None:
    with Store(tmp_path / "run.db") as store:
        store.clear()
        store.append([(ordinal, "k", _named(ordinal)) for ordinal in ordinals])

        results = store.results()

        assert [result.trace.id for result in results] == [f"t{ordinal}" for ordinal in sorted(ordinals)]


def _named(ordinal: int) -> TraceResult:
    return TraceResult(Trace(question=Question(text="q"), id=f"t{ordinal}"))


@given(st.binary(max_size=60) | JSON.map(lambda data: json.dumps(data).encode()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_content_raises_anything_but_an_input_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(content)

    traces, error = _read(path)

    assert bool(traces) != bool(error)
    assert error is None or error.file == path


def _read(path: Path) -> tuple[list[Trace], InputError | None]:
    try:
        return list(read_traces(path)), None
    except InputError as error:
        return [], error


_NAMES = st.sampled_from(
    [
        *Trace.model_fields,
        *RetrievalStep.model_fields,
        *Passage.model_fields,
        *SampleSet.model_fields,
        *Nugget.model_fields,
        *LLMCall.model_fields,
    ]
)


@given(st.recursive(JSON, lambda inner: st.dictionaries(_NAMES, inner) | st.lists(inner), max_leaves=20))
@settings(deadline=None)
def test_any_json_is_a_trace_that_can_be_written_or_an_input_error(data: object) -> None:
    try:
        trace = trace_from({"question": "q"} | data if isinstance(data, dict) else data)
    except InputError:
        return

    assert trace_from(json.loads(trace.to_json())) == trace
