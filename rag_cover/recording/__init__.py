"""What pipelines do, recorded while they run and measured beside them: the part that every framework's adapter shares."""

from rag_cover.recording.arguments import question_context_from, refuse_closed
from rag_cover.recording.calls import Call, QuestionContext, TraceDraft
from rag_cover.recording.collector import Noting
from rag_cover.recording.options import RecordingOptions, document_options
from rag_cover.recording.recorder import LIVE_MODELS, Recording
from rag_cover.recording.recording_counts import RecordingCounts
from rag_cover.recording.telemetry import place
from rag_cover.recording.trace_builder import References
from rag_cover.spans.model import SpanKind as CallKind

__all__ = [
    "LIVE_MODELS",
    "Call",
    "CallKind",
    "Noting",
    "QuestionContext",
    "Recording",
    "RecordingCounts",
    "RecordingOptions",
    "References",
    "TraceDraft",
    "document_options",
    "place",
    "question_context_from",
    "refuse_closed",
]
