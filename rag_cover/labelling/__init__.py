"""Verdicts labelled by people on a page of this machine: which ones, how they are kept, what they tell."""

from rag_cover.labelling.agreement import AnnotatorAgreement, AnnotatorDisagreement, compare_annotators, find_disagreements
from rag_cover.labelling.findings import Findings, find_out
from rag_cover.labelling.items import LabelItem, list_items
from rag_cover.labelling.sampling import RANDOM_SHARE, Draw, LabelSampling
from rag_cover.labelling.session import Grade, LabelSession
from rag_cover.labelling.tables import import_labels

__all__ = [
    "RANDOM_SHARE",
    "AnnotatorAgreement",
    "AnnotatorDisagreement",
    "Draw",
    "Findings",
    "Grade",
    "LabelItem",
    "LabelSampling",
    "LabelSession",
    "compare_annotators",
    "find_disagreements",
    "find_out",
    "import_labels",
    "list_items",
]
