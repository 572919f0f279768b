"""Questions with implicit set operations, "A or B but not C", answered by set algebra over retrieval (QUEST).

Malaviya et al., "QUEST: A retrieval dataset of entity-seeking queries with implicit set operations" (ACL 2023).
"""

from rag_cover.setqueries.algebra import MOST_ATOMS, SetQuery
from rag_cover.setqueries.answering import MOST_PAIRS, Parser, SetAnswerer, answer
from rag_cover.setqueries.answers import AtomEvidence, Candidate, SetAnswer
from rag_cover.setqueries.calibration import MembershipCalibration
from rag_cover.setqueries.candidates import DEPTH
from rag_cover.setqueries.generated import GeneratedParser
from rag_cover.setqueries.memberships import COMBINATIONS, Combination, contradictory, equivalent, membership
from rag_cover.setqueries.metrics import SetScores, average_scores, mrecall_at_k, recall_at_k, set_scores
from rag_cover.setqueries.parsing import MODIFIERS, Modifiers, ParsedQuery, join_modifiers, parse, regroup, split_modifiers

__all__ = [
    "COMBINATIONS",
    "DEPTH",
    "MODIFIERS",
    "MOST_ATOMS",
    "MOST_PAIRS",
    "AtomEvidence",
    "Candidate",
    "Combination",
    "GeneratedParser",
    "MembershipCalibration",
    "Modifiers",
    "ParsedQuery",
    "Parser",
    "SetAnswer",
    "SetAnswerer",
    "SetQuery",
    "SetScores",
    "answer",
    "average_scores",
    "contradictory",
    "equivalent",
    "join_modifiers",
    "membership",
    "mrecall_at_k",
    "parse",
    "recall_at_k",
    "regroup",
    "set_scores",
    "split_modifiers",
]
