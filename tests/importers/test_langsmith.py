from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_cover.errors import InputError
from rag_cover.importers import import_traces
from rag_cover.traces import Trace

_DOCUMENTS = [
    {"page_content": "Plants turn light into sugar.", "type": "Document", "metadata": {"source": "biology.pdf", "page": 42}},
    {"page_content": "Chlorophyll absorbs light.", "type": "Document", "metadata": {"source": "biology.pdf", "page": 43}},
]


def _run(name: str, run_type: str, parent: str | None = "root", **fields: Any) -> dict[str, Any]:
    times = {"start_time": "2026-03-01T10:00:00.000000+00:00", "end_time": "2026-03-01T10:00:01.500000+00:00"}
    return {"id": name, "trace_id": "root", "parent_run_id": parent, "name": name, "run_type": run_type, **times, **fields}


_ROOT = _run(
    "root",
    "chain",
    None,
    inputs={"question": "How does photosynthesis work?"},
    outputs={"answer": "It turns light into sugar.", "context": _DOCUMENTS},
    session_name="plants",
    extra={"metadata": {"user_id": "u1"}},
    tags=["prod"],
)
_RETRIEVER = _run("r", "retriever", inputs={"query": "photosynthesis"}, outputs={"documents": _DOCUMENTS})


def _traces(folder: Path, *runs: object, name: str = "runs.jsonl") -> list[Trace]:
    path = folder / name
    path.write_text("\n".join(json.dumps(run) for run in runs), "utf-8")
    return list(import_traces(path))


def test_a_root_run_becomes_a_trace_with_its_retrieval(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _ROOT, _RETRIEVER)

    assert (trace.id, trace.pipeline) == ("root", "plants")
    assert trace.question.text == "How does photosynthesis work?"
    assert trace.answer == "It turns light into sugar."
    (step,) = trace.steps
    assert (step.id, step.kind, step.query, step.duration_s) == ("r", "retrieve", "photosynthesis", 1.5)
    assert [passage.text for passage in step.passages] == ["Plants turn light into sugar.", "Chlorophyll absorbs light."]
    assert step.passages[0].metadata == {"source": "biology.pdf", "page": 42}
    assert (trace.tags, trace.thread_id, trace.user_id, trace.calls) == (("prod",), None, None, None)
    assert trace.metadata == {"name": "root"}


def test_who_asked_is_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    root = _ROOT | {"extra": {"metadata": {"user_id": "u1", "thread_id": "c7", "page": 3}}}
    (tmp_path / "runs.jsonl").write_text(json.dumps(root), "utf-8")

    (silent,), (told,) = (list(import_traces(tmp_path / "runs.jsonl", user_ids=asked)) for asked in (False, True))

    assert (silent.user_id, told.user_id) == (None, "u1")
    assert silent == told.model_copy(update={"user_id": None})
    assert (told.thread_id, told.metadata) == ("c7", {"name": "root", "page": 3})
    assert "u1" not in silent.to_json()


def test_a_models_run_is_a_call_that_names_the_passages_it_was_shown(tmp_path: Path) -> None:
    prompt = f"Answer from this: {_DOCUMENTS[1]['page_content']}\nHow does photosynthesis work?"
    reply = {"text": "It turns light into sugar.", "generation_info": {"finish_reason": "stop"}}
    usage = {"token_usage": {"prompt_tokens": 31, "completion_tokens": 7}, "model_name": "gpt-4.1-mini-2025-04-14"}
    llm = _run(
        "l",
        "llm",
        inputs={"messages": [[{"type": "human", "content": prompt}]]},
        outputs={"generations": [[reply]], "llm_output": usage},
        extra={"metadata": {"ls_model_name": "gpt-4.1-mini"}, "invocation_params": {"model": "gpt-4.1-mini"}},
    )

    (trace,) = _traces(tmp_path, _ROOT, _RETRIEVER, llm)

    assert trace.calls is not None
    (call,) = trace.calls
    assert (call.id, call.model, call.purpose, call.engine, call.parent_id) == ("l", "gpt-4.1-mini", "answer", "root", None)
    assert (call.prompt_tokens, call.completion_tokens, call.finish_reason, call.latency_s) == (31, 7, "stop", 1.5)
    assert call.passages == (trace.steps[0].passages[1].key,)
    assert (call.input, call.output) == (None, None)


def test_a_models_run_that_tells_nothing_is_a_call_of_which_nothing_is_known(tmp_path: Path) -> None:
    llm = _run("l", "llm", "r", prompt_tokens=float("nan"), error="RateLimitError()")

    (trace,) = _traces(tmp_path, _ROOT, _RETRIEVER, llm)

    assert trace.calls is not None
    (call,) = trace.calls
    assert (call.parent_id, call.purpose, call.error) == ("r", "retrieve", "RateLimitError()")
    told = (call.model, call.prompt_tokens, call.completion_tokens, call.finish_reason, call.passages)
    assert told == (None, None, None, None, None)


def test_runs_inside_runs_are_read(tmp_path: Path) -> None:
    child = {name: value for name, value in _RETRIEVER.items() if name not in ("trace_id", "parent_run_id")}

    (trace,) = _traces(tmp_path, _ROOT | {"child_runs": [child]})

    assert [step.id for step in trace.steps] == ["r"]


def test_columns_of_json_text_as_the_csv_export_has_them_are_read(tmp_path: Path) -> None:
    rows = [{name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in _ROOT.items()}]

    (trace,) = _traces(tmp_path, *rows)

    assert trace.answer == "It turns light into sugar."
    assert trace.tags == ("prod",)


