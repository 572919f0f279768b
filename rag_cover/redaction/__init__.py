"""Results without their texts: each text is replaced by its hash, and every number stays.

Equal texts have equal hashes, so that results are joined, grouped and counted as before. Names of pipelines, models and
measures stay, and so do times and the numbers of metadata.
"""

from rag_cover.redaction.hashing import Redaction
from rag_cover.redaction.marked import refuse_unmarked
from rag_cover.redaction.outcomes import redact_failure, redact_result
from rag_cover.redaction.refusals import redact_problem, redaction_entry, refuse_other_redaction
from rag_cover.redaction.traces import redact_trace

__all__ = [
    "Redaction",
    "redact_failure",
    "redact_problem",
    "redact_result",
    "redact_trace",
    "redaction_entry",
    "refuse_other_redaction",
    "refuse_unmarked",
]
