"""Test sets from a corpus: questions with the passages and statements that answer them, and some that nothing answers."""

from rag_cover.testsets.documents import load_documents
from rag_cover.testsets.formats import TestsetFormat, write_testset
from rag_cover.testsets.generation import Shares, Testset, TestsetMaker, candidates_by_rules
from rag_cover.testsets.questions import GoldStatement, TestsetQuestion

__all__ = [
    "GoldStatement",
    "Shares",
    "Testset",
    "TestsetFormat",
    "TestsetMaker",
    "TestsetQuestion",
    "candidates_by_rules",
    "load_documents",
    "write_testset",
]
