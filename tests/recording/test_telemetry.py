"""Results as OpenInference attributes on OpenTelemetry spans, where the process uses OpenTelemetry."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, Trace, evaluate
from rag_cover.backends import Abstention, Failure
from rag_cover.coverage import CoverageResult
from rag_cover.measures import TraceResult
from rag_cover.recording import Recording, place
from rag_cover.recording.scores import NamedScore
from rag_cover.recording.telemetry import NAME, _evaluation, _event, emit
from rag_cover.testing import KeywordEntailer, KeywordScorer, ScriptedReceiver
from tests.recording.parts import ANSWER, QUESTION, begun, record

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

MODELS = Models(
    judge=KeywordScorer(),
    entailer=KeywordEntailer(),
    receiver=ScriptedReceiver({"scatters": (ANSWER,)}, prior=("Because of the sea.",)),
)
AIR = Passage(ANSWER, id="air", score=0.5, metadata={"page": 3})
STEP = RetrievalStep(
    query=QUESTION, passages=(AIR,), id="BM25", started_at=datetime(2026, 3, 1, 10, tzinfo=UTC), duration_s=0.25
)
RERANK = RetrievalStep(query=QUESTION, passages=(AIR,), kind="rerank", id="Ranker", input_ids=("BM25",))
TRACE = Trace(question=Question(QUESTION), steps=(STEP, RERANK), answer=ANSWER)
MakeUtility = Callable[..., TraceResult]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> TracerProvider:
    """A provider of this test alone: the process's own can be set only once."""
    pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    made = TracerProvider(shutdown_on_exit=False)
    monkeypatch.setattr(trace, "get_tracer", made.get_tracer)
    return made


