"""Many results summed up: every metric with its interval, where core sub-questions were lost, what was not measured and why.

Questions are the clusters: a question asked of several pipelines, or several times, is resampled as a whole.
"""

from rag_cover.summaries.accumulators import Sums
from rag_cover.summaries.build import SummaryBuilder, summarise
from rag_cover.summaries.judge_error import JudgeError, JudgeKnowledge
from rag_cover.summaries.labelled_results import LabelledResults, is_all_labelled, list_labelled_verdicts, put_labels
from rag_cover.summaries.metrics import OwnedMetric, metrics_of_installed
from rag_cover.summaries.result import ChangedQuestion, Comparison, MetricComparison, MetricValue, OutcomeCounts, Summary

__all__ = [
    "ChangedQuestion",
    "Comparison",
    "JudgeError",
    "JudgeKnowledge",
    "LabelledResults",
    "MetricComparison",
    "MetricValue",
    "OutcomeCounts",
    "OwnedMetric",
    "Summary",
    "SummaryBuilder",
    "Sums",
    "is_all_labelled",
    "list_labelled_verdicts",
    "metrics_of_installed",
    "put_labels",
    "summarise",
]
