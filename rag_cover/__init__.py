"""rag_cover: see what RAG answers leave out, where it was lost, and what each retrieval step was worth.

Importing the package loads none of its modules: a name loads what it needs when it is first asked for (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_cover.backends import ScoringItem
    from rag_cover.belief import UtilityMeasure
    from rag_cover.complexity import ComplexityMeasure
    from rag_cover.coverage import CoverageMeasure
    from rag_cover.errors import RagCoverError
    from rag_cover.evaluation import Evaluation, Progress, evaluate
    from rag_cover.evaluation.comparison import compare, compare_pairwise
    from rag_cover.evaluation.files import evaluate_files
    from rag_cover.grounding import GroundednessMeasure
    from rag_cover.importers import read_labels
    from rag_cover.judge_check import JudgeCheck, check_judge
    from rag_cover.judge_fit import JudgeFit, fit_judge
    from rag_cover.labels import LabelledText
    from rag_cover.llm_calls import LLMCall
    from rag_cover.measures import Measure, MeasureResult, NotApplicable, NumberResult, Score, SummaryMetric, measure_of
    from rag_cover.nuggets import Assignment, Fragment, Importance, Nugget, NuggetSource
    from rag_cover.pairwise import PairwiseComparison
    from rag_cover.questions import Passage, Question, Role, SubQuestion
    from rag_cover.redaction import Redaction
    from rag_cover.registry import (
        Models,
        build_retriever,
        open_abstention,
        open_embedder,
        open_entailer,
        open_generator,
        open_locator,
        open_receiver,
        open_relevance,
        open_scorer,
    )
    from rag_cover.stores import Label, Store, append_labels, read_label_file, read_traces, write_traces
    from rag_cover.summaries import Comparison, Summary
    from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

__all__ = [
    "Assignment",
    "Comparison",
    "ComplexityMeasure",
    "CoverageMeasure",
    "Evaluation",
    "Fragment",
    "GroundednessMeasure",
    "Importance",
    "JudgeCheck",
    "JudgeFit",
    "LLMCall",
    "Label",
    "LabelledText",
    "Measure",
    "MeasureResult",
    "Models",
    "NotApplicable",
    "Nugget",
    "NuggetSource",
    "NumberResult",
    "PairwiseComparison",
    "Passage",
    "Progress",
    "Question",
    "RagCoverError",
    "Redaction",
    "RetrievalStep",
    "Role",
    "Sample",
    "SampleSet",
    "Score",
    "ScoringItem",
    "Store",
    "SubQuestion",
    "Summary",
    "SummaryMetric",
    "Trace",
    "UtilityMeasure",
    "append_labels",
    "build_retriever",
    "check_judge",
    "compare",
    "compare_pairwise",
    "evaluate",
    "evaluate_files",
    "fit_judge",
    "measure_of",
    "open_abstention",
    "open_embedder",
    "open_entailer",
    "open_generator",
    "open_locator",
    "open_receiver",
    "open_relevance",
    "open_scorer",
    "read_label_file",
    "read_labels",
    "read_traces",
    "write_traces",
]

_HOMES = {
    "Assignment": "rag_cover.nuggets",
    "Comparison": "rag_cover.summaries",
    "ComplexityMeasure": "rag_cover.complexity",
    "CoverageMeasure": "rag_cover.coverage",
    "Evaluation": "rag_cover.evaluation",
    "Fragment": "rag_cover.nuggets",
    "GroundednessMeasure": "rag_cover.grounding",
    "Importance": "rag_cover.nuggets",
    "JudgeCheck": "rag_cover.judge_check",
    "JudgeFit": "rag_cover.judge_fit",
    "LLMCall": "rag_cover.llm_calls",
    "Label": "rag_cover.stores",
    "LabelledText": "rag_cover.labels",
    "Measure": "rag_cover.measures",
    "MeasureResult": "rag_cover.measures",
    "Models": "rag_cover.registry",
    "NotApplicable": "rag_cover.measures",
    "Nugget": "rag_cover.nuggets",
    "NuggetSource": "rag_cover.nuggets",
    "NumberResult": "rag_cover.measures",
    "PairwiseComparison": "rag_cover.pairwise",
    "Passage": "rag_cover.questions",
    "Progress": "rag_cover.evaluation",
    "Question": "rag_cover.questions",
    "RagCoverError": "rag_cover.errors",
    "Redaction": "rag_cover.redaction",
    "RetrievalStep": "rag_cover.traces",
    "Role": "rag_cover.questions",
    "Sample": "rag_cover.traces",
    "SampleSet": "rag_cover.traces",
    "Score": "rag_cover.measures",
    "ScoringItem": "rag_cover.backends",
    "Store": "rag_cover.stores",
    "SubQuestion": "rag_cover.questions",
    "Summary": "rag_cover.summaries",
    "SummaryMetric": "rag_cover.measures",
    "Trace": "rag_cover.traces",
    "UtilityMeasure": "rag_cover.belief",
    "append_labels": "rag_cover.stores",
    "build_retriever": "rag_cover.registry",
    "check_judge": "rag_cover.judge_check",
    "compare": "rag_cover.evaluation.comparison",
    "compare_pairwise": "rag_cover.evaluation.comparison",
    "evaluate": "rag_cover.evaluation",
    "evaluate_files": "rag_cover.evaluation.files",
    "fit_judge": "rag_cover.judge_fit",
    "measure_of": "rag_cover.measures",
    "open_abstention": "rag_cover.registry",
    "open_embedder": "rag_cover.registry",
    "open_entailer": "rag_cover.registry",
    "open_generator": "rag_cover.registry",
    "open_locator": "rag_cover.registry",
    "open_receiver": "rag_cover.registry",
    "open_relevance": "rag_cover.registry",
    "open_scorer": "rag_cover.registry",
    "read_label_file": "rag_cover.stores",
    "read_labels": "rag_cover.importers",
    "read_traces": "rag_cover.stores",
    "write_traces": "rag_cover.stores",
}


if not TYPE_CHECKING:  # a checker would take every name for one that is there

    def __getattr__(name: str) -> object:
        """Load a public name from its home, once."""
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name)
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