@pytest.fixture
def exporter(provider: TracerProvider) -> InMemorySpanExporter:
    """Keep what is written."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    return kept


def spans_of(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_each_steps_worth_hangs_under_the_span_it_ran_in(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    tracer = provider.get_tracer("host")
    with Recording(measures=["utility", "groundedness"], models=MODELS) as recording:
        with tracer.start_as_current_span("query") as query:
            engine = begun(recording, "question", query=QUESTION, place=place())
            with tracer.start_as_current_span("retrieve") as retrieve:
                retriever = begun(recording, "retriever", parent=engine.id, name="BM25", query=QUESTION, place=place())
                retriever.passages = [record("air", ANSWER)]
                recording.gathering.settle(retriever.id)
            writer = begun(recording, "synthesis", parent=engine.id, query=QUESTION)
            writer.consumed, writer.answer = [record("air", ANSWER)], ANSWER
            recording.gathering.settle(writer.id)
            engine.answer = ANSWER
            recording.gathering.settle(engine.id)
        recording.flush(20)

        (result,) = recording.results
        assert recording.errors == ()
    spans = spans_of(exporter)
    assert set(spans) == {"query", "retrieve", "rag_cover.retrieve", "rag_cover.answer"}
    worth, answer = spans["rag_cover.retrieve"], spans["rag_cover.answer"]
    for span, around in ((worth, retrieve), (answer, query)):
        assert span.parent is not None
        assert (span.parent.span_id, span.context.trace_id) == (
            around.get_span_context().span_id,
            query.get_span_context().trace_id,
        )
    assert result.utility is not None
    assert told(worth) == {
        "openinference.span.kind": "EVALUATOR",
        "input.value": QUESTION,
        "evaluations.0.evaluation.name": "delta_seper",
        "evaluations.0.evaluation.score": result.utility.steps[0].marginal.value,
        "evaluations.0.evaluation.label": "toward its own answer",
        "evaluations.0.evaluation.annotator_kind": "CODE",
        "evaluations.0.evaluation.explanation": "belief 0.500 before the step, 1.000 after it",
        "evaluations.0.evaluation.identifier": result.utility.receiver,
    }
    names = {value for key, value in told(answer).items() if key.endswith("evaluation.name")}
    assert names == {"groundedness", "delta_seper"}
    assert (told(answer)["input.value"], told(answer)["output.value"]) == (QUESTION, ANSWER)


def test_a_step_that_ran_in_no_span_gets_one_with_its_passages_and_its_times(
    exporter: InMemorySpanExporter, make_utility: MakeUtility
) -> None:
    emit(make_utility(TRACE, 0.25, 0.5, 0.0))

    spans = spans_of(exporter)
    found, ranked = spans["BM25"], spans["Ranker"]
    assert (
        told(found).items()
        >= {
            "openinference.span.kind": "RETRIEVER",
            "input.value": QUESTION,
            "retrieval.documents.0.document.id": "air",
            "retrieval.documents.0.document.content": ANSWER,
            "retrieval.documents.0.document.score": 0.5,
            "retrieval.documents.0.document.metadata": '{"page": 3}',
            "evaluations.0.evaluation.name": "delta_seper",
            "evaluations.0.evaluation.score": 0.5,
            "evaluations.0.evaluation.label": "toward the gold answer",
        }.items()
    )
    assert told(ranked)["openinference.span.kind"] == "RERANKER"
    assert told(ranked)["reranker.output_documents.0.document.id"] == "air"
    assert STEP.started_at is not None
    start = STEP.started_at.timestamp() * 1e9
    assert (found.start_time, found.end_time) == pytest.approx((start, start + 250_000_000), abs=1000)
    assert {found.parent, ranked.parent, spans["rag_cover.answer"].parent} == {None}


@pytest.mark.parametrize(("abstained", "said"), [("wholly", "wholly"), ("no", "no"), (None, None)])
def test_the_answer_s_span_tells_whether_it_declines(
    exporter: InMemorySpanExporter, abstained: Abstention | None, said: str | None
) -> None:
    coverage = CoverageResult((), (), 0.5, 0.5, prompt_assumed=False, decomposed_by="given", abstained=abstained)

    emit(TraceResult(TRACE, {"coverage": coverage}))

    assert told(spans_of(exporter)["rag_cover.answer"]).get("rag_cover.coverage.abstained") == said


def test_a_step_that_was_not_measured_adds_nothing_to_the_span_it_ran_in(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with provider.get_tracer("host").start_as_current_span("retrieve"):
        where = place()
    assert where is not None
    trace = TRACE.model_copy(update={"metadata": {NAME: {"root": list(where), "steps": {"BM25": list(where)}}}})

    emit(TraceResult(trace, {}))

    assert [span.name for span in exporter.get_finished_spans()] == ["retrieve", "Ranker"]


def test_a_question_that_the_host_does_not_sample_writes_nothing(
    exporter: InMemorySpanExporter, provider: TracerProvider, make_utility: MakeUtility
) -> None:
    from opentelemetry import trace as api

    unsampled = api.SpanContext(7, 8, is_remote=False, trace_flags=api.TraceFlags(api.TraceFlags.DEFAULT))
    with api.use_span(api.NonRecordingSpan(unsampled)):
        where = place()
    assert where is not None
    steps = {"BM25": list(where), "Ranker": list(where)}
    trace = TRACE.model_copy(update={"metadata": {NAME: {"root": list(where), "steps": steps}}})

    emit(make_utility(trace, 0.25, 0.5, 0.0))

    assert provider.get_tracer("host") is not None
    assert exporter.get_finished_spans() == ()


def test_outside_of_any_span_there_is_no_place() -> None:
    pytest.importorskip("opentelemetry.trace", reason="needs opentelemetry-api")

    assert place() is None


@pytest.mark.slow
def test_without_opentelemetry_nothing_is_written_and_nothing_is_imported() -> None:
    script = """
import sys
from rag_cover import Question, RetrievalStep, Trace
from rag_cover.recording import place
from rag_cover.recording.telemetry import emit
from rag_cover.measures import TraceResult

emit(TraceResult(Trace(question=Question("Why?"), steps=(RetrievalStep(query="Why?", id="s"),)), {}))
print(place(), [name for name in sys.modules if name.startswith("opentelemetry")])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["None", "[]"]


EVENT = "gen_ai.evaluation.result"
SEA = Passage("The sea is wide.", id="sea")
SEARCH = RetrievalStep(query=QUESTION, passages=(AIR, SEA), id="search")
GRADE = RetrievalStep(query=QUESTION, passages=(SEA,), kind="filter", id="grade", input_ids=("search",))
DROPPED = Trace(question=Question(QUESTION), steps=(SEARCH, GRADE), prompt=(SEA,), answer=SEA.text)


