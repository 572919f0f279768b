"""Files of any size measured slice by slice: read where they are measured, written part by part, in the order of the input."""

from rag_cover.evaluation.files.run import evaluate_files

__all__ = ["evaluate_files"]
