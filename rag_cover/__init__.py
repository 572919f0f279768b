"""rag_cover: see what RAG answers leave out, where it was lost, and what each retrieval step was worth."""

from rag_cover.agreement import JudgeCheck, LabelledText
from rag_cover.belief import UtilityMeasure
from rag_cover.bulk import evaluate_files
from rag_cover.checking import check_judge
from rag_cover.comparison import compare, compare_pairwise
from rag_cover.complexity import ComplexityMeasure
from rag_cover.coverage import CoverageMeasure, GroundednessMeasure
from rag_cover.errors import RagCoverError
from rag_cover.evaluation import Evaluation, Progress, evaluate
from rag_cover.importers import read_labels
from rag_cover.pairwise import PairwiseComparison
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.redaction import Redaction
from rag_cover.registry import (
    Models,
    build_retriever,
    open_embedder,
    open_entailer,
    open_generator,
    open_locator,
    open_receiver,
    open_relevance,
    open_scorer,
)
from rag_cover.stores import Store, read_traces, write_traces
from rag_cover.summaries import Comparison, Summary
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

__all__ = [
    "Comparison",
    "ComplexityMeasure",
    "CoverageMeasure",
    "Evaluation",
    "GroundednessMeasure",
    "JudgeCheck",
    "LabelledText",
    "Models",
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
    "Store",
    "SubQuestion",
    "Summary",
    "Trace",
    "UtilityMeasure",
    "build_retriever",
    "check_judge",
    "compare",
    "compare_pairwise",
    "evaluate",
    "evaluate_files",
    "open_embedder",
    "open_entailer",
    "open_generator",
    "open_locator",
    "open_receiver",
    "open_relevance",
    "open_scorer",
    "read_labels",
    "read_traces",
    "write_traces",
]