def dropped() -> TraceResult:
    """Measure an answer that lacks what a filter dropped."""
    (result,) = evaluate([DROPPED], measures=["coverage"], models=Models(judge=KeywordScorer())).results
    return result


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Keep the log records of a provider of this test alone."""
    exports = pytest.importorskip("opentelemetry.sdk._logs.export", reason="needs opentelemetry-sdk with events")
    from opentelemetry import _logs
    from opentelemetry.sdk._logs import LoggerProvider

    made = LoggerProvider(shutdown_on_exit=False)
    kept = exports.InMemoryLogRecordExporter()
    made.add_log_record_processor(exports.SimpleLogRecordProcessor(kept))
    monkeypatch.setattr(_logs, "get_logger", made.get_logger)
    monkeypatch.setattr(_logs, "get_logger_provider", lambda: made)
    return kept


def test_each_score_is_an_event_of_the_span_that_answered(
    provider: TracerProvider, exporter: InMemorySpanExporter, records: Any
) -> None:
    with provider.get_tracer("host").start_as_current_span("query") as query:
        where = place()
    assert where is not None
    found = dropped()

    emit(TraceResult(found.trace.model_copy(update={"metadata": {NAME: {"root": list(where)}}}), found.outcomes))

    events = [each.log_record for each in records.get_finished_logs()]
    assert {event.event_name for event in events} == {EVENT}
    assert {(event.trace_id, event.span_id) for event in events} == {
        (query.get_span_context().trace_id, query.get_span_context().span_id)
    }
    core = next(dict(event.attributes) for event in events if event.attributes["gen_ai.evaluation.name"] == "core_coverage")
    assert core == {
        "gen_ai.evaluation.name": "core_coverage",
        "gen_ai.evaluation.score.value": 0.0,
        "gen_ai.evaluation.score.label": "none",
        "gen_ai.evaluation.explanation": f"0 of 1 core sub-questions answered; dropped by `grade`: {QUESTION}",
    }
    assert spans_of(exporter)["rag_cover.answer"].events == ()


def test_without_logs_the_events_are_on_our_own_span(exporter: InMemorySpanExporter) -> None:
    emit(dropped())

    answer = spans_of(exporter)["rag_cover.answer"]
    assert {event.name for event in answer.events} == {EVENT}
    assert {(event.attributes or {})["gen_ai.evaluation.name"] for event in answer.events} == {"core_coverage", "rating"}


def test_the_loss_is_in_the_attributes_of_openinference_too(exporter: InMemorySpanExporter) -> None:
    emit(dropped())

    attributes = told(spans_of(exporter)["rag_cover.answer"])
    assert attributes["evaluations.0.evaluation.name"] == "core_coverage"
    assert attributes["evaluations.0.evaluation.label"] == "none"
    assert "dropped by `grade`" in attributes["evaluations.0.evaluation.explanation"]


def test_a_measure_that_failed_is_an_event_with_the_type_of_its_error(exporter: InMemorySpanExporter) -> None:
    emit(TraceResult(TRACE, {"coverage": Failure("TimeoutError", "the judge did not answer")}))

    (event,) = spans_of(exporter)["rag_cover.answer"].events
    assert dict(event.attributes or {}) == {"gen_ai.evaluation.name": "coverage", "error.type": "TimeoutError"}


def test_the_names_are_those_of_the_conventions() -> None:
    """As the packages of both conventions have them: a name that moves on is seen here."""
    genai = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes", reason="needs semconv")

    known = {
        genai.GEN_AI_EVALUATION_NAME,
        genai.GEN_AI_EVALUATION_SCORE_VALUE,
        genai.GEN_AI_EVALUATION_SCORE_LABEL,
        genai.GEN_AI_EVALUATION_EXPLANATION,
    }
    assert set(_event(NamedScore("core_coverage", 0.5, "some", "1 of 2"))) == known
    openinference = pytest.importorskip("openinference.semconv.trace", reason="needs openinference-semantic-conventions")
    evaluation, span = openinference.EvaluationAttributes, openinference.SpanAttributes
    written = _evaluation(0, NamedScore("core_coverage", 0.5, "some", "1 of 2"), identifier="judge")
    assert set(written) == {
        f"{span.EVALUATIONS}.0.{name}"
        for name in (
            evaluation.EVALUATION_NAME,
            evaluation.EVALUATION_SCORE,
            evaluation.EVALUATION_LABEL,
            evaluation.EVALUATION_EXPLANATION,
            evaluation.EVALUATION_ANNOTATOR_KIND,
            evaluation.EVALUATION_IDENTIFIER,
        )
    }


def test_what_is_told_of_redacted_results_quotes_nothing(exporter: InMemorySpanExporter, records: Any) -> None:
    canary = DROPPED.model_copy(update={"question": Question("Why is the canary yellow?", id="canary-7")})
    run = evaluate([canary], measures=["coverage"], models=Models(judge=KeywordScorer()), redact=True)

    emit(run.results[0])

    said = [*records.get_finished_logs(), *exporter.get_finished_spans()]
    assert said
    assert "canary" not in "".join(each.to_json() if hasattr(each, "to_json") else str(each) for each in said)
