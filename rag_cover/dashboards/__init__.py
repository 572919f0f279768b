"""Several evaluations side by side: metrics over time and by pipeline, what was lost by cause, and the worst questions."""

from rag_cover.dashboards.build import DashboardBuilder, StoreSource
from rag_cover.dashboards.causes import Cause, LostPart, PartEvidence, list_lost_parts
from rag_cover.dashboards.costs import latest_time
from rag_cover.dashboards.remedies import describe_remedies
from rag_cover.dashboards.result import (
    CauseFigures,
    Dashboard,
    PipelineFigures,
    RefusedStore,
    Spread,
    StoreFigures,
    WorstTrace,
)
from rag_cover.dashboards.selection import TraceSelection

__all__ = [
    "Cause",
    "CauseFigures",
    "Dashboard",
    "DashboardBuilder",
    "LostPart",
    "PartEvidence",
    "PipelineFigures",
    "RefusedStore",
    "Spread",
    "StoreFigures",
    "StoreSource",
    "TraceSelection",
    "WorstTrace",
    "describe_remedies",
    "latest_time",
    "list_lost_parts",
]
