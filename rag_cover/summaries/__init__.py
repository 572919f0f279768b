"""Many results summed up: every metric with its interval, where core sub-questions were lost, what was not measured and why.

Questions are the clusters: a question asked of several pipelines, or several times, is resampled as a whole.
"""

from rag_cover.summaries.accumulators import Sums, question_key
from rag_cover.summaries.build import summarise
from rag_cover.summaries.complexities import NO_KIND, ComplexitySummary, KindGroup
from rag_cover.summaries.metrics import OwnedMetric, metrics_of_installed
from rag_cover.summaries.result import ChangedQuestion, Comparison, MetricComparison, MetricValue, OutcomeCounts, Summary
from rag_cover.summaries.utilities import BINS, UtilityGroup, UtilitySummary, own_name

__all__ = [
    "BINS",
    "NO_KIND",
    "ChangedQuestion",
    "Comparison",
    "ComplexitySummary",
    "KindGroup",
    "MetricComparison",
    "MetricValue",
    "OutcomeCounts",
    "OwnedMetric",
    "Summary",
    "Sums",
    "UtilityGroup",
    "UtilitySummary",
    "metrics_of_installed",
    "own_name",
    "question_key",
    "summarise",
]
