"""What pipelines do, recorded while they run and measured beside them: the part that every framework's adapter shares."""

from rag_cover.recording.arguments import question_context_from, refuse_closed
from rag_cover.recording.attached import attach_once
from rag_cover.recording.calls import Call, OpenTrace, QuestionContext, TraceDraft
from rag_cover.recording.collector import Noting
from rag_cover.recording.options import RecordingOptions, document_options
from rag_cover.recording.recorder import LIVE_MODELS, Recording
from rag_cover.recording.recording_counts import RecordingCounts
from rag_cover.recording.score_sender import SendScore
from rag_cover.recording.scores import NamedScore
from rag_cover.recording.telemetry import place
from rag_cover.recording.trace_builder import References
from rag_cover.recording.unrecorded import UnrecordedRetriever, is_unrecorded
from rag_cover.spans.model import SpanKind as CallKind

__all__ = [
    "LIVE_MODELS",
    "Call",
    "CallKind",
    "NamedScore",
    "Noting",
    "OpenTrace",
    "QuestionContext",
    "Recording",
    "RecordingCounts",
    "RecordingOptions",
    "References",
    "SendScore",
    "TraceDraft",
    "UnrecordedRetriever",
    "attach_once",
    "document_options",
    "is_unrecorded",
    "place",
    "question_context_from",
    "refuse_closed",
]
