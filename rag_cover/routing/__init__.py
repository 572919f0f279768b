"""Where a question should go: by what retrieval brings back for it, and by what each agent was seen to be able to do."""

from rag_cover.routing.caimira import Caimira
from rag_cover.routing.complexity_adjustment import Adjustment, AdjustmentFit, complexity_evidence, fit_adjustment
from rag_cover.routing.complexity_router import ComplexityRouter, RoutedOutcome, RoutingRule
from rag_cover.routing.decision import ROUTES, Demand
from rag_cover.routing.descriptions import SkillDescription, describe_skills
from rag_cover.routing.features import encode
from rag_cover.routing.fit_pipeline import complexities_without_references, learn_skills
from rag_cover.routing.frontiers import Frontier, PolicyPoint, trace_frontier
from rag_cover.routing.interpretation.clusters import QuestionCluster, cluster_questions
from rag_cover.routing.interpretation.dimensions import Dimension, FeatureEffect, interpret_dimensions
from rag_cover.routing.responses import Responses
from rag_cover.routing.routes import Route
from rag_cover.routing.skill_report import HeldOut, SkillRecord
from rag_cover.routing.skill_router import Probe, SkillModel, SkillRouter
from rag_cover.routing.subjects import Subjects
from rag_cover.routing.thresholds import RoutingThreshold, fit_cut
from rag_cover.routing.training_data import Outcomes, gather_outcomes, trace_subject

__all__ = [
    "ROUTES",
    "Adjustment",
    "AdjustmentFit",
    "Caimira",
    "ComplexityRouter",
    "Demand",
    "Dimension",
    "FeatureEffect",
    "Frontier",
    "HeldOut",
    "Outcomes",
    "PolicyPoint",
    "Probe",
    "QuestionCluster",
    "Responses",
    "Route",
    "RoutedOutcome",
    "RoutingRule",
    "RoutingThreshold",
    "SkillDescription",
    "SkillModel",
    "SkillRecord",
    "SkillRouter",
    "Subjects",
    "cluster_questions",
    "complexities_without_references",
    "complexity_evidence",
    "describe_skills",
    "encode",
    "fit_adjustment",
    "fit_cut",
    "gather_outcomes",
    "interpret_dimensions",
    "learn_skills",
    "trace_frontier",
    "trace_subject",
]
