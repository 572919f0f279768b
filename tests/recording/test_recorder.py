"""A recording makes traces of questions and measures them beside the pipeline: what it keeps, counts and tells."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover import Evaluation, Models, Role, SubQuestion, Trace
from rag_cover.backends import fingerprint_of
from rag_cover.errors import InvalidValueError, RagCoverError, StoreError
from rag_cover.hooks import hook
from rag_cover.measures import TraceResult
from rag_cover.plugin_manager import plugins
from rag_cover.recording import LIVE_MODELS, Recording, RecordingCounts
from rag_cover.stores import read_traces
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedReceiver
from tests.recording.parts import ANSWER, QUESTION, ask, begun, record

PATIENCE_S = 20
RECEIVER = ScriptedReceiver({"scatters": (ANSWER,)}, prior=("Because of the sea.",))
MODELS = Models(judge=KeywordScorer(), entailer=KeywordEntailer(), receiver=RECEIVER)


@pytest.fixture
def recorded() -> Iterator[Recording]:
    """A recording that only records."""
    with Recording(measures=()) as recording:
        yield recording


@pytest.fixture
def measured() -> Iterator[Recording]:
    """A recording that measures by words."""
    with Recording(models=MODELS) as recording:
        yield recording


def flushed(recording: Recording) -> Recording:
    assert recording.flush(PATIENCE_S)
    return recording


def settled(counts: RecordingCounts) -> bool:
    became: tuple[int, ...] = astuple(replace(counts, begun=0, failed=0))
    return sum(became) == counts.begun


def test_a_question_becomes_a_trace_with_its_steps_its_prompt_and_its_answer(recorded: Recording) -> None:
    ask(recorded, found=[record("air", ANSWER, title="Air", score=0.5, metadata={"page": 3})])

    (trace,) = flushed(recorded).traces
    assert (trace.question.text, trace.answer, trace.pipeline) == (QUESTION, ANSWER, "Engine")
    (step,) = trace.steps
    assert (step.id, step.kind, step.query) == ("BM25", "retrieve", QUESTION)
    (passage,) = step.passages
    assert (passage.id, passage.text, passage.title, passage.score, dict(passage.metadata)) == (
        *("air", ANSWER, "Air", 0.5),
        {"page": 3},
    )
    assert trace.prompt == step.passages
    assert recorded.counts == RecordingCounts(begun=1, recorded=1)


def test_what_is_recorded_is_measured(measured: Recording) -> None:
    with measured.question(sub_questions=[QUESTION]):
        ask(measured)

    (result,) = flushed(measured).results
    assert result.trace == measured.traces[0]
    assert result.coverage is not None
    assert result.utility is not None
    assert (result.coverage.core_coverage, result.coverage.decomposed_by) == (1.0, "given")
    assert (measured.counts, measured.errors) == (RecordingCounts(begun=1, measured=1), ())


def test_utility_is_told_against_the_gold_answer_where_there_is_one_else_against_the_own_answer() -> None:
    with Recording(measures=["utility"], models=MODELS, references={"gold?": "Air scatters blue light."}) as recording:
        ask(recording, "gold?")
        ask(recording, "own?")
        ask(recording, "gold?")
        results = flushed(recording).results

    told = [result.utility.references for result in results if result.utility is not None]
    assert told == ["gold", "answer", "gold"]


def test_the_local_models_are_asked_unless_told_otherwise() -> None:
    assert (LIVE_MODELS.judge, LIVE_MODELS.receiver, LIVE_MODELS.generator) == ("embedded", "embedded", None)


def test_the_embedded_judge_finds_what_the_answer_covers() -> None:
    with Recording(measures=["coverage"]) as recording, recording.question(sub_questions=[QUESTION, "What does a pump cost?"]):
        ask(recording, answer="The sky is blue because air molecules scatter blue light more than red light.")
        (result,) = flushed(recording).results

    assert result.coverage is not None
    assert [each.answer is not None and each.answer.covered for each in result.coverage.sub_questions] == [True, False]


def test_what_is_said_of_a_question_is_in_its_trace(recorded: Recording) -> None:
    sub_questions: list[SubQuestion | str] = ["What scatters?", SubQuestion("Who found it?", role="background")]

    with recorded.question(
        "Why is it blue?", id="q1", references="Air.", sub_questions=sub_questions, metadata={"user": {"name": "Ada"}}
    ):
        ask(recorded, "Why so?")
    ask(recorded, "And then?")

    said, unsaid = flushed(recorded).traces
    assert (said.question.text, said.question.id, said.question.references) == ("Why is it blue?", "q1", ("Air.",))
    assert [each.text for each in said.sub_questions or ()] == ["What scatters?", "Who found it?"]
    assert said.metadata["user"] == {"name": "Ada"}
    assert (unsaid.question.text, unsaid.question.id, unsaid.question.references) == ("And then?", None, ())
    assert (unsaid.sub_questions, "user" in unsaid.metadata) == (None, False)


def test_what_was_said_inside_holds_until_it_is_left(recorded: Recording) -> None:
    with recorded.question(id="outer"):
        with recorded.question(id="inner"):
            ask(recorded)
        ask(recorded)

    assert [trace.question.id for trace in flushed(recorded).traces] == ["inner", "outer"]


def test_what_is_said_on_one_thread_is_not_said_on_another(recorded: Recording) -> None:
    ready = threading.Barrier(8)

    def question(number: int) -> None:
        with recorded.question(id=f"id {number}", metadata={"number": number}):
            ready.wait(PATIENCE_S)
            ask(recorded, f"question {number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(question, range(8)))

    found = {(trace.question.text, trace.question.id, trace.metadata["number"]) for trace in flushed(recorded).traces}
    assert found == {(f"question {number}", f"id {number}", number) for number in range(8)}


def test_what_is_said_in_one_task_is_not_said_in_another(recorded: Recording) -> None:
    async def question(number: int) -> None:
        with recorded.question(id=f"id {number}"):
            await asyncio.sleep(0)
            ask(recorded, f"question {number}")
            await asyncio.sleep(0)

    async def questions() -> None:
        await asyncio.gather(*map(question, range(8)))

    asyncio.run(questions())

    found = {(trace.question.text, trace.question.id) for trace in flushed(recorded).traces}
    assert found == {(f"question {number}", f"id {number}") for number in range(8)}


def test_what_is_said_to_one_recording_is_not_said_to_another(recorded: Recording) -> None:
    with Recording(measures=()) as other, other.question(id="other"):
        ask(recorded)
        ask(other)

        assert [each.traces[0].question.id for each in map(flushed, (recorded, other))] == [None, "other"]


def test_gold_answers_are_found_by_their_question() -> None:
    references = {QUESTION: "Air.", "Which?": ["One.", "Two."]}

    with Recording(measures=(), references=references) as recording:
        for question in (QUESTION, "Which?", "Unknown?"):
            ask(recording, question)
        with recording.question(references="Said here."):
            ask(recording)
        with recording.question("Which?"):
            ask(recording, "which one of them")
        traces = flushed(recording).traces

    found = [trace.question.references for trace in traces]
    assert found == [("Air.",), ("One.", "Two."), (), ("Said here.",), ("One.", "Two.")]


def test_sub_questions_that_the_pipeline_asked_may_be_left_out() -> None:
    def asked(*, own: bool) -> Trace:
        with Recording(measures=(), own_sub_questions=own) as recording:
            engine = begun(recording, "question", query=QUESTION)
            apart = begun(recording, "other", parent=engine.id)
            apart.sub_questions = [{"text": "What scatters?", "role": "core"}]
            for call in (apart, engine):
                recording.gathering.settle(call.id)
            return flushed(recording).traces[0]

    kept, left_out = asked(own=True), asked(own=False)

    assert [each.text for each in kept.sub_questions or ()] == ["What scatters?"]
    assert left_out.sub_questions is None


def test_the_pipeline_is_named_as_told() -> None:
    with Recording(measures=(), pipeline="tuesday's") as recording:
        ask(recording)

        assert flushed(recording).traces[0].pipeline == "tuesday's"


def test_a_question_that_failed_says_why_and_has_no_answer(recorded: Recording) -> None:
    ask(recorded, answer=None, error="ValueError: down")

    (trace,) = flushed(recorded).traces
    assert (trace.answer, trace.metadata["error"]) == (None, "ValueError: down")


def test_calls_named_alike_are_numbered(recorded: Recording) -> None:
    engine = begun(recorded, "question", query=QUESTION)
    for name in ("BM25", "Dense", "BM25"):
        retriever = begun(recorded, "retriever", parent=engine.id, name=name, query=QUESTION)
        retriever.passages = [record(f"{name} found")]
        recorded.gathering.settle(retriever.id)
    recorded.gathering.settle(engine.id)

    assert [step.id for step in flushed(recorded).traces[0].steps] == ["BM25-1", "Dense", "BM25-2"]


def test_metadata_that_is_no_json_is_written_as_text(recorded: Recording) -> None:
    ask(recorded, found=[record("air", metadata={"folder": Path("a/b"), "page": 3})])

    (passage,) = flushed(recorded).traces[0].steps[0].passages
    assert passage.metadata["page"] == 3
    assert "a/b" in str(passage.metadata["folder"])


def test_the_same_questions_are_sampled_with_the_same_seed() -> None:
    def sampled(seed: int) -> list[str]:
        with Recording(measures=(), sampling=0.3, seed=seed) as recording:
            for number in range(100):
                ask(recording, f"question {number}")
            counts = flushed(recording).counts
            assert (counts.begun, counts.unsampled) == (100, 100 - counts.recorded)
            return [trace.question.text for trace in recording.traces]

    assert sampled(7) == sampled(7) != sampled(8)
    assert 10 < len(sampled(7)) < 60


def test_only_the_latest_results_stay_in_memory_and_all_are_counted() -> None:
    with Recording(measures=["groundedness"], models=MODELS, keep=3) as recording:
        for number in range(10):
            ask(recording, f"question {number}")
        flushed(recording)

        assert [result.trace.question.text for result in recording.results] == ["question 7", "question 8", "question 9"]
        assert recording.counts == RecordingCounts(begun=10, measured=10)


def test_results_are_handed_over_from_another_thread_as_they_come() -> None:
    told: list[tuple[str, str]] = []

    def hear(result: TraceResult) -> None:
        told.append((result.trace.question.text, threading.current_thread().name))

    with Recording(measures=["groundedness"], models=MODELS, on_result=hear) as recording:
        for number in range(3):
            ask(recording, f"question {number}")

    assert told == [(f"question {number}", "rag-cover-recording") for number in range(3)]


def test_plugins_that_watch_see_every_result() -> None:
    class Watcher:
        def __init__(self) -> None:
            self.seen: list[TraceResult] = []

        @hook
        def on_result(self, result: TraceResult) -> None:
            self.seen.append(result)

    watcher = Watcher()
    plugins().register(watcher)
    try:
        with Recording(measures=["groundedness"], models=MODELS) as recording:
            ask(recording)
    finally:
        plugins().unregister(watcher)

    assert tuple(watcher.seen) == recording.results != ()


def test_close_measures_what_waits_and_can_be_called_twice() -> None:
    recording = Recording(measures=["groundedness"], models=MODELS)
    for number in range(40):
        ask(recording, f"question {number}")

    recording.close()
    recording.close()

    assert recording.counts == RecordingCounts(begun=40, measured=40)
    assert len(recording.results) == 40


def test_what_ends_after_close_is_dropped_and_counted() -> None:
    recording = Recording(measures=())
    engine = begun(recording, "question", query=QUESTION)
    recording.close()

    recording.gathering.settle(engine.id)
    ask(recording)

    assert recording.traces == ()
    assert recording.counts == RecordingCounts(begun=2, dropped=2)
    assert recording.counts.lost == 2


def test_an_answer_that_nobody_read_before_close_is_left_out_of_its_trace() -> None:
    recording = Recording(measures=())
    engine = begun(recording, "question", query=QUESTION)
    recording.gathering.await_answer(engine.id)
    recording.gathering.settle(engine.id)

    recording.close()

    assert [trace.answer for trace in recording.traces] == [None]
    assert recording.counts == RecordingCounts(begun=1, recorded=1)


def test_the_trace_file_holds_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"

    with Recording(measures=(), traces=path) as recording:
        with recording.question(id="q1", references=["Air."], metadata={"user": "Ada"}):
            ask(recording)
        ask(recording, "What else?", answer=None)
        flushed(recording)
        before_close = tuple(read_traces(path))

    assert before_close == recording.traces == tuple(read_traces(path))


def test_a_trace_file_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    for question in ("First?", "Second?"):
        with Recording(measures=(), traces=path) as recording:
            ask(recording, question)

    assert [trace.question.text for trace in read_traces(path)] == ["First?", "Second?"]


def test_the_store_holds_the_results_as_an_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"

    with Recording(measures=["groundedness", "utility"], models=MODELS, store=path, seed=5) as recording:
        for number in range(20):
            ask(recording, f"question {number}")
        evaluation = flushed(recording).evaluation

    opened = Evaluation.open(path)
    assert tuple(opened.results) == recording.results
    assert (opened.judge, opened.measures, opened.seed) == (evaluation.judge, evaluation.measures, evaluation.seed)
    assert (opened.judge, opened.seed) == (fingerprint_of(MODELS.entailer), 5)  # neither asks a scorer


def test_results_are_an_evaluation_with_a_summary_and_a_report(measured: Recording, tmp_path: Path) -> None:
    for number in range(3):
        with measured.question(sub_questions=[QUESTION]):
            ask(measured, f"Why is the sky blue, {number}?")

    evaluation = flushed(measured).evaluation
    evaluation.to_html(tmp_path / "report.html")

    assert tuple(evaluation.results) == measured.results
    assert evaluation.measures == ("coverage", "groundedness", "utility", "complexity")
    assert "Why is the sky blue, 2?" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (evaluation.summary().traces, evaluation.summary().failed) == (3, 0)


def test_a_recording_that_measures_nothing_has_no_evaluation(recorded: Recording) -> None:
    with pytest.raises(InvalidValueError, match=r"give evaluate\(\) its traces"):
        _ = recorded.evaluation


@pytest.mark.parametrize("given_", [{"store": 3}, {"traces": 5}, {"redact": "x"}, {"redact": 1}])
def test_what_is_no_path_and_no_redaction_is_refused(given_: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match=f"{next(iter(given_))} is .*; give (the path of a file|True, False, or a Red)"):
        Recording(**given_)


@pytest.mark.parametrize("given_", [{"sampling": 1.5}, {"sampling": "0.5"}, {"sampling": -0.1}, {"capacity": 0}, {"keep": 0}])
def test_arguments_out_of_range_are_refused(given_: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError, match=f"{next(iter(given_))} is .*; give a (number|whole number) "):
        Recording(**given_)  # type: ignore[arg-type]  # that is the test


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"references": ["Paris"]}, "references is a list; give a mapping"),
        ({"references": {"Where?": 3}}, "references of 'Where\\?': 3 is neither a text nor a list of texts"),
        ({"on_result": 3}, "on_result is a int; give a function"),
    ],
)
def test_arguments_of_another_kind_are_refused_at_once(given_: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        Recording(**given_)  # type: ignore[arg-type]  # that is the test


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (Models(judge="embeded"), "No backend is called 'embeded'. Did you mean 'embedded'"),
        (Models(receiver="gpt"), "No backend is called 'gpt'"),
        (Models(decomposer="mine.jsonl"), r"decomposer=Path\('mine.jsonl'\)"),
    ],
)
def test_names_that_nobody_answers_to_are_refused_before_anything_is_recorded(models: Models, said: str) -> None:
    with pytest.raises(RagCoverError, match=said):
        Recording(models=models)


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"sub_questions": "What?"}, "sub_questions is one text; give a list"),
        ({"text": " "}, "the question's text is blank"),
        ({"references": 3}, "references: 3 is neither a text nor a list of texts"),
    ],
)
def test_what_cannot_be_said_of_a_question_is_refused_where_it_is_said(
    recorded: Recording, given_: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidValueError, match=said), recorded.question(**given_):  # type: ignore[arg-type]  # that is the test
        pass


def test_sub_questions_that_are_texts_are_core_ones(recorded: Recording) -> None:
    with recorded.question(sub_questions=["How hot?", SubQuestion("How come?")]):
        ask(recorded)
    recorded.flush(PATIENCE_S)

    (trace,) = recorded.traces
    assert [each.role for each in trace.sub_questions or ()] == [Role.CORE, None]


def test_halves_of_characters_do_not_cost_a_trace(recorded: Recording) -> None:
    ask(recorded, "Wh\ud83dy?", "Be\ud83dcause.", found=[record("a\ud83d", "T\ud83d", metadata={"page": "\ud83d"})])
    recorded.flush(PATIENCE_S)

    (trace,) = recorded.traces
    assert recorded.errors == ()
    assert (trace.question.text, trace.answer, trace.steps[0].passages[0].text) == ("Wh\ufffdy?", "Be\ufffdcause.", "T\ufffd")


@pytest.mark.parametrize("measures", [["coverge"], ["coverage", "coverage"]])
def test_measures_that_cannot_be_are_refused_at_once(measures: list[str]) -> None:
    with pytest.raises(InvalidValueError):
        Recording(measures=measures)


def test_one_measure_is_given_in_a_list() -> None:
    with pytest.raises(InvalidValueError, match=r"measures is 'coverage'; give a list, even of one: \['coverage'\]"):
        Recording(measures="coverage")


def test_a_closed_recording_is_not_entered_again() -> None:
    with Recording(measures=()) as recording:
        pass

    with pytest.raises(InvalidValueError, match="this recording is closed, and records nothing more"), recording:
        pass


def test_files_that_cannot_be_written_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written to: .*name another file"):
        Recording(measures=(), traces=tmp_path)
    with pytest.raises(StoreError):
        Recording(store=tmp_path / "nowhere" / "results.sqlite")


@given(
    st.lists(st.sampled_from(["answered", "unread", "read", "open", "unreadable", "broken"]), max_size=25),
    st.sampled_from([1.0, 0.5]),
    st.sampled_from([1, 3, 1000]),
    st.integers(0, 2**32),
)
def test_every_question_is_counted_once(fates: list[str], sampling: float, capacity: int, seed: int) -> None:
    draw = random.Random(seed)
    recording = Recording(measures=(), sampling=sampling, capacity=capacity, seed=seed)
    recording.gathering._most_drafts, recording.gathering._most_calls = 5, 3
    for fate in fates:
        _suffer(recording, fate)
        if draw.random() < 0.2:
            assert settled(flushed(recording).counts)

    flushed(recording)
    assert settled(recording.counts)
    recording.close()

    counts = recording.counts
    assert settled(counts)
    assert (counts.begun, counts.under_way, counts.waiting) == (len(fates), 0, 0)
    assert counts.recorded == len(recording.traces)
    assert len(recording.errors) == counts.unreadable


def _suffer(recording: Recording, fate: str) -> None:
    match fate:
        case "answered":
            ask(recording)
            return
        case "unreadable":
            ask(recording, "")
            return
        case _:
            engine = begun(recording, "question", query=QUESTION)
    gathering = recording.gathering
    match fate:
        case "broken":
            for _ in range(5):
                gathering.settle(begun(recording, "retriever", parent=engine.id, query=QUESTION).id)
            gathering.settle(engine.id)
        case "unread" | "read":
            draft = gathering.draft_of(engine.id)
            gathering.await_answer(engine.id)
            gathering.settle(engine.id)
            if fate == "read" and draft is not None:
                gathering.set_answer(draft, ANSWER)
