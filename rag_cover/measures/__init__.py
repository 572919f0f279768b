"""What a measure is, and what evaluating a trace with it gives.

A measure is all that is known of one kind of result: what a trace must carry, which models it asks, how a block of traces is
measured, which numbers a summary makes of the results, and the score that an evaluator returns. Everything else (stores,
summaries, comparison, redaction, reports, recordings, clusters) is the same for all measures.

The plain case, one number for each trace, is a function: `measure_of`.
"""

from rag_cover.measures.functions import measure_of
from rag_cover.measures.numbers import NumberResult, number_metric
from rag_cover.measures.outcomes import RESULT_SCHEMA, ResultType, TraceResult, UnknownResult
from rag_cover.measures.protocol import (
    Measure,
    MeasureResult,
    ModelKind,
    NotApplicable,
    Outcome,
    Score,
    SummaryMetric,
    Unit,
    ratio,
)
from rag_cover.measures.texts import Text

__all__ = [
    "RESULT_SCHEMA",
    "Measure",
    "MeasureResult",
    "ModelKind",
    "NotApplicable",
    "NumberResult",
    "Outcome",
    "ResultType",
    "Score",
    "SummaryMetric",
    "Text",
    "TraceResult",
    "Unit",
    "UnknownResult",
    "measure_of",
    "number_metric",
    "ratio",
]
