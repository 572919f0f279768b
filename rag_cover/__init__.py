"""rag_cover: see what RAG answers leave out, where it was lost, and what each retrieval step was worth."""

from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace

__all__ = ["Passage", "Question", "RetrievalStep", "Role", "Sample", "SampleSet", "SubQuestion", "Trace"]