def test_messages_are_read_as_question_and_answer(tmp_path: Path) -> None:
    human = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "Hi?"},
    }
    ai = {"type": "ai", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}]}

    (trace,) = _traces(tmp_path, _ROOT | {"inputs": {"messages": [[human]]}, "outputs": {"messages": [human, ai]}})

    assert (trace.question.text, trace.answer) == ("Hi?", "Hello.")


def test_the_last_models_output_stands_in_for_a_root_without_one(tmp_path: Path) -> None:
    generations = {"generations": [[{"text": "From the model.", "message": {}}]], "llm_output": None}
    llm = _run("l", "llm", outputs=generations)

    (trace,) = _traces(tmp_path, _ROOT | {"outputs": None}, llm)

    assert trace.answer == "From the model."


def test_a_tool_that_brings_documents_is_a_step_and_another_is_not(tmp_path: Path) -> None:
    search = _run("search", "tool", inputs={"input": "light"}, outputs={"output": {"content": "…", "artifact": _DOCUMENTS}})
    calculator = _run("calc", "tool", inputs={"input": "1+1"}, outputs={"output": "2"})

    (trace,) = _traces(tmp_path, _ROOT, search, calculator)

    assert [(step.id, step.kind, step.query) for step in trace.steps] == [("search", "tool", "light")]


def test_a_reranker_is_known_by_its_name_and_its_documents(tmp_path: Path) -> None:
    reranker = _run(
        "CohereRerank",
        "chain",
        inputs={"documents": _DOCUMENTS, "query": "q"},
        outputs={"output": _DOCUMENTS[:1]},
        start_time="2026-03-01T10:00:02+00:00",
    )

    (trace,) = _traces(tmp_path, _ROOT, reranker, _RETRIEVER)

    assert [(step.kind, step.input_ids) for step in trace.steps] == [("retrieve", ()), ("rerank", ("r",))]
    assert len(trace.contexts()[-1]) == 1


def test_a_retriever_around_others_that_only_selects_is_a_filter(tmp_path: Path) -> None:
    outer = _run("outer", "retriever", inputs={"query": "q"}, outputs={"documents": _DOCUMENTS[1:]})
    inner = _RETRIEVER | {"parent_run_id": "outer"}

    (trace,) = _traces(tmp_path, _ROOT, outer, inner)

    assert [(step.id, step.kind, step.input_ids, step.parent_id) for step in trace.steps] == [
        ("r", "retrieve", (), "outer"),
        ("outer", "filter", ("r",), None),
    ]


def test_an_error_of_a_run_is_the_error_of_its_step(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _ROOT, _RETRIEVER | {"error": "TimeoutError()", "outputs": None})

    assert trace.steps[0].error == "TimeoutError()"
    assert trace.steps[0].passages == ()


def test_runs_of_many_traces_may_be_interleaved(tmp_path: Path) -> None:
    runs = [
        {**_ROOT, "id": "1", "trace_id": "1"},
        {**_RETRIEVER, "id": "2r", "trace_id": "2", "parent_run_id": "2"},
        {**_RETRIEVER, "id": "1r", "trace_id": "1", "parent_run_id": "1"},
        {**_ROOT, "id": "2", "trace_id": "2"},
    ]

    first, second = _traces(tmp_path, *runs)

    assert [(trace.id, trace.steps[0].id) for trace in (first, second)] == [("1", "1r"), ("2", "2r")]


def test_a_run_whose_parent_is_missing_hangs_under_the_root(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _RETRIEVER | {"parent_run_id": "filtered out"}, _ROOT)

    assert [step.id for step in trace.steps] == ["r"]


def test_without_a_root_the_first_retrieval_tells_the_question(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _RETRIEVER)

    assert trace.question.text == "photosynthesis"
    assert trace.answer is None


def test_a_retriever_traced_alone_is_a_trace_without_an_answer(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _RETRIEVER | {"parent_run_id": None})

    assert (trace.question.text, trace.answer, len(trace.steps)) == ("photosynthesis", None, 1)


def test_a_reference_of_an_experiment_is_the_questions_reference(tmp_path: Path) -> None:
    (trace,) = _traces(tmp_path, _ROOT | {"reference_outputs": {"answer": "Light to sugar."}})

    assert trace.question.references == ("Light to sugar.",)


def test_a_trace_without_a_question_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no question was recorded for the trace 'root'") as caught:
        _traces(tmp_path, _ROOT | {"inputs": {}})

    assert caught.value.line == 1


def test_a_run_without_an_id_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no id"):
        _traces(tmp_path, {"run_type": "chain", "inputs": {}})


def test_runs_that_are_each_others_parents_are_not_lost(tmp_path: Path) -> None:
    fewer = {"documents": _DOCUMENTS[:1]}
    loop = [_RETRIEVER | {"id": "a", "parent_run_id": "b", "outputs": fewer}, _RETRIEVER | {"id": "b", "parent_run_id": "a"}]

    (trace,) = _traces(tmp_path, _ROOT, *loop)

    assert {step.id for step in trace.steps} == {"a", "b"}


def test_two_roots_of_one_trace_become_two_traces(tmp_path: Path) -> None:
    later = _ROOT | {"id": "second", "start_time": "2026-03-01T11:00:00+00:00"}

    first, second = _traces(tmp_path, _ROOT, later)

    assert (first.id, second.id) == ("root/root", "root/second")
